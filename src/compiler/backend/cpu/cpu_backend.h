// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "compiler/backend/backend.h"

namespace frit::backend {

/// The CPU backend: kernels built in, and those of the optional modules that can be opened.
std::unique_ptr<Backend> open_cpu(const BackendOptions& options);

}  // namespace frit::backend
