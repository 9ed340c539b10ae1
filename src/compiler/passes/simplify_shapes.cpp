// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic that inference has worked out disappears: values whose elements are known become
// constants, and ops that took them as operands keep only attributes.
#include <algorithm>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"
#include "compiler/rewrite/rule.h"
#include "kernels/common/scalar.h"

namespace frit::passes {
namespace {

using ir::Emitter;
using ir::Node;
using ir::Value;

// elements(x) = [c0, c1, …]  =>  x = constant
Value* known_elements(Node& node, Emitter& emit) {
  const Value& result = *node.result();
  if (node.is(ops::constant) || node.result_count() != 1 || result.elements == nullptr ||
      !ir::is_static(*result.elements) || !ir::is_static(result.dims()))
    return nullptr;
  ir::Tensor tensor(result.dtype(), ir::static_dims(result.dims()));
  const std::vector<std::int64_t> values = ir::static_dims(*result.elements);
  if (tensor.count() != static_cast<std::int64_t>(values.size())) return nullptr;
  for (std::int64_t i = 0; i < tensor.count(); ++i)
    kernels::store_i64(result.dtype(), tensor.mutable_data(), i,
                       values[static_cast<std::size_t>(i)]);
  return emit.constant(std::move(tensor));
}

// op(x, shape) with the result's dims known  =>  op(x)
Value* drop_shape_operand(Node& node, Emitter&) {
  const Value* shape = node.operand(1);
  if (shape == nullptr || !ir::is_static(node.result()->dims())) return nullptr;
  if (ir::constant_of(shape) == nullptr &&
      (shape->elements == nullptr || !ir::is_static(*shape->elements)))
    return nullptr;
  node.truncate_operands(1);
  node.attrs.erase("allowzero");
  return node.result();
}

// reshape(reshape(x)) => reshape(x);  reshape(x) to x's own dims => x
Value* simplify_reshape(Node& node, Emitter& emit) {
  if (node.operand(1) != nullptr) return nullptr;
  Value* x = node.operand(0);
  if (x->dims() == node.result()->dims()) return x;
  Node* inner = x->producer();
  if (inner == nullptr || !inner->is(ops::reshape) || inner->operand(1) != nullptr) return nullptr;
  return emit.reshape(inner->operand(0), node.result()->dims());
}

// expand(x) to x's own dims => x
Value* simplify_expand(Node& node, Emitter&) {
  return node.operand(1) == nullptr && node.operand(0)->dims() == node.result()->dims()
             ? node.operand(0)
             : nullptr;
}

const rewrite::Rule kRules[] = {
    {"known_elements", nullptr, known_elements},
    {"drop_reshape_operand", &ops::reshape, drop_shape_operand},
    {"drop_expand_operand", &ops::expand, drop_shape_operand},
    {"simplify_reshape", &ops::reshape, simplify_reshape},
    {"simplify_expand", &ops::expand, simplify_expand},
};

bool simplify(ir::Graph& graph, PassContext&) {
  return rewrite::apply_rules(graph, kRules);
}

}  // namespace

const Pass simplify_shapes{"simplify_shapes", "replaces shape arithmetic by the sizes it yields",
                           simplify};

}  // namespace frit::passes
