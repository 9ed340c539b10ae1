// SPDX-License-Identifier: Apache-2.0
// Names and order of the nodes of one graph.
#include <functional>
#include <queue>
#include <utility>

#include "compiler/error.h"
#include "compiler/onnx/translation.h"

namespace frit::importer {
namespace {

using Producers = std::unordered_map<std::string_view, int>;

// Producers of every name that the nodes define; refuses second definitions.
Producers find_producers(const NodeList& nodes, const Scope& scope, const Frame& frame) {
  Producers producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i].output()) {
      if (name.empty()) continue;
      if (scope.values.contains(name) || !producers.emplace(name, i).second)
        throw Error(Code::invalid_model,
                    fmt::format("node \"{}\" ({}) defines \"{}\", which is defined already; every "
                                "name may be defined once",
                                node_label(nodes[i], i, frame), nodes[i].op_type(), name),
                    node_label(nodes[i], i, frame));
    }
  }
  return producers;
}

// Calls `read` for each name a node reads, names that its subgraphs capture included. Names defined
// inside a subgraph are not reported. The parser bounds the depth.
void for_each_read(const pb::NodeProto& node, const std::function<void(const std::string&)>& read) {
  for (const std::string& name : node.input())
    if (!name.empty()) read(name);
  const auto visit_graph = [&](const pb::GraphProto& graph) {
    std::unordered_map<std::string_view, bool> local;
    for (const auto& input : graph.input()) local.emplace(input.name(), true);
    for (const auto& tensor : graph.initializer()) local.emplace(tensor.name(), true);
    for (const auto& sparse : graph.sparse_initializer())
      local.emplace(sparse.values().name(), true);
    for (const auto& inner : graph.node())
      for (const std::string& name : inner.output()) local.emplace(name, true);
    const auto captured = [&](const std::string& name) {
      if (!local.contains(name)) read(name);
    };
    for (const auto& inner : graph.node()) for_each_read(inner, captured);
    for (const auto& output : graph.output()) captured(output.name());
  };
  for (const pb::AttributeProto& attr : node.attribute()) {
    if (attr.has_g()) visit_graph(attr.g());
    for (const pb::GraphProto& graph : attr.graphs()) visit_graph(graph);
  }
}

}  // namespace

std::string node_label(const pb::NodeProto& node, int index, const Frame& frame) {
  return frame.prefix +
         (node.name().empty() ? fmt::format("{}_{}", node.op_type(), index) : node.name());
}

std::vector<int> sorted_order(const NodeList& nodes, const Scope& scope, const Frame& frame) {
  const Producers producers = find_producers(nodes, scope, frame);
  const auto count = static_cast<std::size_t>(nodes.size());
  std::vector<std::vector<int>> readers(count);
  std::vector<int> missing(count, 0);
  for (int i = 0; i < nodes.size(); ++i) {
    for_each_read(nodes[i], [&](const std::string& name) {
      if (const auto producer = producers.find(name); producer != producers.end()) {
        readers[static_cast<std::size_t>(producer->second)].push_back(i);
        ++missing[static_cast<std::size_t>(i)];
      } else if (!scope.find(name) && !scope.is_absent(name)) {
        throw Error(Code::invalid_model,
                    fmt::format("node \"{}\" ({}) reads \"{}\", which no node, input or "
                                "initializer defines",
                                node_label(nodes[i], i, frame), nodes[i].op_type(), name),
                    node_label(nodes[i], i, frame));
      }
    });
  }
  // The ready node that comes first in the file goes next, so a sorted file keeps its order.
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (missing[static_cast<std::size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int reader : readers[static_cast<std::size_t>(i)])
      if (--missing[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
  }
  if (order.size() != count)
    for (int i = 0; i < nodes.size(); ++i)
      if (missing[static_cast<std::size_t>(i)] > 0)
        throw Error(Code::invalid_model,
                    fmt::format("node \"{}\" ({}) is part of a cycle or follows one: it waits for "
                                "its own result; a graph must not have cycles",
                                node_label(nodes[i], i, frame), nodes[i].op_type()),
                    node_label(nodes[i], i, frame));
  return order;
}

}  // namespace frit::importer
