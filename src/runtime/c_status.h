// SPDX-License-Identifier: Apache-2.0
// How the C ABI reports errors.
#pragma once

#include "base/status.h"
#include "frit/runtime_c.h"

namespace frit::runtime {

/// Keeps the message for frit_last_error of this thread (no allocation) and returns the code.
frit_status report(const Status& status) noexcept;

}  // namespace frit::runtime
