// SPDX-License-Identifier: Apache-2.0
// Plan <-> FlatBuffer, apart from the raw sections of the file.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "plan/plan.h"

namespace frit::plan {

/// Serializes everything in `plan`; may throw std::bad_alloc.
Result<std::vector<std::byte>> encode_metadata(const Plan& plan);

/// Checks the buffer's structure and unpacks it; the plan still needs `verify`. Memory is bounded
/// by a multiple of the buffer's size. May throw std::bad_alloc.
Result<Plan> decode_metadata(std::span<const std::byte> buffer);

}  // namespace frit::plan
