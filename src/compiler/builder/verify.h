// SPDX-License-Identifier: Apache-2.0
// Compares an engine with the reference evaluator.
#pragma once

#include <functional>
#include <vector>

#include "compiler/backend/backend.h"
#include "compiler/ir/graph.h"
#include "frit/builder.h"

namespace frit::builder {

/// What verification compares and how long it may take.
struct VerifyRequest {
  const ir::Graph& reference;  ///< as imported, before any pass
  const ir::Graph& optimized;  ///< what the engine was lowered from
  std::span<const std::byte> engine;
  const backend::Backend& backend;
  const BuildConfig& config;
  int threads = 1;
};

/// Runs the comparison that config.verify asks for. One row per output for whole runs; one row for
/// all sampled steps else. Throws Error if either side fails to run, or on cancellation.
std::vector<VerifyRow> verify_engine(const VerifyRequest& request);

}  // namespace frit::builder
