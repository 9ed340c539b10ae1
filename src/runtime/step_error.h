// SPDX-License-Identifier: Apache-2.0
// Errors that name the step and the ONNX nodes it stands for.
#pragma once

#include <span>

#include "base/status.h"
#include "plan/plan.h"

namespace frit::runtime {

/// Writes "step 'name' (kernel k, ONNX node 'a', 'b'): message" into `out`; allocates nothing.
void format_step_error(std::span<char> out, const plan::Step& step, const char* message) noexcept;

/// The same as a Status of its own.
Status step_error(Code code, const plan::Step& step, const char* message) noexcept;

}  // namespace frit::runtime
