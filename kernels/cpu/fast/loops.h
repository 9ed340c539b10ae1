// SPDX-License-Identifier: Apache-2.0
// Loops over f32 arrays, compiled for several instruction sets and chosen by the machine.
#pragma once

#include <cstdint>

#include "kernels/cpu/ref/pointwise.h"

namespace frit::kernels::fast {

/// The instruction sets that loops exist for; the machine's best one.
enum class Isa { baseline, avx2 };
Isa isa() noexcept;

/// The f32 loop of a row of pointwise.def, null where it has none. Its result may be one of its
/// operands.
ref::PointwiseLoop simd_loop(int row) noexcept;

}  // namespace frit::kernels::fast
