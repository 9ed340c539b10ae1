// SPDX-License-Identifier: Apache-2.0
// Lists of "name:value,name:value" on the command line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frit/builder.h"

namespace frit::exec {

/// Splits at commas; a name ends at the last colon of its entry, so it may hold colons itself.
/// Throws Error(invalid_argument) naming `flag`.
std::vector<std::pair<std::string, std::string>> parse_pairs(std::string_view text,
                                                             std::string_view flag);

/// Reads "name:AxBxC,name:scalar". Throws Error(invalid_argument) naming `flag`.
InputShapes parse_shapes(std::string_view text, std::string_view flag);

/// Replaces names with one `*` by the inputs that match. Throws Error(not_found) naming the inputs
/// if a name matches none.
InputShapes match_names(const InputShapes& shapes, const std::vector<IoDesc>& inputs);

/// "1x3x224x224", "scalar" for rank 0.
std::string dims_text(const std::vector<std::int64_t>& dims);

}  // namespace frit::exec
