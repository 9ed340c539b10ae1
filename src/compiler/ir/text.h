// SPDX-License-Identifier: Apache-2.0
// The textual IR: printing and parsing round-trip exactly (grammar in docs/ir-text.md).
#pragma once

#include <string>
#include <string_view>

#include "compiler/ir/graph.h"

namespace frit::ir {

struct PrintOptions {
  /// Constants of more elements print as `dense<hash 0x…>` placeholders that do not parse; -1 =
  /// all.
  std::int64_t max_elements = -1;
  bool origins = true;
  /// False: value and graph names and the list of symbols are left out and values are numbered, so
  /// that two graphs of the same structure print alike.
  bool names = true;
};

/// The graph as text. Values without a name get numbers in order of appearance.
std::string print(const Graph& graph, const PrintOptions& options = {});
/// One node on one line, for messages.
std::string print(const Node& node);
/// Fills the empty root `graph` from text. Throws Error(invalid_argument) with line and column,
/// what was expected and what was found. Depth, sizes and counts are bounded by the text's length.
void parse(std::string_view text, Graph& graph);

}  // namespace frit::ir
