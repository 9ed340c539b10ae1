// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/context.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "compiler/ir/evaluate.h"

namespace frit::importer {
namespace {

// Most elements of a constant that is computed while importing: shape arithmetic, not weights.
constexpr std::int64_t kFoldElements = 4096;

bool is_const(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_const(); });
}

bool is_small_constant(const Value* value) {
  const Tensor* tensor = ir::constant_of(value);
  return tensor != nullptr && tensor->count() <= kFoldElements;
}

bool can_fold(const ir::Node& node, const Value& result) {
  if (node.result_count() != 1 || node.subgraph_count() != 0) return false;
  if (!result.type.known() || !ir::is_static(result.dims())) return false;
  std::int64_t count = 1;
  for (const Dim& d : result.dims())
    if (__builtin_mul_overflow(count, d.value(), &count)) return false;
  if (count > kFoldElements) return false;
  for (Value* operand : node.operands())
    if (operand != nullptr && !is_small_constant(operand)) return false;
  return true;
}

Tensor elements_tensor(const Value& value) {
  Ints numbers;
  for (const Dim& d : *value.elements) numbers.push_back(d.value());
  Tensor tensor(value.dtype(), value.rank() == 0
                                   ? std::vector<std::int64_t>{}
                                   : std::vector{static_cast<std::int64_t>(numbers.size())});
  if (value.dtype() == DType::i64) {
    if (!numbers.empty()) std::memcpy(tensor.mutable_data(), numbers.data(), tensor.bytes());
    return tensor;
  }
  auto* out = static_cast<std::int32_t*>(tensor.mutable_data());
  for (std::int64_t n : numbers) *out++ = static_cast<std::int32_t>(n);
  return tensor;
}

}  // namespace

NodeContext::NodeContext(Translation& translation, const pb::NodeProto& node, Scope& scope,
                         const Frame& frame, std::int64_t opset, std::string label)
    : translation_(translation),
      node_(node),
      scope_(scope),
      frame_(frame),
      opset_(opset),
      label_(std::move(label)),
      emitter_(translation.graph()) {
  emitter_.origin = {label_};
}

bool NodeContext::has(int i) const {
  return i < node_.input_size() && !node_.input(i).empty() && !scope_.is_absent(node_.input(i));
}

Value* NodeContext::optional(int i) {
  if (!has(i)) return nullptr;
  const std::optional<Value*> found = scope_.find(node_.input(i));
  if (!found || *found == nullptr) invalid("the operand \"{}\" is not defined", node_.input(i));
  return *found;
}

Value* NodeContext::input(int i) {
  if (!has(i)) invalid("operand {} is missing; {} requires it", i, op());
  return optional(i);
}

std::vector<Value*> NodeContext::inputs() {
  std::vector<Value*> values;
  for (int i = 0; i < input_count(); ++i) values.push_back(input(i));
  if (values.empty()) invalid("{} needs at least one operand, found none", op());
  return values;
}

std::vector<Value*> NodeContext::operands(int count) {
  std::vector<Value*> values;
  for (int i = 0; i < count; ++i) values.push_back(optional(i));
  return values;
}

Value* NodeContext::folded(Value* result) {
  ir::Node* node = result->producer();
  if (node == nullptr || node->is(ops::constant)) return result;
  const DType type = result->dtype();
  Tensor tensor;
  if (result->elements && is_const(*result->elements) && result->rank() <= 1 &&
      (type == DType::i64 || type == DType::i32)) {
    tensor = elements_tensor(*result);
  } else if (can_fold(*node, *result)) {
    std::vector<Tensor> contents;
    for (Value* operand : node->operands())
      contents.push_back(operand != nullptr ? *ir::constant_of(operand) : Tensor());
    try {
      tensor = ir::evaluate(*node, contents).front();
    } catch (const Error&) {
      return result;  // what cannot be computed here stays in the graph, and fails there if it must
    }
  } else {
    return result;
  }
  Value* value = emitter_.constant(std::move(tensor));
  if (node->result_count() == 1 && result->uses().empty()) node->graph().erase(node);
  return value;
}

Value* NodeContext::emit(const Schema& schema, std::vector<Value*> operands, Attrs attrs) {
  return folded(emitter_.emit(schema, std::move(operands), std::move(attrs)));
}

ir::Node* NodeContext::emit_node(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                                 int results) {
  return emitter_.emit_node(schema, std::move(operands), std::move(attrs), results);
}

ir::Node* NodeContext::emit_node_typed(const Schema& schema, std::vector<Value*> operands,
                                       Attrs attrs, std::vector<TensorType> types) {
  ir::Node* node =
      emitter_.graph().add(schema, operands, std::move(attrs), static_cast<int>(types.size()));
  node->origin = emitter_.origin;
  for (std::size_t i = 0; i < types.size(); ++i)
    node->result(static_cast<int>(i))->type = std::move(types[i]);
  ir::infer_types(*node);
  return node;
}

Value* NodeContext::emit_typed(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                               TensorType type) {
  return folded(
      emit_node_typed(schema, std::move(operands), std::move(attrs), {std::move(type)})->result());
}

