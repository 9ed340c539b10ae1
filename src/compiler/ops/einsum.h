// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frit::ir {

/// Stands for "..." in a term.
inline constexpr char kEllipsis = '.';

/// An equation taken apart: one label per axis, kEllipsis for the axes between.
struct EinsumEquation {
  std::vector<std::string> inputs;
  std::string output;  ///< explicit, or what the equation implies
};

/// Reads "ij,jk->ik" and the like; spaces are ignored. Throws Error(invalid_model) on stray
/// characters, repeated ellipses, repeated or unknown output labels.
EinsumEquation parse_einsum(std::string_view equation);

}  // namespace frit::ir
