// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrite/rule.h"

#include "compiler/error.h"
#include "compiler/ops/schema.h"

namespace frit::rewrite {
namespace {

constexpr int kMaxSweeps = 64;

bool unused(const ir::Node& node) {
  for (int r = 0; r < node.result_count(); ++r)
    if (!node.result(r)->uses().empty()) return false;
  return true;
}

bool feeds_output(const ir::Value& value) {
  for (const ir::Use& use : value.uses())
    if (use.node->schema().has(ir::kTerminator)) return true;
  return false;
}

// Asks the rules about one node; true if one applied.
bool rewrite_node(ir::Node& node, std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    if (rule.root != nullptr && !node.is(*rule.root)) continue;
    ir::Emitter emit(node.graph(), &node);
    emit.origin = node.origin;
    ir::Value* replacement = rule.apply(node, emit);
    if (replacement == nullptr) continue;
    if (replacement == node.result()) return true;
    check(replacement->type == node.result()->type, "rule {} turns {} into {}", rule.name,
          ir::to_string(node.result()->type), ir::to_string(replacement->type));
    if (feeds_output(*node.result())) {
      // Every graph output keeps a value of its own under its own name.
      if (replacement->producer() == nullptr || feeds_output(*replacement)) continue;
      replacement->name = node.result()->name;
    }
    // What takes over the work also takes over the name of who asked for it.
    if (replacement->producer() != nullptr && !replacement->producer()->is(ops::constant))
      merge_origin(*replacement->producer(), node);
    node.graph().replace_all_uses(node.result(), replacement);
    return true;
  }
  return false;
}

bool sweep(ir::Graph& graph, std::span<const Rule> rules) {
  bool changed = false;
  for (ir::Node* node = graph.first(); node != graph.terminator();) {
    for (int s = 0; s < node->subgraph_count(); ++s)
      changed = sweep(*node->subgraph(s), rules) || changed;
    ir::Node* next = node->next();
    if (unused(*node)) {
      graph.erase(node);
    } else if (rewrite_node(*node, rules)) {
      changed = true;
      if (unused(*node)) graph.erase(node);
    }
    node = next;
  }
  return changed;
}

}  // namespace

bool apply_rules(ir::Graph& graph, std::span<const Rule> rules) {
  bool changed = false;
  for (int i = 0; sweep(graph, rules); ++i) {
    changed = true;
    check(i < kMaxSweeps, "rewriting does not settle after {} sweeps", kMaxSweeps);
  }
  return changed;
}

}  // namespace frit::rewrite
