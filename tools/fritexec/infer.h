// SPDX-License-Identifier: Apache-2.0
// Runs an engine again and again, on one or several streams.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frit/runtime.h"
#include "tools/common/session.h"
#include "tools/fritexec/options.h"

namespace frit::exec {

/// One query, in milliseconds since the start of the run. The CPU computes within enqueue.
struct Query {
  double start = 0, end = 0;
};

/// All queries of all streams, by start.
struct TimedRun {
  std::vector<Query> queries;
  std::uint64_t count = 0;  ///< also those beyond what `queries` keeps
  double wall_ms = 0;
  std::uint64_t warm_up_count = 0;
  double warm_up_ms = 0;
};

/// Times of one step over a profiled run.
struct StepTimes {
  std::string name;
  double total_ms = 0, average_ms = 0, median_ms = 0, share = 0;
};

/// One session per stream with equal inputs: --loadInputs, the others random. Throws Error.
std::vector<tools::Session> open_streams(const Options& options, const RuntimeEngine& engine);

/// Warms up, then runs for --iterations and --duration. Throws Error.
TimedRun run_timed(const Options& options, std::vector<tools::Session>& streams);

/// Runs --iterations queries (10 at least, or one second) on a context that times its steps.
std::vector<StepTimes> run_profiled(const Options& options, const RuntimeEngine& engine,
                                    std::uint64_t& count);

}  // namespace frit::exec
