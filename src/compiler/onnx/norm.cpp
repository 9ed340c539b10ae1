// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

constexpr float kEpsilon = 1e-5F;

double epsilon(const NodeContext& c) {
  return c.real("epsilon", kEpsilon);
}

// A vector of channels with the dims that broadcast it over x.
Value* per_channel(NodeContext& c, Value* vector, Value* x) {
  Shape dims(static_cast<std::size_t>(x->rank()), Dim(1));
  if (dims.size() > 1) dims[1] = vector->dims().empty() ? Dim(1) : vector->dims()[0];
  return c.reshape(vector, std::move(dims));
}

// Normalizes with the batch's own statistics and blends them into the running ones.
void batch_norm_training(NodeContext& c) {
  Value* x = c.input(0);
  if (x->rank() < 2) c.unsupported("training mode needs an operand of rank 2 or more");
  Ints axes{0};
  for (std::int64_t i = 2; i < x->rank(); ++i) axes.push_back(i);
  const double momentum = c.real("momentum", 0.9F);
  Value* mean = c.reduce("mean", x, axes, true);
  Value* centered = c.sub(x, mean);
  Value* variance = c.reduce("mean", c.mul(centered, centered), axes, true);
  Value* inverse = c.emit(ops::rsqrt, {c.add(variance, c.scalar(variance->dtype(), epsilon(c)))});
  Value* y = c.mul(c.mul(centered, inverse), per_channel(c, c.input(1), x));
  c.set(0, c.add(y, per_channel(c, c.input(2), x)));
  const auto blend = [&](int output, int running, Value* current) {
    if (!c.wants(output)) return;
    Value* old = c.input(running);
    Value* now = c.cast(c.reshape(current, old->dims()), old->dtype());
    c.set(output, c.add(c.scale(old, momentum), c.scale(now, 1 - momentum)));
  };
  blend(1, 3, mean);
  blend(2, 4, variance);
}

}  // namespace

void import_batch_norm(NodeContext& c) {
  if (c.opset() < 9 && !c.flag("spatial", true))
    c.unsupported("statistics for every element (spatial = 0) are not covered");
  if (c.opset() >= 14 && c.flag("training_mode", false)) return batch_norm_training(c);
  for (int i = 1; i < c.output_count(); ++i)
    if (c.wants(i)) c.unsupported("it updates statistics, as in training; export it for inference");
  c.set(c.emit(ops::batch_norm, {c.input(0), c.input(1), c.input(2), c.input(3), c.input(4)},
               {{"epsilon", epsilon(c)}}));
}

void import_instance_norm(NodeContext& c) {
  Value* x = c.input(0);
  if (x->rank() < 2) c.invalid("the operand has rank {}; expected 2 or more", x->rank());
  c.set(c.emit(
      ops::group_norm, {x, c.input(1), c.input(2)},
      {{"groups", c.number(x->dims()[1], "the number of channels")}, {"epsilon", epsilon(c)}}));
}

void import_group_norm(NodeContext& c) {
  Value* x = c.input(0);
  if (x->rank() < 2) c.invalid("the operand has rank {}; expected 2 or more", x->rank());
  const std::int64_t groups = c.integer("num_groups");
  const std::int64_t channels = c.number(x->dims()[1], "the number of channels");
  if (groups <= 0 || channels % groups != 0)
    c.invalid("num_groups is {}, which does not divide {} channels", groups, channels);
  const auto channel_vector = [&](Value* v) {
    if (c.opset() >= 21) return v;
    // Before opset 21 there is one number for each group.
    const Dim each(channels / groups);
    return c.reshape(c.expand(c.reshape(v, {groups, 1}), {groups, each}), {channels});
  };
  c.set(c.emit(ops::group_norm, {x, channel_vector(c.input(1)), channel_vector(c.input(2))},
               {{"groups", groups}, {"epsilon", epsilon(c)}}));
}

void import_layer_norm(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", -1), x->rank());
  Attrs attrs{{"axis", axis}, {"epsilon", epsilon(c)}};
  std::vector<Value*> operands{x, c.input(1)};
  if (Value* bias = c.optional(2)) operands.push_back(bias);
  const bool statistics = c.wants(1) || c.wants(2);
  if (!statistics) {
    c.set(c.emit(ops::layer_norm, std::move(operands), std::move(attrs)));
    return;
  }
  ir::Node* node = c.emit_node(ops::layer_norm, std::move(operands), std::move(attrs), 3);
  for (int i = 0; i < 3; ++i) c.set(i, node->result(i));
}

void import_rms_norm(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", -1), x->rank());
  c.set(c.emit(ops::rms_norm, {x, c.input(1)}, {{"axis", axis}, {"epsilon", epsilon(c)}}));
}

void import_lrn(NodeContext& c) {
  c.set(c.emit(ops::lrn, {c.input(0)},
               {{"alpha", c.real("alpha", 0.0001F)},
                {"beta", c.real("beta", 0.75)},
                {"bias", c.real("bias", 1)},
                {"size", c.integer("size")}}));
}

void import_lp_norm(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", -1), x->rank());
  const std::int64_t p = c.integer("p", 2);
  if (p != 1 && p != 2) c.invalid("the attribute \"p\" is {}; expected 1 or 2", p);
  c.set(c.emit(ops::lp_norm, {x}, {{"axis", axis}, {"p", p}}));
}

void import_mvn(NodeContext& c) {
  Value* x = c.input(0);
  const Ints axes = c.has_attr("axes") ? c.ints("axes") : Ints{0, 2, 3};
  c.set(c.emit(ops::mvn, {x}, {{"axes", c.axes(axes, x->rank())}}));
}

}  // namespace frit::importer
