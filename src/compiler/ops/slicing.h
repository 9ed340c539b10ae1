// SPDX-License-Identifier: Apache-2.0
// Slices of one axis as ONNX defines them.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/dim.h"

namespace frit::ir {

/// First element and number of elements of a slice of one axis.
struct SliceRange {
  Dim start;
  Dim size;
};

/// ONNX Slice of an axis of size `extent`: negative bounds count from the end, then both are
/// clamped. Nothing if a bound's sign is unknown. `step` is not 0.
std::optional<SliceRange> slice_range(const Dim& extent, const Dim& start, const Dim& end,
                                      std::int64_t step);

}  // namespace frit::ir
