// SPDX-License-Identifier: Apache-2.0
// The state of one import: scopes, functions being inlined, and what was refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/onnx/importer.h"
#include "compiler/onnx/model.h"

namespace frit::importer {

class NodeContext;

/// Names of one graph or function body. A null value stands for the result of a refused node.
struct Scope {
  const Scope* outer = nullptr;  ///< the graph around a branch; null at the root and in functions
  std::unordered_map<std::string_view, ir::Value*> values;
  std::unordered_map<std::string_view, const pb::TypeProto*> hints;
  std::unordered_set<std::string_view> absent;  ///< function inputs the call leaves out

  bool is_absent(std::string_view name) const;
  /// The value of that name here or further out; nothing if undefined.
  std::optional<ir::Value*> find(std::string_view name) const;
};

/// A function call being inlined; the main graph has one without function and caller.
struct Frame {
  const Frame* caller = nullptr;
  const pb::FunctionProto* function = nullptr;
  const Opsets* opsets = nullptr;
  std::string prefix;  ///< of the labels of its nodes: "call/"
  int depth = 0;
  /// What `ref_attr_name` refers to: the call's attributes over the function's defaults.
  std::unordered_map<std::string_view, const pb::AttributeProto*> attributes;
};

/// Nodes of a graph or function body.
using NodeList = google::protobuf::RepeatedPtrField<pb::NodeProto>;

/// Positions of `nodes` so that each node follows what it reads; the given order where it already
/// does. Checks that names are defined exactly once. `scope` holds what is defined before the first
/// node. Throws Error naming the node: undefined or duplicate names, cycles.
std::vector<int> sorted_order(const NodeList& nodes, const Scope& scope, const Frame& frame);

/// "conv1", or "Conv_12" for node 12 without a name, after the frame's prefix.
std::string node_label(const pb::NodeProto& node, int index, const Frame& frame);

/// Translates one model into one graph.
class Translation {
 public:
  Translation(std::shared_ptr<Model> model, const ImportOptions& options, ir::Graph& graph,
              ImportReport& report);

  void run();

  ir::Graph& graph() { return graph_; }
  const std::shared_ptr<Model>& model() const { return model_; }
  /// IR type of an ONNX type; open dims become symbols (`name` makes fresh ones readable).
  ir::TensorType read_type(const pb::TypeProto& type, const std::string& what);
  /// The values of a branch's outputs, its nodes emitted into the graph around it.
  std::vector<ir::Value*> inline_graph(const pb::GraphProto& branch, const Scope& outer,
                                       const Frame& frame);
  void warn(std::string message);
  /// The model's type for `name` if it states dtype and rank; dims it leaves open are fresh
  /// symbols.
  std::optional<ir::TensorType> read_hint(const std::string& name, const Scope& scope);
  /// Compares an inferred type with the model's hint: another dtype throws, other dims are
  /// reported, since exporters leave them stale and inference is what the engine is built on.
  void check_hint(const ir::Value& value, const std::string& name, const Scope& scope);
  /// Nodes refused so far: what cannot be known for values that depend on them.
  bool has_refusals() const { return !refusals_.empty(); }

 private:
  void read_inputs(Scope& scope);
  void add_graph_input(const pb::ValueInfoProto& input, Scope& scope);
  ir::Dim input_dim(const pb::TensorShapeProto::Dimension& dim, const std::string& where);
  void read_initializers(const pb::GraphProto& graph, Scope& scope);
  void define(Scope& scope, const std::string& name, ir::Value* value, const char* what);
  void translate_nodes(const NodeList& nodes, Scope& scope, const Frame& frame);
  void translate_node(const pb::NodeProto& node, int index, Scope& scope, const Frame& frame);
  bool is_available(const pb::NodeProto& node, const Scope& scope) const;
  void call_function(const pb::FunctionProto& function, NodeContext& call);
  void finish_outputs(const Scope& scope);
  void refuse(const pb::NodeProto& node, const std::string& label, std::int64_t opset,
              const std::string& reason);
  void throw_refusals() const;

  std::shared_ptr<Model> model_;
  const ImportOptions& options_;
  ir::Graph& graph_;
  ImportReport& report_;
  std::vector<std::string> refusals_;
  std::size_t stale_hints_ = 0;
  /// Numbers of named dims: the caller's, and 1 for those that defaulted.
  std::map<std::string, std::int64_t> symbols_;
};

}  // namespace frit::importer
