// SPDX-License-Identifier: Apache-2.0
// Counts every allocation of the process; zeros throughout where a sanitizer owns the allocator.
#pragma once

#include <cstdint>

namespace frit::test {

/// Allocations and their bytes since the program started.
struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

Allocations allocations();

/// Whether `allocations` counts in this build.
bool allocations_counted();

}  // namespace frit::test
