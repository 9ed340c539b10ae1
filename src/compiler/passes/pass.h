// SPDX-License-Identifier: Apache-2.0
// A pass rewrites a graph; the manager runs a list of them, verifying after each.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace frit::passes {

/// A pass made a node that stands for the ONNX node `origin`.
struct TraceEntry {
  const char* pass = nullptr;
  std::string origin;
};

/// What passes may know besides the graph.
struct PassContext {
  std::uint64_t fold_limit = std::uint64_t{64} << 20;  ///< largest folded result, bytes
  int threads = 1;
  bool verify = true;         ///< run the verifier after each pass
  bool record_trace = false;  ///< keep which pass touched which origin, in `trace`
  std::vector<TraceEntry> trace;
  std::function<void(std::string_view pass, const ir::Graph& graph)> after_pass;  ///< may be empty
  std::function<bool()> cancelled;  ///< polled between passes; true stops with Code::cancelled
};

/// One pass: idempotent, deterministic, linear in the graph. Dead code and verification are the
/// manager's. Returns whether anything changed.
struct Pass {
  const char* name;
  const char* summary;
  bool (*run)(ir::Graph& graph, PassContext& context);
};

/// The pass of that name, null if there is none.
const Pass* find_pass(std::string_view name);
/// All passes in the order of passes.def.
std::span<const Pass* const> all_passes();
/// The passes every build runs, in order (pipeline.cpp).
std::span<const Pass* const> default_pipeline();

/// Runs the passes in order with dead-code removal and verification after each. An Error thrown
/// inside gets the pass's name as context. Returns whether anything changed.
bool run_passes(ir::Graph& graph, std::span<const Pass* const> passes, PassContext& context);
/// Removes nodes whose results nobody reads, subgraphs included; linear.
bool remove_dead_code(ir::Graph& graph);

#define FRIT_PASS(name) extern const Pass name;
#include "compiler/passes/passes.def"
#undef FRIT_PASS

}  // namespace frit::passes