ir::Node* NodeContext::emit_node_hinted(const Schema& schema, std::vector<Value*> operands,
                                        Attrs attrs, int results) {
  std::vector<TensorType> hints;
  bool has_hint = false;
  for (int i = 0; i < results; ++i) {
    hints.push_back(hint(i).value_or(TensorType()));
    has_hint = has_hint || hints.back().known();
  }
  if (has_hint) {
    ir::Node* node = emitter_.graph().add(schema, operands, attrs, results);
    node->origin = emitter_.origin;
    for (int i = 0; i < results; ++i) node->result(i)->type = hints[static_cast<std::size_t>(i)];
    try {
      ir::infer_types(*node);
      return node;
    } catch (const Error& error) {
      emitter_.graph().erase(node);
      if (error.code() != Code::invalid_model) throw;
    }
    // The hint may be stale; what inference finds without it, or refuses, is what counts.
  }
  return emit_node(schema, std::move(operands), std::move(attrs), results);
}

Value* NodeContext::emit_hinted(const Schema& schema, std::vector<Value*> operands, Attrs attrs) {
  return folded(emit_node_hinted(schema, std::move(operands), std::move(attrs), 1)->result());
}

Value* NodeContext::constant(Tensor tensor) {
  return emitter_.constant(std::move(tensor));
}

Value* NodeContext::scalar(DType type, double value) {
  return emitter_.constant_scalar(type, value);
}

Value* NodeContext::reshape(Value* x, Shape dims) {
  if (x->dims() == dims) return x;
  return folded(emitter_.reshape(x, std::move(dims)));
}

Value* NodeContext::transpose(Value* x, Ints perm) {
  return folded(emitter_.transpose(x, std::move(perm)));
}

Value* NodeContext::cast(Value* x, DType to) {
  return x->dtype() == to ? x : folded(emitter_.cast(x, to));
}

Value* NodeContext::expand(Value* x, Shape dims) {
  if (x->dims() == dims) return x;
  return emit_typed(ops::expand, {x}, {}, TensorType{x->dtype(), std::move(dims)});
}

Value* NodeContext::add(Value* a, Value* b) {
  return emit(ops::add, {a, b});
}

Value* NodeContext::sub(Value* a, Value* b) {
  return emit(ops::sub, {a, b});
}

Value* NodeContext::mul(Value* a, Value* b) {
  return emit(ops::mul, {a, b});
}

Value* NodeContext::scale(Value* x, double factor) {
  return factor == 1 ? x : mul(x, scalar(x->dtype(), factor));
}

Value* NodeContext::reduce(std::string_view kind, Value* x, Ints axes, bool keepdims) {
  return emit(ops::reduce, {x},
              {{"kind", std::string(kind)},
               {"axes", std::move(axes)},
               {"keepdims", std::int64_t{keepdims}}});
}

Value* NodeContext::slice(Value* x, int axis, std::int64_t start, const Dim& size,
                          std::int64_t step) {
  const auto rank = static_cast<std::size_t>(x->rank());
  const auto at = static_cast<std::size_t>(axis);
  Ints starts(rank, 0);
  Ints steps(rank, 1);
  starts[at] = start;
  steps[at] = step;
  TensorType type = x->type;
  type.dims[at] = size;
  if (type.dims == x->dims() && start == 0 && step == 1) return x;
  return emit_typed(ops::slice, {x}, {{"starts", starts}, {"steps", steps}}, std::move(type));
}

bool NodeContext::wants(int i) const {
  return i < node_.output_size() && !node_.output(i).empty();
}

void NodeContext::set(int i, Value* value) {
  if (!wants(i)) return;
  if (value->elements) value = folded(value);
  const std::string& name = node_.output(i);
  translation_.check_hint(*value, name, scope_);
  if (value->name.empty()) value->name = name;
  scope_.values[name] = value;
}

std::optional<TensorType> NodeContext::hint(int i) {
  if (!wants(i)) return std::nullopt;
  return translation_.read_hint(node_.output(i), scope_);
}

std::optional<Shape> NodeContext::static_shape(Value* value) const {
  if (value == nullptr || value->rank() > 1 || !is_int(value->dtype())) return std::nullopt;
  if (const Tensor* tensor = ir::constant_of(value)) {
    if (tensor->count() > kFoldElements) return std::nullopt;
    return ir::make_shape(tensor->to_i64());
  }
  if (value->elements) return *value->elements;
  return std::nullopt;
}

std::optional<Ints> NodeContext::static_ints(Value* value) const {
  const std::optional<Shape> shape = static_shape(value);
  if (!shape || !is_const(*shape)) return std::nullopt;
  return ir::static_dims(*shape);
}

std::optional<Reals> NodeContext::static_reals(Value* value) const {
  if (!is_small_constant(value)) return std::nullopt;
  return ir::constant_of(value)->to_f64();
}

int NodeContext::axis(std::int64_t value, int rank) const {
  if (value < -rank || value >= rank)
    invalid("the axis {} is outside [-{}, {}] of an operand of rank {}", value, rank, rank - 1,
            rank);
  return static_cast<int>(value < 0 ? value + rank : value);
}

Ints NodeContext::axes(const Ints& values, int rank) const {
  Ints normalized;
  for (std::int64_t v : values) normalized.push_back(axis(v, rank));
  std::sort(normalized.begin(), normalized.end());
  if (std::adjacent_find(normalized.begin(), normalized.end()) != normalized.end())
    invalid("the axes [{}] name one axis twice", fmt::join(values, ", "));
  return normalized;
}

std::int64_t NodeContext::number(const Dim& dim, std::string_view what) const {
  if (!dim.is_const())
    unsupported("{} is {}, but has to be a number here; fix the input dims", what, dim.to_string());
  return dim.value();
}

}  // namespace frit::importer
