// SPDX-License-Identifier: Apache-2.0
// Reports as JSON files. Every function throws Error(io_error) if the file cannot be written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frit/runtime.h"
#include "tools/common/session.h"
#include "tools/fritexec/infer.h"

namespace frit::exec {

/// A list of queries with trtexec's keys, in milliseconds.
void export_times(const std::string& path, const TimedRun& run);
/// A list of {name, dimensions, values}; values that JSON lacks (NaN, infinities) become null.
void export_outputs(const std::string& path, const tools::Session& session);
/// {count}, then {name, timeMs, averageMs, medianMs, percentage} per step.
void export_profile(const std::string& path, const std::vector<StepTimes>& steps,
                    std::uint64_t count);
/// {"Layers": […], "Bindings": […]}
void export_layers(const std::string& path, const RuntimeEngine& engine);

/// All elements with `separator` between them; both parts of complex numbers; `not_finite` in
/// place of NaN and infinities unless empty.
std::string values_text(const ir::Tensor& tensor, const std::string& separator,
                        const std::string& not_finite = "");

}  // namespace frit::exec
