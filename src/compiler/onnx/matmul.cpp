// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

Attrs matmul_attrs(bool trans_a, bool trans_b) {
  return {{"trans_a", std::int64_t{trans_a}}, {"trans_b", std::int64_t{trans_b}}};
}

}  // namespace

void import_matmul(NodeContext& c) {
  c.set(c.emit(ops::matmul, {c.input(0), c.input(1)}, matmul_attrs(false, false)));
}

// y = alpha · op(a) · op(b) + beta · c
void import_gemm(NodeContext& c) {
  Value* a = c.input(0);
  Value* b = c.input(1);
  if (a->rank() != 2 || b->rank() != 2)
    c.invalid("the operands are {} and {}; expected matrices", ir::to_string(a->type),
              ir::to_string(b->type));
  const double alpha = c.real("alpha", 1);
  const double beta = c.real("beta", 1);
  const Attrs attrs = matmul_attrs(c.flag("transA", false), c.flag("transB", false));
  Value* bias = c.optional(2);
  if (bias == nullptr || beta == 0) {
    c.set(c.scale(c.emit(ops::matmul, {a, b}, attrs), alpha));
    return;
  }
  bias = c.scale(bias, beta);
  if (alpha == 1)
    c.set(c.emit(ops::matmul, {a, b, bias}, attrs));
  else
    c.set(c.add(c.scale(c.emit(ops::matmul, {a, b}, attrs), alpha), bias));
}

void import_matmul_integer(NodeContext& c) {
  std::vector<Value*> operands{c.input(0), c.input(1), c.optional(2), c.optional(3)};
  while (operands.back() == nullptr) operands.pop_back();
  c.set(c.emit(ops::matmul_integer, std::move(operands)));
}

void import_qlinear_matmul(NodeContext& c) {
  std::vector<Value*> operands;
  for (int i = 0; i < 8; ++i) operands.push_back(c.input(i));
  c.set(c.emit(ops::qlinear_matmul, std::move(operands)));
}

void import_einsum(NodeContext& c) {
  std::string equation = c.text("equation");
  std::erase(equation, ' ');
  c.set(c.emit(ops::einsum, c.inputs(), {{"equation", std::move(equation)}}));
}

}  // namespace frit::importer
