// SPDX-License-Identifier: Apache-2.0
// Finds and opens optional modules; used by the runtime for engines and by the builder for tactics.
#pragma once

#include "base/status.h"
#include "runtime/module.h"

namespace frit::runtime {

/// Opens `libfrit_<name>.so` in `directory`, or, when that is null or empty, beside the library or
/// program that holds this code, or in ../lib of it. Opened modules stay for the life of the
/// process, since their thread pools cannot be unloaded. Errors: not_found with the places
/// searched, unsupported for another ABI. Thread-safe.
Result<const Module*> open_module(const char* name, const char* directory) noexcept;

/// The kernel of that full name in `module`, or null.
const kernels::Kernel* find_kernel(const Module& module, const char* name) noexcept;

}  // namespace frit::runtime
