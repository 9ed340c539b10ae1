// SPDX-License-Identifier: Apache-2.0
// Matrix products with NumPy's batching and 1-D rules.
#include <algorithm>

#include "base/dtypes.h"
#include "compiler/ops/subgraph.h"

namespace frit::ir {
namespace {

// Dims of a · b after the optional swaps of the last two axes.
Shape product_dims(const Inference& in, int ai, int bi, bool trans_a, bool trans_b) {
  Shape a = in.dims(ai), b = in.dims(bi);
  if (a.empty() || b.empty())
    in.refuse("operands must have rank 1 or more, found {} and {}", to_string(a), to_string(b));
  if ((trans_a && a.size() < 2) || (trans_b && b.size() < 2))
    in.refuse("a vector cannot be transposed, found {} and {}", to_string(a), to_string(b));
  if (trans_a) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (trans_b) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const Dim m = a[a.size() - 2], n = b[b.size() - 1];
  if (a.back().never_equals(b[b.size() - 2]))
    in.refuse("the inner sizes of {}{} and {}{} differ: {} and {}", to_string(in.dims(ai)),
              trans_a ? " (transposed)" : "", to_string(in.dims(bi)),
              trans_b ? " (transposed)" : "", a.back().to_string(), b[b.size() - 2].to_string());
  Shape dims = in.broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!row) dims.push_back(m);
  if (!column) dims.push_back(n);
  return dims;
}

void infer_matmul(Inference& in) {
  in.expect_numeric(0);
  if (in.dtype(1) != in.dtype(0))
    in.refuse("both operands must have one type, found {} and {}", dtype_name(in.dtype(0)),
              dtype_name(in.dtype(1)));
  Shape dims =
      product_dims(in, 0, 1, in.integer("trans_a", 0, 1) != 0, in.integer("trans_b", 0, 1) != 0);
  if (in.has(2)) {
    in.expect_dtype(2, in.dtype(0));
    const Shape& bias = in.dims(2);
    const Shape both = in.broadcast(dims, bias);
    bool fits = both.size() == dims.size();
    for (std::size_t i = 0; fits && i < dims.size(); ++i) fits = !both[i].never_equals(dims[i]);
    if (!fits)
      in.refuse("the bias {} does not broadcast to the result's dims {}", to_string(bias),
                to_string(dims));
  }
  TensorType result = infer_epilogue(in, {in.dtype(0), std::move(dims)}, 3);
  in.set(0, result.dtype, std::move(result.dims));
}

void expect_byte(const Inference& in, int i) {
  if (in.dtype(i) != DType::u8 && in.dtype(i) != DType::i8)
    in.refuse("operand {} must be u8 or i8, found {}", i, dtype_name(in.dtype(i)));
}

// Scales and zero points: one value, one per row or column, or dims that broadcast to the operand.
void check_parameter(const Inference& in, int i, int of, bool per_row) {
  const Shape &p = in.dims(i), &x = in.dims(of);
  if (p.empty()) return;
  if (p.size() == 1) {
    if (p[0] == Dim(1)) return;
    const Dim& size = per_row && x.size() > 1 ? x[x.size() - 2] : x.back();
    in.unify(p[0], size, fmt::format("operand {} and the rows or columns it is for", i));
    return;
  }
  if (p.size() > x.size())
    in.refuse("operand {} must broadcast to {}, found {}", i, to_string(x), to_string(p));
  in.broadcast(x, p);
}

void infer_matmul_integer(Inference& in) {
  expect_byte(in, 0);
  expect_byte(in, 1);
  Shape dims = product_dims(in, 0, 1, false, false);
  for (int i : {2, 3}) {
    if (!in.has(i)) continue;
    in.expect_dtype(i, in.dtype(i - 2));
    check_parameter(in, i, i - 2, i == 2);
  }
  in.set(0, DType::i32, std::move(dims));
}

void infer_qlinear_matmul(Inference& in) {
  // a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero
  for (int i : {0, 2, 3, 5, 7})
    if (is_float(in.dtype(i)) && dtype_bits(in.dtype(i)) == 8)
      throw Error(Code::unsupported, "qlinear_matmul: float8 operands are not covered");
  for (int i : {0, 3, 7}) expect_byte(in, i);
  in.expect_dtype(2, in.dtype(0));
  in.expect_dtype(5, in.dtype(3));
  for (int i : {1, 4, 6}) in.expect_float(i);
  for (int i : {1, 2}) check_parameter(in, i, 0, true);
  for (int i : {4, 5}) check_parameter(in, i, 3, false);
  Shape dims = product_dims(in, 0, 3, false, false);
  in.set(0, in.dtype(7), std::move(dims));
}

constexpr AttrDef kMatmulAttrs[] = {{"trans_a", AttrKind::integer}, {"trans_b", AttrKind::integer}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema matmul = {.name = "matmul",
                                 .min_operands = 2,
                                 .max_operands = -1,
                                 .traits = kEpilogue,
                                 .attrs = kMatmulAttrs,
                                 .max_subgraphs = 1,
                                 .infer = infer_matmul};
constinit const Schema matmul_integer = {
    .name = "matmul_integer", .min_operands = 2, .max_operands = 4, .infer = infer_matmul_integer};
constinit const Schema qlinear_matmul = {
    .name = "qlinear_matmul", .min_operands = 8, .max_operands = 8, .infer = infer_qlinear_matmul};

}  // namespace frit::ops
