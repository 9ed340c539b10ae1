// SPDX-License-Identifier: Apache-2.0
// The part of the verifier that looks at each step alone.
#pragma once

#include "base/status.h"
#include "plan/plan.h"

namespace frit::plan {

inline constexpr int kMaxBlockDepth = 16;
inline constexpr int kMaxLoopDepth = 4;  ///< verification doubles its work with each level
inline constexpr std::int32_t kMaxStreams = 64;

/// Checks ids, form and attributes of all steps, nested ones included. Assumes checked tensors.
Status verify_steps(const Plan& plan) noexcept;

/// An invalid_engine error in the voice of the verifier.
[[gnu::format(printf, 1, 2)]] Status plan_error(const char* format, ...) noexcept;

}  // namespace frit::plan
