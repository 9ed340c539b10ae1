// SPDX-License-Identifier: Apache-2.0
// onednn.pool: maximum and average pooling.
#include <new>

#include "runtime/modules/onednn/kernels.h"

namespace frit::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;

struct PoolProblem {
  Operand x, y;
  algorithm algo = algorithm::pooling_max;
  memory::dims kernel, strides, dilations, pads_begin, pads_end;
};

PoolProblem read_problem(const PrepareArgs& args) {
  if (args.in.size() != 1 || args.out.empty()) refuse("expected one operand");
  if (args.out.size() > 1 && args.out[1].present()) refuse("indices are not covered");
  PoolProblem p;
  p.x = operand_of(args.in, {}, 0);
  p.y = operand_of(args.out, {}, 0);
  require_f32(p.x, "x");
  require_f32(p.y, "the result");
  const std::size_t rank = p.x.dims.size();
  if (rank < 3 || rank > 5 || p.y.dims.size() != rank) refuse("1, 2 or 3 spatial axes are covered");
  const kernels::Attr* kind = args.find("kind");
  const std::string_view name = kind != nullptr && kind->s != nullptr ? kind->s : "";
  const bool include = int_attr(args.attrs, "count_include_pad", 0) != 0;
  if (name == "average")
    p.algo =
        include ? algorithm::pooling_avg_include_padding : algorithm::pooling_avg_exclude_padding;
  else if (name != "max")
    refuse("only maximum and average are covered");
  p.kernel = ints_attr(args.attrs, "kernel");
  p.strides = ints_attr(args.attrs, "strides");
  const memory::dims pads = ints_attr(args.attrs, "pads");
  const memory::dims dilations = ints_attr(args.attrs, "dilations");
  const std::size_t axes = rank - 2;
  if (p.kernel.size() != axes || p.strides.size() != axes || pads.size() != 2 * axes ||
      dilations.size() != axes || p.x.dims[0] != p.y.dims[0] || p.x.dims[1] != p.y.dims[1])
    refuse("dims and attributes do not fit together");
  for (std::size_t i = 0; i < axes; ++i) {
    if (p.kernel[i] < 1 || p.strides[i] < 1 || dilations[i] < 1 || pads[i] < 0)
      refuse("the window is not covered");
    const std::int64_t reach = (p.kernel[i] - 1) * dilations[i] + 1;
    const std::int64_t end =
        (p.y.dims[i + 2] - 1) * p.strides[i] + reach - p.x.dims[i + 2] - pads[i];
    // Windows that reach past the declared padding (ceil mode) change what an average divides by.
    if (include && end > pads[i + axes]) refuse("an average over implied padding is not covered");
    if (pads[i] >= reach || end >= reach) refuse("a window of padding alone is not covered");
    p.dilations.push_back(dilations[i] - 1);
    p.pads_begin.push_back(pads[i]);
    p.pads_end.push_back(end);
  }
  return p;
}

using Forward = dnnl::pooling_v2_forward;

Forward::primitive_desc choose(const PoolProblem& p) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto with = [&](const memory::desc& src, const memory::desc& dst) {
    return Forward::primitive_desc(
        Forward::desc(dnnl::prop_kind::forward_inference, p.algo, src, dst, p.strides, p.kernel,
                      p.dilations, p.pads_begin, p.pads_end),
        attr, cpu_engine());
  };
  Forward::primitive_desc pd = with(plain(p.x.dims), plain(p.y.dims));
  if (std::string(pd.impl_info_str()).find("jit") != std::string::npos) return pd;
  // Channels last is what the generated code of every instruction set takes.
  using Tag = memory::format_tag;
  const Tag tags[] = {Tag::nwc, Tag::nhwc, Tag::ndhwc};
  const Tag tag = tags[p.x.dims.size() - 3];
  pd = with({p.x.dims, memory::data_type::f32, tag}, {p.y.dims, memory::data_type::f32, tag});
  if (std::string(pd.impl_info_str()).find("ref") != std::string::npos)
    refuse("oneDNN has only its reference implementation for this");
  return pd;
}

const char* prepare(void* memory_for_state, PrepareArgs& args) {
  return guarded(args, [&] {
    const PoolProblem p = read_problem(args);
    const Forward::primitive_desc pd = choose(p);
    auto step = std::make_unique<Step>();
    std::vector<Call> after;
    Call call{Forward(pd), {}};
    call.arguments.push_back(
        source_argument(*step, DNNL_ARG_SRC, pd.src_desc(), plain(p.x.dims), 0));
    call.arguments.push_back(
        result_argument(*step, DNNL_ARG_DST, pd.dst_desc(), plain(p.y.dims), 0, after));
    add_scratchpad(*step, call, pd.scratchpad_desc());
    step->add(std::move(call));
    for (Call& reorder : after) step->add(std::move(reorder));
    step->finish();
    args.workspace = step->workspace();
    new (memory_for_state) StepState{step.release()};
  });
}

}  // namespace

const kernels::Kernel pool_kernel{"onednn.pool", sizeof(StepState), prepare, run_step,
                                  destroy_step};

}  // namespace frit::onednn
