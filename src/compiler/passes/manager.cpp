// SPDX-License-Identifier: Apache-2.0
// Runs lists of passes; dead code and verification are done here, once for all of them.
#include <algorithm>
#include <vector>

#include "compiler/error.h"
#include "compiler/ir/verify.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"

namespace frit::passes {
namespace {

constexpr const Pass* kPasses[] = {
#define FRIT_PASS(name) &name,
#include "compiler/passes/passes.def"
#undef FRIT_PASS
};

std::uint32_t newest_id(const ir::Graph& graph) {
  std::uint32_t newest = 0;
  for (const ir::Node* n = graph.first(); n != nullptr; n = n->next()) {
    newest = std::max(newest, n->id());
    for (int s = 0; s < n->subgraph_count(); ++s)
      newest = std::max(newest, newest_id(*n->subgraph(s)));
  }
  return newest;
}

// Nodes made by a pass are those numbered after the newest one that was there before.
void record(const ir::Graph& graph, std::uint32_t before, const char* pass, PassContext& context) {
  for (const ir::Node* n = graph.first(); n != nullptr; n = n->next()) {
    if (n->id() > before)
      for (const std::string& origin : n->origin) context.trace.push_back({pass, origin});
    for (int s = 0; s < n->subgraph_count(); ++s) record(*n->subgraph(s), before, pass, context);
  }
}

bool run_one(ir::Graph& graph, const Pass& pass, PassContext& context) {
  const std::uint32_t before = context.record_trace ? newest_id(graph) : 0;
  try {
    bool changed = pass.run(graph, context);
    changed |= remove_dead_code(graph);
    if (context.verify) ir::verify(graph);
    if (context.record_trace) record(graph, before, pass.name, context);
    return changed;
  } catch (Error& error) {
    error.add_context(std::string("pass ") + pass.name);
    throw;
  }
}

}  // namespace

std::span<const Pass* const> all_passes() {
  return kPasses;
}

const Pass* find_pass(std::string_view name) {
  const auto it =
      std::ranges::find(kPasses, name, [](const Pass* p) -> std::string_view { return p->name; });
  return it != std::end(kPasses) ? *it : nullptr;
}

bool run_passes(ir::Graph& graph, std::span<const Pass* const> passes, PassContext& context) {
  bool changed = false;
  for (const Pass* pass : passes) {
    if (context.cancelled && context.cancelled())
      fail(Code::cancelled, "the build was cancelled before pass {}", pass->name);
    changed |= run_one(graph, *pass, context);
    if (context.after_pass) context.after_pass(pass->name, graph);
  }
  return changed;
}

bool remove_dead_code(ir::Graph& graph) {
  bool changed = false;
  // From the last node to the first: readers are gone before what they read is looked at.
  for (ir::Node* node = graph.terminator()->prev(); node != nullptr;) {
    ir::Node* const prev = node->prev();
    bool read = false;
    for (int r = 0; r < node->result_count() && !read; ++r) read = !node->result(r)->uses().empty();
    if (!read) {
      graph.erase(node);
      changed = true;
    } else {
      for (int s = 0; s < node->subgraph_count(); ++s)
        changed |= remove_dead_code(*node->subgraph(s));
    }
    node = prev;
  }
  return changed;
}

}  // namespace frit::passes
