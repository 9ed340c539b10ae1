// SPDX-License-Identifier: Apache-2.0
// Scales and shifts after a convolution or matrix product move into its weights and bias.
#include <algorithm>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"
#include "compiler/rewrite/rule.h"

namespace frit::passes {
namespace {

using ir::Emitter;
using ir::Node;
using ir::Value;

// A convolution or product whose only reader is the node being rewritten, without epilogue.
Node* foldable_producer(Value* value) {
  Node* node = value->producer();
  if (node == nullptr || !value->has_one_use() || node->subgraph_count() > 0) return nullptr;
  const bool known = node->is(ops::conv) || node->is(ops::conv_transpose) || node->is(ops::matmul);
  return known && is_float(value->dtype()) ? node : nullptr;
}

// Axis of the result that weights and bias run along: channels, or columns.
int channel_axis(const Node& node) {
  return node.is(ops::matmul) ? node.result()->rank() - 1 : 1;
}

// `c` as one number per channel [C], or one number for all [1]; null if it varies along other axes
// or makes the result larger.
Value* per_channel(const Node& producer, Value* c, Emitter& emit) {
  if (ir::constant_of(c) == nullptr || c->dtype() != producer.result()->dtype()) return nullptr;
  const ir::Shape& out = producer.result()->dims();
  const int offset = static_cast<int>(out.size()) - c->rank(), axis = channel_axis(producer);
  if (offset < 0 || axis < 0) return nullptr;
  ir::Dim length = 1;
  for (int i = 0; i < c->rank(); ++i) {
    const ir::Dim& d = c->dims()[static_cast<std::size_t>(i)];
    if (d == ir::Dim(1)) continue;
    if (i + offset != axis || !(d == out[static_cast<std::size_t>(axis)])) return nullptr;
    length = d;
  }
  return emit.reshape(c, {length});
}

// Puts `first` in front of the other origins, each name once.
void lead_with(std::vector<std::string> first, std::vector<std::string>& origin) {
  for (std::string& name : origin)
    if (std::ranges::find(first, name) == first.end()) first.push_back(std::move(name));
  origin = std::move(first);
}

// Dims that let a per-channel vector scale the weights.
ir::Shape weight_dims(const Node& node, const ir::Dim& length) {
  const Value& w = *node.operand(1);
  ir::Shape dims(static_cast<std::size_t>(w.rank()), ir::Dim(1));
  if (length == ir::Dim(1)) return dims;
  if (node.is(ops::conv)) dims[0] = length;
  if (node.is(ops::conv_transpose)) dims[1] = length;
  if (node.is(ops::matmul)) dims[dims.size() - (node.attrs.i("trans_b") != 0 ? 2 : 1)] = length;
  return dims;
}

// op(x, w, b) * c => op(x, w*c, b*c)
Value* fold_scale(Node& node, Emitter& emit) {
  Node* producer = foldable_producer(node.operand(0));
  if (producer == nullptr || producer->operand(1)->rank() < 2 ||
      ir::constant_of(producer->operand(1)) == nullptr)
    return nullptr;
  // Groups of a transposed convolution share the weights' second axis.
  if (producer->is(ops::conv_transpose) && producer->attrs.i("group") != 1) return nullptr;
  Value* bias = producer->operand(2);
  if (bias != nullptr && (ir::constant_of(bias) == nullptr || bias->rank() > 1)) return nullptr;
  Value* c = per_channel(*producer, node.operand(1), emit);
  if (c == nullptr) return nullptr;
  Value* scale = emit.reshape(c, weight_dims(*producer, c->dims()[0]));
  Value* weights = emit.emit(ops::mul, {producer->operand(1), scale});
  std::vector<Value*> operands{producer->operand(0), weights};
  if (bias != nullptr) operands.push_back(emit.emit(ops::mul, {bias, c}));
  lead_with(producer->origin, emit.origin);
  return emit.emit(producer->schema(), operands, producer->attrs);
}

// op(x, w, b) + c => op(x, w, b + c)
// Weights and bias need not be constant: after fold_scale they are products yet to be folded.
Value* fold_shift(Node& node, Emitter& emit) {
  Node* producer = foldable_producer(node.operand(0));
  if (producer == nullptr) return nullptr;
  Value* bias = producer->operand(2);
  if (bias != nullptr && bias->rank() != 1) return nullptr;
  Value* c = per_channel(*producer, node.operand(1), emit);
  if (c == nullptr) return nullptr;
  const ir::Dim& channels =
      producer->result()->dims()[static_cast<std::size_t>(channel_axis(*producer))];
  if (!channels.is_const()) return nullptr;
  if (bias != nullptr) c = emit.emit(ops::add, {bias, c});
  if (!(c->dims()[0] == channels))
    c = emit.emit(ops::add, {c, emit.constant(ir::Tensor(c->dtype(), {channels.value()}))});
  lead_with(producer->origin, emit.origin);
  return emit.emit(producer->schema(), {producer->operand(0), producer->operand(1), c},
                   producer->attrs);
}

const rewrite::Rule kRules[] = {
    {"fold_scale", &ops::mul, fold_scale},
    {"fold_shift", &ops::add, fold_shift},
};

bool fold(ir::Graph& graph, PassContext&) {
  return rewrite::apply_rules(graph, kRules);
}

}  // namespace

const Pass fold_affine{"fold_affine", "moves scales and shifts into weights and bias", fold};

}  // namespace frit::passes
