// SPDX-License-Identifier: Apache-2.0
// Result types from operand types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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

  /// Sets the type of result r. A result that already has a type (a hint from the model) must
  /// agree: another dtype or rank, or dims that can never be equal, refuse as invalid_model.
  void set(int r, DType dtype, Shape dims);
  /// For sizes that only run-time data decide: keeps the hint's dims, or makes fresh symbols of the
  /// given rank. Without hint and rank (-1) refuses as unsupported, saying what is unknown.
  void set_unknown(int r, DType dtype, int rank, std::string_view what);
  /// Records the contents of an integer result (shape arithmetic).
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

 private:
  Node& node_;
};

/// Runs the schema's inference on one node (subgraphs included where the op has them).
void infer_types(Node& node);

/// Adds nodes with inferred types: what the importer and rewrites build graphs with.
class Emitter {
 public:
  /// New nodes go before `before` (null = end of graph) and carry `origin`.
  explicit Emitter(Graph& graph, Node* before = nullptr) : graph_(graph), before_(before) {}

  Graph& graph() const { return graph_; }
  void set_before(Node* before) { before_ = before; }
  std::vector<std::string> origin;

  /// One-result node.
  Value* emit(const Schema& schema, std::vector<Value*> operands, Attrs attrs = {});
  /// Node with several results.
  Node* emit_node(const Schema& schema, std::vector<Value*> operands, Attrs attrs, int results);
  Value* constant(Tensor tensor);
  Value* constant_i64(const std::vector<std::int64_t>& values);
  /// Scalar constant of a type.
  Value* constant_scalar(DType dtype, double value);

  // Frequent shorthands.
  Value* reshape(Value* x, Shape dims);
  Value* transpose(Value* x, Ints perm);
  Value* cast(Value* x, DType to);

 private:
  Graph& graph_;
  Node* before_;
};

}  // namespace frit::ir
