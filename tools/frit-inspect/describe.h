// SPDX-License-Identifier: Apache-2.0
// What frit-inspect derives from a plan before it prints text or JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace frit::inspect {

/// Which parts of an engine to show.
struct Sections {
  bool bindings = false;
  bool steps = false;
  bool memory = false;
  bool modules = false;
  bool verification = false;
};

/// A step with its depth: 0 for the main list, more inside branches and loops.
struct NestedStep {
  const plan::Step* step = nullptr;
  int depth = 0;
  int block = 0;  ///< which block of the owner it lies in
};

/// A range of the arena that one tensor, or one step's workspace, owns for a span of main steps.
struct Region {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::int32_t tensor = plan::kNone;  ///< kNone: workspace
  int first = 0;                      ///< number of the first main step that uses it
  int last = 0;                       ///< number of the last one
};

/// Name of a dim: its number, or the name of its symbol.
std::string dim_text(const plan::Plan& plan, std::int64_t dim);

/// Type of a tensor or binding as text: "f32[1,3,N,N]".
std::string type_text(const plan::Plan& plan, DType dtype, const std::vector<std::int64_t>& dims);

/// Where a tensor lies: "arena+4096", "constant 7", "binding input", "none".
std::string place_text(const plan::Plan& plan, const plan::Tensor& tensor);

/// Value of an attribute as text.
std::string attr_text(const plan::Attr& attr);

/// All steps in order of execution, those of blocks after their owner.
std::vector<NestedStep> nested_steps(const plan::Plan& plan);

/// The ranges of the arena by offset, then by first use.
std::vector<Region> arena_regions(const plan::Plan& plan);

/// Total bytes of weights with equal contents counted once.
std::uint64_t distinct_weight_bytes(const plan::Plan& plan);

/// The chosen sections as text for people.
std::string print_text(const plan::Contents& engine, const Sections& sections);

/// The chosen sections as one JSON object, indented by two.
std::string print_json(const plan::Contents& engine, const Sections& sections);

}  // namespace frit::inspect
