// SPDX-License-Identifier: Apache-2.0
// The rows of pointwise.def as loops over tiles.
#pragma once

#include <cstdint>

#include "kernels/cpu/ref/tile.h"

namespace frit::kernels::ref {

/// What pointwise.def says about an op.
struct PointwiseRow {
  const char* name;
  int arity;
  char group;                 ///< the class letter
  const char* attributes[2];  ///< names bound to p0 and p1, "" where unused
};

/// Number of a row, its position in pointwise.def.
enum PointwiseIndex : int {
#define FRIT_PW(name, arity, group, attr0, attr1, expression) kPw_##name,
#include "kernels/common/pointwise.def"
#undef FRIT_PW
  kPointwiseRows
};

const PointwiseRow& pointwise_row(int row) noexcept;

/// Evaluates a row on tiles of n elements. Operands are of the compute type of their element type,
/// results too (bool is u64); the result may be one of the operands if they are equally wide.
using PointwiseLoop = void (*)(std::int64_t n, const void* const* src, void* dst, double p0,
                               double p1);

/// The loop for operands computed in `c` (for `where`: the chosen ones); null where the row has
/// none.
PointwiseLoop pointwise_loop(int row, Compute c) noexcept;
PointwiseLoop pointwise_real_loop(int row, Compute c) noexcept;
PointwiseLoop pointwise_integer_loop(int row, Compute c) noexcept;

/// Checks the element types of a row's operands and result against its class; returns the compute
/// type that selects the loop.
Compute check_pointwise_types(Checker& c, int row, const DType* operands, DType result);

/// A parameter as elements of type t can express it: integers limit it to their range.
double bind_parameter(DType t, double value) noexcept;

}  // namespace frit::kernels::ref
