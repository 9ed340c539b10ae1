// SPDX-License-Identifier: Apache-2.0
// onednn.matmul: NumPy-style products with bias and epilogue.
#include <algorithm>
#include <new>

#include "runtime/modules/onednn/epilogue.h"
#include "runtime/modules/onednn/kernels.h"

namespace frit::onednn {
namespace {

using dnnl::memory;

// A product in oneDNN's terms: all three at one rank.
struct MatmulProblem {
  Operand a, b, bias;
  memory::desc a_desc, b_desc, dst;
  memory::dims dst_dims;
  bool collapsed = false;  // batch of a and rows merged: [M, K] x [K, N]
  View view;               // of bias and extra operands
};

memory::desc strided(const memory::dims& dims, bool transposed) {
  // `dims` are those of the operand after transposition; memory holds them swapped.
  memory::dims stored = dims;
  const std::size_t n = dims.size();
  if (transposed) std::swap(stored[n - 1], stored[n - 2]);
  memory::dims strides(n, 1);
  for (std::size_t i = n; i-- > 1;) strides[i - 1] = strides[i] * stored[i];
  if (transposed) std::swap(strides[n - 1], strides[n - 2]);
  return {dims, memory::data_type::f32, strides};
}

View collapsed_view(std::int64_t rows, std::int64_t columns) {
  return [=](const memory::dims& dims) -> memory::dims {
    std::int64_t count = 1;
    for (std::int64_t d : dims) count *= d;
    if (count == rows * columns && (dims.empty() || dims.back() == columns)) return {rows, columns};
    if (count == 1) return {1, 1};
    if (!dims.empty() && dims.back() == columns && count == columns) return {1, columns};
    refuse("an operand broadcasts over the merged batch");
  };
}

MatmulProblem read_problem(std::span<const TensorDesc> in, std::span<const TensorDesc> out,
                           std::span<const kernels::Attr> attrs, bool collapse) {
  if (in.size() < 2 || out.size() != 1) refuse("expected a, b and one result");
  MatmulProblem p;
  p.a = operand_of(in, attrs, 0);
  p.b = operand_of(in, attrs, 1);
  p.bias = operand_of(in, attrs, 2);
  const Operand y = operand_of(out, {}, 0);
  require_f32(p.a, "a");
  require_f32(p.b, "b");
  require_f32(y, "the result");
  if (p.bias.present()) require_f32(p.bias, "the bias");
  memory::dims a = p.a.dims, b = p.b.dims;
  if (a.empty() || b.empty()) refuse("scalars have no product");
  const bool trans_a = int_attr(attrs, "trans_a", 0) != 0 && a.size() > 1;
  const bool trans_b = int_attr(attrs, "trans_b", 0) != 0 && b.size() > 1;
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  if (trans_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (trans_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const std::int64_t k = a.back(), columns = b.back();
  if (b[b.size() - 2] != k) refuse("the inner dims differ");
  p.collapsed = collapse && b.size() == 2 && !trans_a;
  if (p.collapsed) {
    std::int64_t rows = 1;
    for (std::size_t i = 0; i + 1 < a.size(); ++i) rows *= a[i];
    a = {rows, k};
    p.view = collapsed_view(rows, columns);
  }
  const std::size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) refuse("the batch dims do not broadcast");
    p.dst_dims.push_back(std::max(a[i], b[i]));
  }
  p.dst_dims.push_back(a[rank - 2]);
  p.dst_dims.push_back(columns);
  std::int64_t made = 1, expected = 1;
  for (std::int64_t d : p.dst_dims) made *= d;
  for (std::int64_t d : y.dims) expected *= d;
  if (made != expected) refuse("the result has other dims than the product");
  if (rank > 6) refuse("more than 6 dims are not covered");
  p.a_desc = strided(a, trans_a);
  p.b_desc = strided(b, trans_b);
  p.dst = plain(p.dst_dims);
  if (!p.collapsed) {
    // 1-D operands put a dim into the product that the result does not have.
    if (y.dims == p.dst_dims)
      p.view = broadcast_view(p.dst_dims);
    else
      p.view = [dims = p.dst_dims](const memory::dims& d) -> memory::dims {
        if (!d.empty()) refuse("an operand beside a product of vectors is not covered");
        return memory::dims(dims.size(), 1);
      };
  }
  return p;
}

// A bias that the primitive takes itself: one row.
bool is_row(const MatmulProblem& p) {
  if (!p.bias.present() || p.bias.dims.empty()) return false;
  for (std::size_t i = 0; i + 1 < p.bias.dims.size(); ++i)
    if (p.bias.dims[i] != 1) return false;
  return p.bias.dims.back() == p.dst_dims.back();
}

struct Chosen {
  MatmulProblem problem;
  Epilogue epilogue;
  memory::desc bias;
  dnnl::matmul::primitive_desc pd;
};

Chosen choose_as(std::span<const TensorDesc> in, std::span<const TensorDesc> out,
                 std::span<const kernels::Attr> attrs, bool collapse) {
  Chosen c{.problem = read_problem(in, out, attrs, collapse), .epilogue = {}, .bias = {}, .pd = {}};
  const MatmulProblem& p = c.problem;
  const bool row = is_row(p);
  if (row) {
    memory::dims dims(p.dst_dims.size(), 1);
    dims.back() = p.dst_dims.back();
    c.bias = plain(dims);
  }
  c.epilogue = make_epilogue(in, attrs, p.view, p.bias.present() && !row ? 2 : -1);
  // Constant weights may take any layout; they are packed at build time.
  const bool pack = in[1].constant != nullptr || !p.b.packed_format.empty();
  const memory::desc weights =
      pack ? memory::desc(p.b_desc.dims(), memory::data_type::f32, memory::format_tag::any)
           : p.b_desc;
  const dnnl::matmul::desc desc = row ? dnnl::matmul::desc(p.a_desc, weights, c.bias, p.dst)
                                      : dnnl::matmul::desc(p.a_desc, weights, p.dst);
  c.pd = dnnl::matmul::primitive_desc(desc, c.epilogue.attr, cpu_engine());
  if (std::string(c.pd.impl_info_str()).find("ref") != std::string::npos)
    refuse("oneDNN has only its reference implementation for this");
  return c;
}

Chosen choose(std::span<const TensorDesc> in, std::span<const TensorDesc> out,
              std::span<const kernels::Attr> attrs) {
  try {
    return choose_as(in, out, attrs, true);
  } catch (const Refusal&) {
    return choose_as(in, out, attrs, false);
  }
}

const char* prepare(void* memory_for_state, PrepareArgs& args) {
  return guarded(args, [&] {
    Chosen c = choose(args.in, args.out, args.attrs);
    auto step = std::make_unique<Step>();
    Call call{dnnl::matmul(c.pd), std::move(c.epilogue.arguments)};
    call.arguments.push_back({DNNL_ARG_SRC, c.problem.a_desc, Argument::From::in, 0, 0});
    if (c.problem.b.packed_format.empty()) {
      call.arguments.push_back(
          source_argument(*step, DNNL_ARG_WEIGHTS, c.pd.weights_desc(), c.problem.b_desc, 1));
    } else {
      require_packed(c.problem.b, c.pd.weights_desc());
      call.arguments.push_back({DNNL_ARG_WEIGHTS, c.pd.weights_desc(), Argument::From::in, 1, 0});
    }
    if (is_row(c.problem))
      call.arguments.push_back({DNNL_ARG_BIAS, c.bias, Argument::From::in, 2, 0});
    call.arguments.push_back({DNNL_ARG_DST, c.problem.dst, Argument::From::out, 0, 0});
    add_scratchpad(*step, call, c.pd.scratchpad_desc());
    step->add(std::move(call));
    step->finish();
    args.workspace = step->workspace();
    new (memory_for_state) StepState{step.release()};
  });
}

}  // namespace

const kernels::Kernel matmul_kernel{"onednn.matmul", sizeof(StepState), prepare, run_step,
                                    destroy_step};

memory::desc packed_matmul(const runtime::PackRequest& request, memory::desc& given) {
  const Chosen c = choose(request.in, request.out, request.attrs);
  given = c.problem.b_desc;
  return c.pd.weights_desc();
}

}  // namespace frit::onednn
