// SPDX-License-Identifier: Apache-2.0
// Classification losses, as their forward formulas.
#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

Ints every_axis(const Value* x) {
  Ints axes;
  for (std::int64_t i = 0; i < x->rank(); ++i) axes.push_back(i);
  return axes;
}

// loss = -log_prob[n, target, …] · weight[target], zero where the target is ignored; then reduced.
Value* likelihood_loss(NodeContext& c, Value* log_prob, Value* target, Value* weight) {
  const std::string reduction = c.choice("reduction", "mean", {"none", "mean", "sum"});
  if (log_prob->rank() < 2 || target->rank() != log_prob->rank() - 1)
    c.invalid("the scores have the type {} and the labels {}; expected one rank more",
              ir::to_string(log_prob->type), ir::to_string(target->type));
  Value* ignored = nullptr;
  Value* label = target;
  if (c.has_attr("ignore_index")) {
    const auto index = static_cast<double>(c.integer("ignore_index"));
    ignored = c.emit(ops::equal, {target, c.scalar(target->dtype(), index)});
    // Ignored labels may lie outside the classes; any class will do for them.
    label = c.emit(ops::where, {ignored, c.scalar(target->dtype(), 0), target});
  }
  Shape column = target->dims();
  column.insert(column.begin() + 1, Dim(1));
  Value* picked = c.emit(ops::gather_elements, {log_prob, c.reshape(label, std::move(column))},
                         {{"axis", std::int64_t{1}}});
  Value* loss = c.emit(ops::neg, {c.reshape(picked, target->dims())});
  Value* factor = nullptr;
  if (weight != nullptr) factor = c.emit(ops::gather, {weight, label}, {{"axis", std::int64_t{0}}});
  if (ignored != nullptr) {
    const DType type = loss->dtype();
    Value* counted = factor != nullptr ? factor : c.scalar(type, 1);
    factor = c.emit(ops::where, {ignored, c.scalar(type, 0), counted});
  }
  if (factor != nullptr) loss = c.mul(loss, factor);
  if (reduction == "none") return loss;
  const bool mean = reduction == "mean";
  if (!mean || factor != nullptr) {
    Value* sum = c.reduce("sum", loss, every_axis(loss), false);
    if (!mean) return sum;
    return c.emit(ops::div, {sum, c.reduce("sum", factor, every_axis(factor), false)});
  }
  return c.reduce("mean", loss, every_axis(loss), false);
}

}  // namespace

void import_likelihood_loss(NodeContext& c) {
  c.set(likelihood_loss(c, c.input(0), c.input(1), c.optional(2)));
}

void import_cross_entropy_loss(NodeContext& c) {
  Value* log_prob =
      c.emit(ops::softmax, {c.input(0)}, {{"axis", std::int64_t{1}}, {"log", std::int64_t{1}}});
  c.set(0, likelihood_loss(c, log_prob, c.input(1), c.optional(2)));
  c.set(1, log_prob);
}

}  // namespace frit::importer
