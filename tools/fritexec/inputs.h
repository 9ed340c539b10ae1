// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/common/session.h"
#include "tools/fritexec/options.h"

namespace frit::exec {

/// Fills inputs from --loadInputs and the others with seeded random values: reals in [-1, 1),
/// integers and booleans 0 or 1, so that they are valid indices. Throws Error.
void fill_inputs(const Options& options, tools::Session& session, bool log);

}  // namespace frit::exec
