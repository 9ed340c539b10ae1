// SPDX-License-Identifier: Apache-2.0
// onednn.conv and onednn.conv_transpose.
#include <algorithm>
#include <new>
#include <optional>

#include "runtime/modules/onednn/epilogue.h"
#include "runtime/modules/onednn/kernels.h"

namespace frit::onednn {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;

// A convolution in oneDNN's terms.
struct ConvProblem {
  bool transposed = false;
  Operand x, w, bias;
  memory::dims out, strides, dilations, pads_begin, pads_end;
  std::int64_t groups = 1;
  memory::dims weight_dims;    // [G,] M/G, C/G, kernel…
  memory::desc plain_weights;  // the model's weights under those dims
  bool pointwise = false;      // 1x1 without groups, a plain product
};

// Multiplications for each element read or written above which reordering both pays in a 1x1
// convolution. Measured with AVX2: 256 to 1024 channels (205) gains, 512 to 128 (102) does not. The
// layout also sums all channels in one order, which oneDNN's matrix product does not.
constexpr std::int64_t kReorderWork = 200;

memory::desc any(const memory::dims& dims) {
  return {dims, memory::data_type::f32, memory::format_tag::any};
}

ConvProblem read_problem(std::span<const TensorDesc> in, std::span<const TensorDesc> out,
                         std::span<const kernels::Attr> attrs, bool transposed) {
  if (in.size() < 2 || out.size() != 1) refuse("expected x, weights and one result");
  ConvProblem p;
  p.transposed = transposed;
  p.x = operand_of(in, attrs, 0);
  p.w = operand_of(in, attrs, 1);
  p.bias = operand_of(in, attrs, 2);
  const Operand y = operand_of(out, {}, 0);
  require_f32(p.x, "x");
  require_f32(p.w, "the weights");
  require_f32(y, "the result");
  if (p.bias.present()) require_f32(p.bias, "the bias");
  p.out = y.dims;
  const std::size_t rank = p.x.dims.size();
  if (rank < 3 || rank > 5 || p.w.dims.size() != rank || y.dims.size() != rank)
    refuse("only 1, 2 or 3 spatial axes are covered");
  const std::size_t axes = rank - 2;
  p.groups = int_attr(attrs, "group", 1);
  p.strides = ints_attr(attrs, "strides");
  const memory::dims pads = ints_attr(attrs, "pads"), dilations = ints_attr(attrs, "dilations");
  const std::int64_t inputs = transposed ? p.w.dims[0] : p.w.dims[1] * p.groups;
  const std::int64_t outputs = transposed ? p.w.dims[1] * p.groups : p.w.dims[0];
  if (p.strides.size() != axes || pads.size() != 2 * axes || dilations.size() != axes ||
      p.groups < 1 || inputs != p.x.dims[1] || outputs != p.out[1] || inputs % p.groups != 0 ||
      outputs % p.groups != 0 || p.x.dims[0] != p.out[0])
    refuse("dims and attributes do not fit together");
  if (p.bias.present() && p.bias.dims != memory::dims{outputs})
    refuse("the bias is not [channels]");
  p.weight_dims = {outputs / p.groups, inputs / p.groups};
  p.pointwise = p.groups == 1;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t kernel = p.w.dims[i + 2];
    if (p.strides[i] < 1 || dilations[i] < 1 || pads[i] < 0) refuse("the window is not covered");
    p.dilations.push_back(dilations[i] - 1);
    p.pads_begin.push_back(pads[i]);
    p.weight_dims.push_back(kernel);
    p.pointwise = p.pointwise && kernel == 1;
    // The end pad that makes the sizes work out, which is the attribute's except for leftovers.
    const std::int64_t reach = (kernel - 1) * dilations[i] + 1;
    const std::int64_t from = transposed ? p.out[i + 2] : p.x.dims[i + 2];
    const std::int64_t to = transposed ? p.x.dims[i + 2] : p.out[i + 2];
    p.pads_end.push_back((to - 1) * p.strides[i] + reach - from - pads[i]);
  }
  // Plain weights under oneDNN's dims: transposed ones are stored [C, M/G, …].
  memory::dims strides(p.weight_dims.size(), 1);
  std::int64_t kernel_size = 1;
  for (std::size_t i = strides.size(); i-- > 2;) {
    strides[i] = kernel_size;
    kernel_size *= p.weight_dims[i];
  }
  strides[transposed ? 0 : 1] = kernel_size;
  strides[transposed ? 1 : 0] = kernel_size * (transposed ? p.weight_dims[0] : p.weight_dims[1]);
  if (p.groups > 1) {
    const std::int64_t group = kernel_size * p.weight_dims[0] * p.weight_dims[1];
    p.weight_dims.insert(p.weight_dims.begin(), p.groups);
    strides.insert(strides.begin(), group);
  }
  p.plain_weights = {p.weight_dims, memory::data_type::f32, strides};
  return p;
}

// The two primitives have one interface but different types.
struct Chosen {
  dnnl::primitive primitive;
  memory::desc src, weights, dst, scratchpad;
  std::string implementation;
};

