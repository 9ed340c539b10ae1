// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/infer.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>

#include "compiler/error.h"
#include "tools/fritexec/inputs.h"
#include "tools/fritexec/statistics.h"

namespace frit::exec {
namespace {

using Clock = std::chrono::steady_clock;

// Queries kept per stream; what is beyond only counts.
constexpr std::size_t kKeptQueries = std::size_t{1} << 22;
constexpr double kProfileMs = 1000;
constexpr std::uint64_t kProfileMost = 10000;

volatile std::sig_atomic_t interrupted = 0;

extern "C" void on_interrupt(int /*signal*/) {
  interrupted = 1;
}

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// What one stream did.
struct StreamRun {
  std::vector<Query> queries;
  std::uint64_t count = 0, warm_up_count = 0;
  double warm_up_ms = 0;
  std::exception_ptr error;
};

// Sets the common start once every stream is warm.
struct MarkStart {
  Clock::time_point* start;
  void operator()() noexcept { *start = Clock::now(); }
};

void warm_up(const Options& options, tools::Session& session, StreamRun& run) {
  const auto start = Clock::now();
  while (ms_since(start) < options.warm_up && interrupted == 0) {
    session.run();
    ++run.warm_up_count;
  }
  run.warm_up_ms = ms_since(start);
}

void measure(const Options& options, tools::Session& session, Clock::time_point start,
             StreamRun& run) {
  const auto iterations = static_cast<std::uint64_t>(options.iterations);
  const double least_ms = options.duration * 1e3;
  const auto idle = std::chrono::duration<double, std::milli>(options.idle_time);
  while (interrupted == 0) {
    const double begin = ms_since(start);
    if (options.duration >= 0 && run.count >= iterations && begin >= least_ms) return;
    session.run();
    const double end = ms_since(start);
    if (run.queries.size() < kKeptQueries) run.queries.push_back({begin, end});
    ++run.count;
    if (options.idle_time > 0) std::this_thread::sleep_for(idle);
  }
}

TimedRun merge(std::vector<StreamRun>& runs) {
  TimedRun all;
  for (StreamRun& run : runs) {
    if (run.error) std::rethrow_exception(run.error);
    all.queries.insert(all.queries.end(), run.queries.begin(), run.queries.end());
    all.count += run.count;
    all.warm_up_count += run.warm_up_count;
    all.warm_up_ms = std::max(all.warm_up_ms, run.warm_up_ms);
  }
  std::ranges::sort(all.queries, {}, &Query::start);
  return all;
}

}  // namespace

std::vector<tools::Session> open_streams(const Options& options, const RuntimeEngine& engine) {
  std::vector<tools::Session> streams;
  streams.reserve(static_cast<std::size_t>(options.streams));
  for (int s = 0; s < options.streams; ++s) {
    streams.emplace_back(engine);
    fill_inputs(options, streams.back(), s == 0);
  }
  return streams;
}

TimedRun run_timed(const Options& options, std::vector<tools::Session>& streams) {
  // An endless run ends with Ctrl-C and still reports.
  if (options.duration < 0) {
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
  }
  Clock::time_point start;
  std::barrier<MarkStart> gate(static_cast<std::ptrdiff_t>(streams.size()), MarkStart{&start});
  std::vector<StreamRun> runs(streams.size());
  const auto drive = [&](std::size_t s) {
    StreamRun& run = runs[s];
    try {
      warm_up(options, streams[s], run);
    } catch (...) {
      run.error = std::current_exception();
    }
    gate.arrive_and_wait();
    if (run.error) return;
    try {
      measure(options, streams[s], start, run);
    } catch (...) {
      run.error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t s = 1; s < streams.size(); ++s) threads.emplace_back(drive, s);
    drive(0);
  }
  const double wall_ms = ms_since(start);
  TimedRun all = merge(runs);
  all.wall_ms = wall_ms;
  return all;
}

std::vector<StepTimes> run_profiled(const Options& options, const RuntimeEngine& engine,
                                    std::uint64_t& count) {
  tools::Session session(engine, true);
  fill_inputs(options, session, false);
  session.run();
  tools::require(session.context().reset_profile(), "profiling");
  const std::size_t steps = session.context().profile().size();
  std::vector<std::vector<double>> times(steps);
  const auto least = static_cast<std::uint64_t>(std::max(options.iterations, 10));
  const auto start = Clock::now();
  for (count = 0; (count < least || ms_since(start) < kProfileMs) && count < kProfileMost;
       ++count) {
    session.run();
    const auto profile = session.context().profile();
    for (std::size_t s = 0; s < steps; ++s)
      times[s].push_back(static_cast<double>(profile[s].last_ns) * 1e-6);
  }
  std::vector<StepTimes> result;
  double total = 0;
  const auto profile = session.context().profile();
  for (std::size_t s = 0; s < steps; ++s) {
    StepTimes step;
    step.name = engine.step(static_cast<int>(s)).name;
    step.total_ms = static_cast<double>(profile[s].total_ns) * 1e-6;
    step.average_ms = step.total_ms / static_cast<double>(count);
    step.median_ms = summarize(std::move(times[s]), {}).median;
    total += step.total_ms;
    result.push_back(std::move(step));
  }
  for (StepTimes& step : result) step.share = total > 0 ? step.total_ms / total * 100 : 0;
  return result;
}

}  // namespace frit::exec
