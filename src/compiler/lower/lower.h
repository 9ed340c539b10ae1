// SPDX-License-Identifier: Apache-2.0
// From a scheduled graph with chosen tactics to a Plan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/backend/backend.h"
#include "compiler/ir/graph.h"
#include "compiler/tune/tactic.h"
#include "plan/plan.h"

namespace frit::lower {

struct LowerOptions {
  int threads = 1;
  /// Called with (done, total) nodes; returning false cancels. May be empty.
  std::function<bool(std::size_t, std::size_t)> progress;
};

/// A plan and the bytes of its constants, ready for plan::write.
struct Lowered {
  plan::Plan plan;
  std::vector<plan::Blob> constants;
  /// Tactic of each step, parallel to plan.steps, and what declined before it.
  std::vector<tune::Choice> choices;
  /// Keeps the bytes that `constants` points to alive.
  std::vector<std::vector<std::byte>> owned;
};

/// Chooses a tactic for every node, drafts the steps, assigns memory. Reshapes become aliases. The
/// graph must outlive the result (constants are views of it). Throws Error naming the node.
Lowered lower(const ir::Graph& graph, const backend::Backend& backend, const LowerOptions& options);

}  // namespace frit::lower