template <class Forward>
Chosen choose(const ConvProblem& p, const memory::desc& src, const memory::desc& dst,
              const dnnl::primitive_attr& attr, algorithm algo) {
  const memory::desc weights = any(p.weight_dims);
  const memory::desc bias = p.bias.present() ? plain(p.bias.dims) : memory::desc();
  const typename Forward::desc desc(prop_kind::forward_inference, algo, src, weights, bias, dst,
                                    p.strides, p.dilations, p.pads_begin, p.pads_end);
  const typename Forward::primitive_desc pd(desc, attr, cpu_engine());
  return {Forward(pd),   pd.src_desc(),        pd.weights_desc(),
          pd.dst_desc(), pd.scratchpad_desc(), pd.impl_info_str()};
}

Chosen choose(const ConvProblem& p, const Epilogue& epilogue) {
  const dnnl::primitive_attr& attr = epilogue.attr;
  const bool binary = !epilogue.arguments.empty();
  const auto with = [&](const memory::desc& src, const memory::desc& dst) {
    return p.transposed ? choose<dnnl::deconvolution_forward>(p, src, dst, attr,
                                                              algorithm::deconvolution_direct)
                        : choose<dnnl::convolution_forward>(p, src, dst, attr,
                                                            algorithm::convolution_direct);
  };
  // Larger windows and groups run far faster in oneDNN's own layout, even with a reorder on each
  // side; a plain product does only if it does enough work on each element that is reordered.
  const bool own_layout =
      !p.pointwise || p.x.dims[1] * p.out[1] >= kReorderWork * (p.x.dims[1] + p.out[1]);
  Chosen chosen =
      own_layout ? with(any(p.x.dims), any(p.out)) : with(plain(p.x.dims), plain(p.out));
  if (chosen.implementation.find("ref") != std::string::npos)
    chosen = own_layout ? with(plain(p.x.dims), plain(p.out)) : with(any(p.x.dims), any(p.out));
  if (chosen.implementation.find("ref") != std::string::npos)
    refuse("oneDNN has only its reference implementation for this");
  // Measured: the matrix-product path applies binary post-ops element by element, up to 50 times
  // slower than a loop of its own afterwards.
  if (binary && chosen.implementation.find("gemm") != std::string::npos)
    refuse("oneDNN's matrix-product path is slow with operands in the epilogue");
  return chosen;
}

template <bool kTransposed>
const char* prepare(void* memory_for_state, PrepareArgs& args) {
  return guarded(args, [&] {
    const ConvProblem p = read_problem(args.in, args.out, args.attrs, kTransposed);
    Epilogue epilogue = make_epilogue(args.in, args.attrs, broadcast_view(p.out));
    const Chosen chosen = choose(p, epilogue);
    auto step = std::make_unique<Step>();
    std::vector<Call> after;
    Call call{chosen.primitive, std::move(epilogue.arguments)};
    call.arguments.push_back(source_argument(*step, DNNL_ARG_SRC, chosen.src, plain(p.x.dims), 0));
    if (p.w.packed_format.empty()) {
      call.arguments.push_back(
          source_argument(*step, DNNL_ARG_WEIGHTS, chosen.weights, p.plain_weights, 1));
    } else {
      require_packed(p.w, chosen.weights);
      call.arguments.push_back({DNNL_ARG_WEIGHTS, chosen.weights, Argument::From::in, 1, 0});
    }
    if (p.bias.present())
      call.arguments.push_back({DNNL_ARG_BIAS, plain(p.bias.dims), Argument::From::in, 2, 0});
    call.arguments.push_back(
        result_argument(*step, DNNL_ARG_DST, chosen.dst, plain(p.out), 0, after));
    add_scratchpad(*step, call, chosen.scratchpad);
    step->add(std::move(call));
    for (Call& reorder : after) step->add(std::move(reorder));
    step->finish();
    args.workspace = step->workspace();
    new (memory_for_state) StepState{step.release()};
  });
}

template <bool kTransposed>
memory::desc packed_desc(const runtime::PackRequest& request, memory::desc& given) {
  const ConvProblem p = read_problem(request.in, request.out, request.attrs, kTransposed);
  given = p.plain_weights;
  return choose(p, make_epilogue(request.in, request.attrs, broadcast_view(p.out))).weights;
}

}  // namespace

const kernels::Kernel conv_kernel{"onednn.conv", sizeof(StepState), prepare<false>, run_step,
                                  destroy_step};
const kernels::Kernel conv_transpose_kernel{"onednn.conv_transpose", sizeof(StepState),
                                            prepare<true>, run_step, destroy_step};

dnnl::memory::desc packed_conv(const runtime::PackRequest& request, memory::desc& given) {
  return packed_desc<false>(request, given);
}
dnnl::memory::desc packed_conv_transpose(const runtime::PackRequest& request, memory::desc& given) {
  return packed_desc<true>(request, given);
}

}  // namespace frit::onednn
