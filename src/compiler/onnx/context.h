// SPDX-License-Identifier: Apache-2.0
// What an operator's import function sees: one ONNX node, its operands as IR values, and emission.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/onnx/translation.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"

namespace frit::importer {

using ir::Attrs;
using ir::Dim;
using ir::Ints;
using ir::Reals;
using ir::Schema;
using ir::Shape;
using ir::Tensor;
using ir::TensorType;
using ir::Value;

/// One ONNX node being imported. Errors that its functions throw get the node's label from the
/// caller, so messages here start with what was expected.
class NodeContext {
 public:
  NodeContext(Translation& translation, const pb::NodeProto& node, Scope& scope, const Frame& frame,
              std::int64_t opset, std::string label);

  const std::string& op() const { return node_.op_type(); }
  std::int64_t opset() const { return opset_; }
  const std::string& label() const { return label_; }
  const pb::NodeProto& proto() const { return node_; }
  Translation& translation() { return translation_; }
  Scope& scope() { return scope_; }
  const Frame& frame() const { return frame_; }

  // Operands.
  int input_count() const { return node_.input_size(); }
  bool has(int i) const;
  Value* input(int i);           ///< refuses if absent
  Value* optional(int i);        ///< null if absent
  std::vector<Value*> inputs();  ///< all of a variadic op; none may be absent
  /// Operands min … max-1 with nulls for absent ones at the end and between.
  std::vector<Value*> operands(int count);

  // Attributes; a default makes them optional. Another type than asked for is an error.
  bool has_attr(std::string_view name) const { return find_attr(name) != nullptr; }
  std::int64_t integer(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  bool flag(std::string_view name, bool otherwise) const { return integer(name, otherwise) != 0; }
  double real(std::string_view name) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  Ints ints(std::string_view name) const;    ///< empty when absent
  Reals reals(std::string_view name) const;  ///< empty when absent
  std::vector<std::string> texts(std::string_view name) const;
  Tensor tensor(std::string_view name) const;         ///< undefined when absent
  Tensor sparse_tensor(std::string_view name) const;  ///< undefined when absent
  const pb::GraphProto& graph(std::string_view name) const;
  DType dtype(std::string_view name) const;
  /// The text attribute's value; refuses values outside `allowed`.
  std::string choice(std::string_view name, std::string_view otherwise,
                     std::initializer_list<std::string_view> allowed) const;

  // Emission. Small constant results are computed at once.
  Value* emit(const Schema& schema, std::vector<Value*> operands, Attrs attrs = {});
  ir::Node* emit_node(const Schema& schema, std::vector<Value*> operands, Attrs attrs, int results);
  /// For ops whose result dims are not implied by operands and attributes.
  Value* emit_typed(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                    TensorType type);
  ir::Node* emit_node_typed(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                            std::vector<TensorType> types);
  /// For ops whose result dims may depend on data: where inference cannot tell them, the model's
  /// hints for the node's outputs decide; the kernels check them when they run.
  ir::Node* emit_node_hinted(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                             int results);
  Value* emit_hinted(const Schema& schema, std::vector<Value*> operands, Attrs attrs = {});
  Value* constant(Tensor tensor);
  Value* scalar(DType type, double value);
  Value* reshape(Value* x, Shape dims);
  Value* transpose(Value* x, Ints perm);
  Value* cast(Value* x, DType to);
  Value* expand(Value* x, Shape dims);
  Value* add(Value* a, Value* b);
  Value* sub(Value* a, Value* b);
  Value* mul(Value* a, Value* b);
  /// x * factor with the factor in x's type; x itself for 1.
  Value* scale(Value* x, double factor);
  /// reduce over normalized axes.
  Value* reduce(std::string_view kind, Value* x, Ints axes, bool keepdims);
  /// Static slice along one axis: [start, start + size) or every `step`-th.
  Value* slice(Value* x, int axis, std::int64_t start, const Dim& size, std::int64_t step = 1);

  // Results.
  int output_count() const { return node_.output_size(); }
  bool wants(int i) const;
  void set(int i, Value* value);
  void set(Value* value) { set(0, value); }
  /// The model's type for output i if it states dtype and rank; dims it leaves open are symbols.
  std::optional<TensorType> hint(int i);

  // What is known of a value's contents.
  /// Contents of an integer value of rank 0 or 1, if all are numbers.
  std::optional<Ints> static_ints(Value* value) const;
  /// Contents of an integer value of rank 0 or 1, symbolic entries included.
  std::optional<Shape> static_shape(Value* value) const;
  /// Contents of a small constant of any numeric type.
  std::optional<Reals> static_reals(Value* value) const;

  /// -rank ≤ axis < rank → 0 ≤ axis < rank; refuses otherwise.
  int axis(std::int64_t value, int rank) const;
  Ints axes(const Ints& values, int rank) const;  ///< sorted, duplicates refused
  /// The number of a dim that has to be one.
  std::int64_t number(const Dim& dim, std::string_view what) const;

  /// Valid ONNX that is not covered: joins the one list of refusals.
  template <class... Args>
  [[noreturn]] void unsupported(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(Code::unsupported, fmt::format(format, std::forward<Args>(args)...));
  }
  /// The model breaks ONNX's rules.
  template <class... Args>
  [[noreturn]] void invalid(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(Code::invalid_model, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const pb::AttributeProto* find_attr(std::string_view name) const;
  const pb::AttributeProto& need_attr(std::string_view name) const;
  const pb::AttributeProto* typed_attr(std::string_view name,
                                       pb::AttributeProto::AttributeType type) const;
  /// A constant in place of the result when its contents are known and small.
  Value* folded(Value* result);

  Translation& translation_;
  const pb::NodeProto& node_;
  Scope& scope_;
  const Frame& frame_;
  std::int64_t opset_;
  std::string label_;
  ir::Emitter emitter_;
};

}  // namespace frit::importer
