// SPDX-License-Identifier: Apache-2.0
// Local rewrites: a rule looks at one node and may offer a value to use instead of its result.
#pragma once

#include <span>

#include "compiler/ir/graph.h"
#include "compiler/ops/infer.h"

namespace frit::rewrite {

/// One equation. `root` null = asked about every node.
struct Rule {
  const char* name;
  const ir::Schema* root;
  /// Returns what replaces result 0 (built with the emitter, which inserts before the node and
  /// hands on its origin), or null when the equation does not apply. The value must have the
  /// result's type. Nodes may also be changed in place: then return result 0 itself.
  ir::Value* (*apply)(ir::Node& node, ir::Emitter& emit);
};

/// Applies the rules to every node, subgraphs included, until none applies. Throws Error(internal)
/// if that takes more than 64 sweeps: two rules undo each other. Returns whether anything changed.
bool apply_rules(ir::Graph& graph, std::span<const Rule> rules);

}  // namespace frit::rewrite
