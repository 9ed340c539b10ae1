// SPDX-License-Identifier: Apache-2.0
// The IR: a Graph owns Nodes and Values in topological order; a Node may own subgraphs.
//
// Handles are plain pointers, valid until the node is erased. Operands may name values of an
// enclosing graph (captures). Results of the graph are the operands of its last node, `return`, so
// replacing a value needs no special case. Not thread safe; one thread builds one graph.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attrs.h"
#include "compiler/ir/dim.h"
#include "frit/types.h"

namespace frit::ir {

class Graph;
class Node;
class Value;
struct Schema;

/// Element type and logical dims of a value. dtype undefined = not inferred yet.
struct TensorType {
  DType dtype = DType::undefined;
  Shape dims;
  bool known() const { return dtype != DType::undefined; }
  int rank() const { return static_cast<int>(dims.size()); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};
/// "f32[1,3,N]"
std::string to_string(const TensorType& type);

/// One operand slot that reads a value.
struct Use {
  Node* node = nullptr;
  std::uint32_t operand = 0;
};

/// A tensor in the IR: a graph input or a result of a node.
class Value {
 public:
  Graph& graph() const { return *graph_; }
  /// The node that computes it; null for a graph input.
  Node* producer() const { return producer_; }
  /// Position among the producer's results or the graph's inputs.
  int index() const { return index_; }
  const std::vector<Use>& uses() const { return uses_; }
  bool has_one_use() const { return uses_.size() == 1; }

  TensorType type;
  /// Name at the engine edge or from the model; may be empty. Unique names are not required.
  std::string name;
  /// Contents of an integer shape tensor (rank 0 or 1) as far as inference knows them; null if not.
  std::unique_ptr<Shape> elements;

  DType dtype() const { return type.dtype; }
  const Shape& dims() const { return type.dims; }
  int rank() const { return type.rank(); }

 private:
  friend class Graph;
  friend class Node;
  Graph* graph_ = nullptr;
  Node* producer_ = nullptr;
  int index_ = 0;
  std::vector<Use> uses_;
};

/// One operation.
class Node {
 public:
  ~Node();
  const Schema& schema() const { return *schema_; }
  std::string_view op() const;
  bool is(const Schema& schema) const { return schema_ == &schema; }
  Graph& graph() const { return *graph_; }

  int operand_count() const { return static_cast<int>(operands_.size()); }
  /// Operand i, null if absent or beyond the list.
  Value* operand(int i) const;
  std::vector<Value*> operands() const;
  void set_operand(int i, Value* value);
  void add_operand(Value* value);
  /// Drops trailing operands down to `count`.
  void truncate_operands(int count);

  int result_count() const { return static_cast<int>(results_.size()); }
  Value* result(int i = 0) const { return results_[static_cast<std::size_t>(i)].get(); }

  Attrs attrs;
  /// ONNX nodes this one stands for; survives every rewrite, printed in errors, profiles, reports.
  std::vector<std::string> origin;

  int subgraph_count() const { return static_cast<int>(subgraphs_.size()); }
  Graph* subgraph(int i = 0) const { return subgraphs_[static_cast<std::size_t>(i)].get(); }
  Graph* add_subgraph();
  void clear_subgraphs();

  Node* next() const { return next_; }
  Node* prev() const { return prev_; }
  /// Number in order of creation within the root graph; stable while passes run.
  std::uint32_t id() const { return id_; }

 private:
  friend class Graph;
  struct Operand {
    Value* value = nullptr;
    std::uint32_t slot = 0;  // position in value->uses_, so that removal is O(1)
  };
  void link(std::uint32_t i, Value* value);
  void unlink(std::uint32_t i);

  const Schema* schema_ = nullptr;
  Graph* graph_ = nullptr;
  std::vector<Operand> operands_;
  std::vector<std::unique_ptr<Value>> results_;
  std::vector<std::unique_ptr<Graph>> subgraphs_;
  Node* prev_ = nullptr;
  Node* next_ = nullptr;
  std::uint32_t id_ = 0;
};

/// A list of nodes from inputs to `return`.
class Graph {
 public:
  /// A root graph with its own symbols.
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;
  Symbols& symbols() const { return *symbols_; }
  /// The node that owns this graph; null for the root.
  Node* owner() const { return owner_; }

  int input_count() const { return static_cast<int>(inputs_.size()); }
  Value* input(int i) const { return inputs_[static_cast<std::size_t>(i)].get(); }
  Value* add_input(std::string input_name, TensorType type);
  /// Removes an unused input. Later inputs move up.
  void erase_input(int i);

  int output_count() const;
  Value* output(int i) const;
  void add_output(Value* value);
  void set_output(int i, Value* value);
  /// The `return` node, always last.
  Node* terminator() const { return last_; }

  /// Adds a node before `before` (null = at the end, before `return`). Results have no type yet;
  /// call infer_types (ops/infer.h), or use Emitter, which does both.
  Node* add(const Schema& schema, std::span<Value* const> operands, Attrs attrs = {},
            int results = 1, Node* before = nullptr);
  /// Moves a node to just before another of the same graph.
  void move_before(Node* node, Node* before);
  /// Every reader of `from` reads `to` instead. `to` inherits the name if it has none.
  void replace_all_uses(Value* from, Value* to);
  /// Removes a node whose results have no uses.
  void erase(Node* node);

  /// First node; `return` when the graph is empty. Iterate: for (Node* n = g.first(); n; n =
  /// n->next()).
  Node* first() const { return first_; }
  std::size_t node_count() const { return count_; }  ///< `return` not counted

  /// Deep copy of this graph's inputs, nodes and outputs into `into` (empty, e.g. a new root).
  void clone_into(Graph& into) const;

 private:
  friend class Node;
  explicit Graph(Node* owner);
  void make_terminator();
  void unchain(Node* node);
  void chain_before(Node* node, Node* before);

  std::unique_ptr<Symbols> own_symbols_;
  Symbols* symbols_ = nullptr;
  Node* owner_ = nullptr;
  std::vector<std::unique_ptr<Value>> inputs_;
  Node* first_ = nullptr;
  Node* last_ = nullptr;
  std::size_t count_ = 0;
  std::uint32_t next_id_ = 0;
};

/// The constant's contents if `value` comes from a `constant` node, else null.
const Tensor* constant_of(const Value* value);
/// The one number in a constant of one element, else nothing.
bool scalar_constant(const Value* value, double& number);
/// "conv_12" or "conv_12, relu_13": what messages print.
std::string origin_text(const Node& node);
/// Adds the origins of `from` that `to` lacks, keeping order.
void merge_origin(Node& to, const Node& from);

}  // namespace frit::ir
