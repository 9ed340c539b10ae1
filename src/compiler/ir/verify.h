// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compiler/ir/graph.h"

namespace frit::ir {

/// Checks every invariant: topological order, use lists, arity, attribute names and kinds, traits'
/// subgraph forms, and that inference agrees with the recorded result types. Throws
/// Error(internal) naming the node; linear in the graph.
void verify(const Graph& graph);

}  // namespace frit::ir
