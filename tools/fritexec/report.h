// SPDX-License-Identifier: Apache-2.0
// The report on the console, in trtexec's words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frit/runtime.h"
#include "tools/common/session.h"
#include "tools/fritexec/infer.h"
#include "tools/fritexec/options.h"

namespace frit::exec {

/// The option sections, the device and the version.
void report_options(const Options& options);
/// Trace details and performance summary.
void report_times(const Options& options, const TimedRun& run);
/// A row per step and a total.
void report_profile(const std::vector<StepTimes>& steps, std::uint64_t count);
/// A line per step: kernel and the ONNX nodes it computes.
void report_layers(const RuntimeEngine& engine);
/// All elements of all outputs.
void report_outputs(const tools::Session& session);

}  // namespace frit::exec
