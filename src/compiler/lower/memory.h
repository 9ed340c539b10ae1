// SPDX-License-Identifier: Apache-2.0
// Where activations lie in the arena.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace frit::lower {

/// A piece of memory alive from step `first` to step `last`, both included.
struct Lifetime {
  std::uint64_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

/// Offsets for each lifetime, such that pieces alive at the same step never overlap.
struct MemoryPlan {
  std::vector<std::uint64_t> offsets;
  std::uint64_t bytes = 0;        ///< size of the arena
  std::uint64_t lower_bound = 0;  ///< largest sum of bytes alive at one step
};

/// Assigns offsets, multiples of `alignment` (a power of two). Deterministic. Large pieces are
/// placed first at the lowest gap they fit; lists of more than 4096 pieces are placed in order of
/// time.
MemoryPlan plan_memory(std::span<const Lifetime> pieces, std::uint64_t alignment);

}  // namespace frit::lower
