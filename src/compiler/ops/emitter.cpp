// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "compiler/ops/infer.h"

namespace frit::ir {

Node* Emitter::finish(Node* node) {
  node->origin = origin;
  try {
    infer_types(*node);
  } catch (...) {
    graph_.erase(node);
    throw;
  }
  return node;
}

Value* Emitter::emit(const Schema& schema, std::vector<Value*> operands, Attrs attrs) {
  return emit_node(schema, std::move(operands), std::move(attrs), 1)->result();
}

Value* Emitter::emit_as(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                        TensorType type) {
  return emit_node_as(schema, std::move(operands), std::move(attrs), {std::move(type)})->result();
}

Node* Emitter::emit_node(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                         int results) {
  return finish(graph_.add(schema, operands, std::move(attrs), results, before_));
}

Node* Emitter::emit_node_as(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                            std::vector<TensorType> types) {
  const int results = static_cast<int>(types.size());
  Node* node = graph_.add(schema, operands, std::move(attrs), results, before_);
  for (int r = 0; r < results; ++r)
    node->result(r)->type = std::move(types[static_cast<std::size_t>(r)]);
  return finish(node);
}

Value* Emitter::constant(Tensor tensor) {
  return emit(ops::constant, {}, {{"value", std::move(tensor)}});
}

Value* Emitter::constant_i64(const std::vector<std::int64_t>& values) {
  return constant(Tensor::from_i64(values));
}

Value* Emitter::constant_scalar(DType dtype, double value) {
  return constant(Tensor::scalar(dtype, value));
}

Value* Emitter::reshape(Value* x, Shape dims) {
  if (x->dims() == dims) return x;
  return emit_as(ops::reshape, {x}, {}, {x->dtype(), std::move(dims)});
}

Value* Emitter::expand(Value* x, Shape dims) {
  if (x->dims() == dims) return x;
  return emit_as(ops::expand, {x}, {}, {x->dtype(), std::move(dims)});
}

Value* Emitter::slice(Value* x, Ints starts, Ints steps, Shape dims) {
  const bool whole = x->dims() == dims &&
                     std::ranges::all_of(starts, [](auto s) { return s == 0; }) &&
                     std::ranges::all_of(steps, [](auto s) { return s == 1; });
  if (whole) return x;
  return emit_as(ops::slice, {x}, {{"starts", std::move(starts)}, {"steps", std::move(steps)}},
                 {x->dtype(), std::move(dims)});
}

std::vector<Value*> Emitter::split(Value* x, int axis, const Shape& sizes) {
  std::vector<TensorType> types;
  for (const Dim& size : sizes) {
    types.push_back(x->type);
    if (axis >= 0 && axis < x->rank()) types.back().dims[static_cast<std::size_t>(axis)] = size;
  }
  Node* node = emit_node_as(ops::split, {x}, {{"axis", std::int64_t{axis}}}, std::move(types));
  std::vector<Value*> parts;
  for (int r = 0; r < node->result_count(); ++r) parts.push_back(node->result(r));
  return parts;
}

Value* Emitter::transpose(Value* x, Ints perm) {
  Ints identity(perm.size());
  std::iota(identity.begin(), identity.end(), std::int64_t{0});
  if (perm == identity && x->rank() == static_cast<int>(perm.size())) return x;
  return emit(ops::transpose, {x}, {{"perm", std::move(perm)}});
}

Value* Emitter::cast(Value* x, DType to) {
  if (x->dtype() == to) return x;
  return emit(ops::cast, {x}, {{"to", static_cast<std::int64_t>(to)}});
}

}  // namespace frit::ir
