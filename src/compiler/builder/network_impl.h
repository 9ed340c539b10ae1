// SPDX-License-Identifier: Apache-2.0
// What the public Network hides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/error.h"
#include "compiler/ir/graph.h"
#include "frit/builder.h"

namespace frit {

struct Network::Impl {
  ir::Graph graph;
  std::optional<BuildError> error;    ///< of the first failed call
  std::vector<std::string> warnings;  ///< of parsing
};

/// The value behind a NetTensor, which must be one of this network. Throws
/// Error(invalid_argument).
ir::Value* owned_value(const Network::Impl& impl, void* value, const char* what);

/// The one conversion from the compiler's exceptions to the API's errors; call inside a handler.
BuildError current_error();

// Runs `body` unless an earlier call failed; keeps the first error.
template <class Body>
auto guarded(Network::Impl& impl, Body&& body) -> decltype(body()) {
  if (impl.error) return {};
  try {
    return body();
  } catch (...) {
    impl.error = current_error();
    return {};
  }
}

}  // namespace frit
