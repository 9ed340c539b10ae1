// SPDX-License-Identifier: Apache-2.0
// Pointwise ops that feed only each other become one region: one loop, no intermediate in memory.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"

namespace frit::passes {
namespace {

using ir::Node;
using ir::Value;

// Limits of one loop: operands it streams, instructions whose tiles must stay in the first cache.
constexpr std::size_t kMaxOperands = 16;
constexpr std::size_t kMaxNodes = 48;

bool can_fuse(const Node& node) {
  return node.schema().has(ir::kPointwise) && node.result_count() == 1;
}

bool read_only_inside(const Value& value, const std::unordered_set<const Node*>& inside) {
  return std::ranges::all_of(value.uses(),
                             [&](const ir::Use& use) { return inside.contains(use.node); });
}

// The nodes of the region that ends in `root`, last first. A producer joins when the region is its
// only reader and runs over the same dims; so the region has one result and no cycle can arise.
std::vector<Node*> collect(Node& root) {
  std::vector<Node*> members{&root};
  std::unordered_set<const Node*> inside{&root};
  std::unordered_set<const Value*> operands;
  for (std::size_t k = 0; k < members.size(); ++k) {
    for (const Value* value : members[k]->operands()) {
      Node* producer = value->producer();
      const bool joins =
          producer != nullptr && can_fuse(*producer) && &producer->graph() == &root.graph() &&
          members.size() < kMaxNodes &&
          operands.size() + static_cast<std::size_t>(producer->operand_count()) <= kMaxOperands &&
          value->dims() == root.result()->dims() && read_only_inside(*value, inside);
      if (!joins)
        operands.insert(value);
      else if (inside.insert(producer).second) {
        members.push_back(producer);
        operands.erase(value);
      }
    }
  }
  return members;
}

void build_region(Node& root, std::vector<Node*> members,
                  const std::unordered_map<const Node*, std::size_t>& order) {
  std::ranges::sort(members, {}, [&](const Node* n) { return order.at(n); });
  ir::Graph& graph = root.graph();
  const std::unordered_set<const Node*> inside(members.begin(), members.end());
  std::vector<Value*> operands;
  for (const Node* member : members)
    for (Value* value : member->operands())
      if (!inside.contains(value->producer()) &&
          std::ranges::find(operands, value) == operands.end())
        operands.push_back(value);

  Node* region = graph.add(ops::region, operands, {}, 1, &root);
  ir::Graph& body = *region->add_subgraph();
  std::unordered_map<const Value*, Value*> map;
  for (Value* value : operands) map[value] = body.add_input("", value->type);
  for (Node* member : members) {
    std::vector<Value*> inner;
    for (const Value* value : member->operands()) inner.push_back(map.at(value));
    Node* copy = body.add(member->schema(), inner, member->attrs, 1);
    copy->origin = member->origin;
    copy->result()->type = member->result()->type;
    map[member->result()] = copy->result();
    ir::merge_origin(*region, *member);
  }
  body.add_output(map.at(root.result()));
  region->result()->type = root.result()->type;
  region->result()->name = root.result()->name;
  graph.replace_all_uses(root.result(), region->result());
  std::ranges::reverse(members);
  for (Node* member : members) graph.erase(member);
}

bool fuse(ir::Graph& graph, PassContext& context) {
  std::unordered_map<const Node*, std::size_t> order;
  bool changed = false;
  for (Node* n = graph.first(); n != graph.terminator(); n = n->next()) {
    order.emplace(n, order.size());
    for (int s = 0; s < n->subgraph_count(); ++s)
      if (n->schema().has(ir::kControlFlow)) changed = fuse(*n->subgraph(s), context) || changed;
  }
  // Last first, so that every reader of a node has found its region before the node is asked.
  for (Node* node = graph.terminator()->prev(); node != nullptr;) {
    if (!can_fuse(*node)) {
      node = node->prev();
      continue;
    }
    Node* after = node->next();
    build_region(*node, collect(*node), order);
    node = after->prev()->prev();  // the node before the new region
    changed = true;
  }
  return changed;
}

}  // namespace

const Pass fuse_regions{"fuse_regions", "joins pointwise ops into loops", fuse};

}  // namespace frit::passes
