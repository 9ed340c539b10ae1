// SPDX-License-Identifier: Apache-2.0
// A way to compute a Problem. Backends keep ordered arrays of them per op; without tuning the first
// one that supports the problem wins, with tuning the fastest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/tune/problem.h"
#include "plan/plan.h"

namespace frit::tune {

/// What a drafted step reads or writes, relative to its node.
struct Ref {
  enum class Kind : std::uint8_t { none, operand, result, temporary, constant };
  Kind kind = Kind::none;
  int index = 0;
};

/// Data that a tactic made at build time (packed weights).
struct DraftConstant {
  std::string name;
  DType dtype = DType::u8;
  ir::Ints dims;
  std::vector<std::byte> bytes;
};

/// A step before it has tensors and memory.
struct DraftStep {
  plan::StepKind kind = plan::StepKind::kernel;
  std::string module;
  std::string kernel;
  std::vector<plan::Attr> attrs;
  std::vector<Ref> in, out;
};

/// Everything a tactic adds to the engine for one node.
struct Draft {
  std::vector<DraftStep> steps;
  std::vector<ProblemTensor> temporaries;
  std::vector<DraftConstant> constants;
};

/// One point in a tactic's search space; the text is stable and goes into recipes.
struct Config {
  std::string text;
};

/// "Yes", or why not.
struct Support {
  bool ok = true;
  std::string reason;
  static Support yes() { return {}; }
  static Support no(std::string why) { return {false, std::move(why)}; }
};

/// One implementation. Declining is a return value, never an error.
class Tactic {
 public:
  virtual ~Tactic() = default;
  /// "onednn.conv+epilogue", "ref.conv": stable, used by recipes, caches and reports.
  virtual std::string_view name() const = 0;
  /// Whether this node can be computed so, and why not.
  virtual Support support(const ir::Node& node, int threads) const = 0;
  /// Variants to time; the first is the default.
  virtual std::vector<Config> configs(const ir::Node&, int) const { return {Config{}}; }
  /// Steps and constants for the node. Only after `support` said yes. Throws Error.
  virtual Draft emit(const ir::Node& node, const Config& config, int threads) const = 0;
};

/// A tactic that was asked and said no.
struct Declined {
  std::string tactic;
  std::string reason;
};

/// The outcome for one node.
struct Choice {
  const ir::Node* node = nullptr;
  const Tactic* tactic = nullptr;
  Config config;
  std::vector<Declined> declined;
};

/// Attributes of the IR as the plan stores them; tensors and subgraphs have no place there.
std::vector<plan::Attr> plan_attrs(const ir::Attrs& attrs);

}  // namespace frit::tune
