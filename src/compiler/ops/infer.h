// SPDX-License-Identifier: Apache-2.0
// Result types from operand types.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/error.h"
#include "compiler/ops/schema.h"

namespace frit::ir {

/// What a schema's `infer` works with: reads operands, sets results, refuses with a message.
class Inference {
 public:
  explicit Inference(Node& node) : node_(node) {}

  Node& node() const { return node_; }
  const Attrs& attrs() const { return node_.attrs; }
  int operand_count() const { return node_.operand_count(); }
  bool has(int i) const { return node_.operand(i) != nullptr; }
  /// Type of operand i; refuses if absent or not inferred.
  const TensorType& type(int i) const;
  const Shape& dims(int i) const { return type(i).dims; }
  DType dtype(int i) const { return type(i).dtype; }
  int rank(int i) const { return type(i).rank(); }
  /// Contents of a constant operand, else null.
  const Tensor* constant(int i) const { return constant_of(node_.operand(i)); }
  /// Contents of an integer operand of rank 0 or 1: constant or inferred; nothing if unknown.
  std::optional<Shape> elements(int i) const;
  /// The number in a constant or inferred integer operand of one element; nothing if unknown.
  std::optional<Dim> element(int i) const;
  int result_count() const { return node_.result_count(); }
  /// The type result r already has (from the creator, the model or an earlier run), else null.
  const TensorType* hint(int r) const;

  /// Sets the type of result r; nothing happens if the node has fewer results. A result that
  /// already has a type (a hint from the model) must agree: another dtype or rank, or dims that can
  /// never be equal, refuse as invalid_model.
  void set(int r, DType dtype, Shape dims);
  /// For sizes that only run-time data decide: keeps the hint's dims, or makes fresh symbols of the
  /// given rank. Without hint and rank (-1) refuses as unsupported, saying what is unknown.
  void set_unknown(int r, DType dtype, int rank, std::string_view what);
  /// Size of one axis that only run-time data decide: the hint's, else a fresh symbol.
  Dim unknown_dim(int r, int axis, int rank, Bounds bounds = {}) const;
  /// Records the contents of an integer or bool result (shape arithmetic). Dropped if they are
  /// too many, too long, or outside the result's type: contents are an extra, never a duty.
  void set_elements(int r, Shape values);

  /// Refuses: "<op>: <message>".
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(Code::invalid_model,
                std::string(node_.op()) + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  /// NumPy broadcasting of shapes; refuses when two dims can never agree.
  Shape broadcast(const Shape& a, const Shape& b) const;
  /// -rank ≤ axis < rank → 0 ≤ axis < rank; refuses otherwise.
  int normalize_axis(std::int64_t axis, int rank) const;
  /// The more precise of two sizes that must agree; refuses when they never can. `what` names them.
  Dim unify(const Dim& a, const Dim& b, std::string_view what) const;

  // Checks of attributes and operands; each refuses with what was expected and what was found.
  /// Integer attribute in lo…hi.
  std::int64_t integer(std::string_view name, std::int64_t lo, std::int64_t hi) const;
  /// Attribute that names an axis of a tensor of that rank (already normalized).
  int axis(std::string_view name, int rank) const;
  /// Integer list attribute of that length with every entry in lo…hi.
  const Ints& ints(std::string_view name, int count, std::int64_t lo, std::int64_t hi) const;
  /// Sorted, distinct axes of a tensor of that rank.
  const Ints& axes(std::string_view name, int rank) const;
  /// Text attribute that is one of `allowed`.
  const std::string& choice(std::string_view name,
                            std::initializer_list<std::string_view> allowed) const;
  /// Type attribute (an ONNX number) with elements of fixed size.
  DType dtype_attr(std::string_view name) const;
  void expect_rank(int i, int lo, int hi) const;
  void expect_dtype(int i, DType dtype) const;  ///< exactly that type
  void expect_float(int i) const;
  void expect_int(int i) const;
  void expect_index(int i) const;    ///< i32 or i64
  void expect_numeric(int i) const;  ///< real float or integer
  /// One element: rank 0, or rank 1 of size 1.
  void expect_scalar(int i) const;

 private:
  Node& node_;
};

/// Checks counts of operands, results and subgraphs, and names and kinds of attributes against the
/// schema. Throws Error(invalid_model).
void check_signature(const Node& node);
/// Checks the signature and runs the schema's inference on one node (subgraphs included where the
/// op has them). Runs again with the same outcome.
void infer_types(Node& node);
/// infer_types on every node of a graph in order.
void infer_types(Graph& graph);

/// Largest number of contents kept on a value (Value::elements).
inline constexpr int kMaxElements = 64;

/// Adds nodes with inferred types: what the importer and rewrites build graphs with.
class Emitter {
 public:
  /// New nodes go before `before` (null = end of graph) and carry `origin`. A node that inference
  /// refuses is removed again before the Error leaves.
  explicit Emitter(Graph& graph, Node* before = nullptr) : graph_(graph), before_(before) {}

  Graph& graph() const { return graph_; }
  void set_before(Node* before) { before_ = before; }
  std::vector<std::string> origin;

  /// One-result node.
  Value* emit(const Schema& schema, std::vector<Value*> operands, Attrs attrs = {});
  /// One-result node of an op whose result dims live in its type (reshape, expand, slice…), or
  /// whose result type the creator knows: inference checks `type` instead of guessing.
  Value* emit_as(const Schema& schema, std::vector<Value*> operands, Attrs attrs, TensorType type);
  /// Node with one result per entry of `types`; entries without dtype are left to inference.
  Node* emit_node_as(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                     std::vector<TensorType> types);
  /// Node with several results.
  Node* emit_node(const Schema& schema, std::vector<Value*> operands, Attrs attrs, int results);
  Value* constant(Tensor tensor);
  Value* constant_i64(const std::vector<std::int64_t>& values);
  /// Scalar constant of a type.
  Value* constant_scalar(DType dtype, double value);

  // Frequent shorthands. What would change nothing returns x itself.
  Value* reshape(Value* x, Shape dims);
  Value* expand(Value* x, Shape dims);
  /// Static slice: element i of axis a is x's element starts[a] + i * steps[a]; sizes are `dims`.
  Value* slice(Value* x, Ints starts, Ints steps, Shape dims);
  /// Parts of the given sizes along an axis.
  std::vector<Value*> split(Value* x, int axis, const Shape& sizes);
  Value* transpose(Value* x, Ints perm);
  Value* cast(Value* x, DType to);

 private:
  Node* finish(Node* node);
  Graph& graph_;
  Node* before_;
};

}  // namespace frit::ir
