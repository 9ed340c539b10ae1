// SPDX-License-Identifier: Apache-2.0
// A target of compilation: ordered tactics per op.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/tune/tactic.h"
#include "plan/plan.h"

namespace frit::backend {

/// What a backend needs to know before it can list tactics.
struct BackendOptions {
  int threads = 1;
  std::string module_path;            ///< folder of optional modules; "" = beside the library
  std::vector<std::string> disabled;  ///< tactic sources switched off ("onednn", "cpu")
};

/// One target. Owns its tactics and opened modules; outlives what it drafted.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Instruction set or GPU, for the plan.
  virtual std::string target() const = 0;
  /// Candidates for an op, in order of preference.
  virtual std::span<const tune::Tactic* const> tactics(const ir::Node& node) const = 0;
  /// Modules that steps of these names need, with their fingerprints.
  virtual plan::ModuleRequirement requirement(std::string_view module) const = 0;
  /// Notes made while opening ("module onednn not found: …"); empty if all is well.
  virtual const std::vector<std::string>& notes() const = 0;
};

/// Opens the backend of that name ("cpu"). Throws Error(unsupported) for names it does not know.
std::unique_ptr<Backend> open_backend(std::string_view name, const BackendOptions& options);

/// First tactic in order that supports the node. Throws Error(unsupported) naming the node and each
/// tactic's reason if none does.
tune::Choice choose_default(const Backend& backend, const ir::Node& node, int threads);

}  // namespace frit::backend
