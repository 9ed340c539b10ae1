// SPDX-License-Identifier: Apache-2.0
// The part of the verifier that follows storage through the steps.
#pragma once

#include <vector>

#include "base/status.h"
#include "plan/plan.h"

namespace frit::plan {

/// Checks that every read finds what was written for it, complete and not overwritten since, and
/// that outputs and workspaces do not destroy operands of the same step. `roots[t]` is the tensor
/// at the end of t's alias chain. Assumes that all ids, ranges and step forms were checked before.
Status verify_dataflow(const Plan& plan, const std::vector<std::int32_t>& roots);

}  // namespace frit::plan
