// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/report.h"

#include <algorithm>

#include "tools/fritexec/export.h"
#include "tools/fritexec/log.h"
#include "tools/fritexec/shapes.h"
#include "tools/fritexec/statistics.h"

namespace frit::exec {
namespace {

// More groups than that are elided in the middle.
constexpr std::size_t kShownGroups = 400;
constexpr double kUnstable = 0.025;

void report_trace(const Options& options, const std::vector<Query>& queries) {
  log_section("Trace details");
  log_info("Trace averages of {} runs:", options.average_runs);
  const auto size = static_cast<std::size_t>(options.average_runs);
  const std::size_t groups = queries.size() / size;
  for (std::size_t g = 0; g < groups; ++g) {
    if (groups > kShownGroups && g == kShownGroups / 2) {
      log_info("...");
      g = groups - kShownGroups / 2;
    }
    double sum = 0;
    for (std::size_t q = g * size; q < (g + 1) * size; ++q)
      sum += queries[q].end - queries[q].start;
    const double average = sum / static_cast<double>(size);
    log_info(
        "Average on {} runs - GPU latency: {:.6g} ms - Host latency: {:.6g} ms (enqueue {:.6g} "
        "ms)",
        size, average, average, average);
  }
}

std::string joined(const std::vector<double>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

std::string or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

}  // namespace

void report_times(const Options& options, const TimedRun& run) {
  log_info("Warmup completed {} queries over {:.6g} ms", run.warm_up_count, run.warm_up_ms);
  log_info("Timing trace has {} queries over {:.6g} s", run.count, run.wall_ms / 1e3);
  report_trace(options, run.queries);
  std::vector<double> times;
  times.reserve(run.queries.size());
  for (const Query& q : run.queries) times.push_back(q.end - q.start);
  const Summary compute = summarize(std::move(times), options.percentiles);
  const Summary none = summarize({}, options.percentiles);
  log_section("Performance summary");
  log_info("Throughput: {:.6g} qps",
           run.wall_ms > 0 ? static_cast<double>(run.count) / run.wall_ms * 1e3 : 0.0);
  log_info("Latency: {}", summary_text(compute));
  log_info("Enqueue Time: {}", summary_text(compute));
  log_info("H2D Latency: {}", summary_text(none));
  log_info("GPU Compute Time: {}", summary_text(compute));
  log_info("D2H Latency: {}", summary_text(none));
  log_info("Total Host Walltime: {:.6g} s", run.wall_ms / 1e3);
  log_info("Total GPU Compute Time: {:.6g} s", compute.total / 1e3);
  log_info(
      "On the CPU a query is computed within its enqueue, in host memory: compute and enqueue "
      "times are equal and H2D and D2H are zero.");
  if (compute.variation > kUnstable)
    log_warning(
        "* GPU compute time is unstable, with coefficient of variance = {:.4g}%; other load "
        "on the machine is a usual cause.",
        compute.variation * 100);
  if (options.streams > 1)
    log_warning("* Latency is not reliable with {} streams: they share the processors.",
                options.streams);
  log_line('V',
           "Throughput: queries by host walltime. Latency: from the start of a query to its "
           "outputs. Total Host Walltime: from the first query after warm-up to the end of "
           "the last. Total GPU Compute Time: sum of the compute times of all queries.");
}

void report_profile(const std::vector<StepTimes>& steps, std::uint64_t count) {
  log_section(fmt::format("Profile ({} iterations )", count));
  log_info("{:>12} {:>12} {:>12} {:>8}   {}", "Time(ms)", "Avg.(ms)", "Median(ms)", "Time(%)",
           "Layer");
  StepTimes total{.name = "Total"};
  for (const StepTimes& step : steps) {
    log_info("{:12.2f} {:12.4f} {:12.4f} {:8.1f}   {}", step.total_ms, step.average_ms,
             step.median_ms, step.share, step.name);
    total.total_ms += step.total_ms;
    total.average_ms += step.average_ms;
    total.median_ms += step.median_ms;
    total.share += step.share;
  }
  log_info("{:12.2f} {:12.4f} {:12.4f} {:8.1f}   {}", total.total_ms, total.average_ms,
           total.median_ms, total.share, total.name);
}

void report_layers(const RuntimeEngine& engine) {
  log_section("Layer Information");
  const int count = engine.info().step_count;
  for (int s = 0; s < count; ++s) {
    const frit_step_info step = engine.step(s);
    std::string origins;
    for (int o = 0; o < step.origin_count; ++o)
      origins += (o == 0 ? "" : ", ") + std::string(step.origins[o]);
    log_info("{}: {} {}{}{}", step.name, step.kind, step.module, *step.module != '\0' ? ":" : "",
             step.kernel + (origins.empty() ? "" : " <- " + origins));
  }
}

void report_outputs(const tools::Session& session) {
  log_section("Output Tensors");
  for (const tools::Bound& bound : session.bindings()) {
    if (bound.is_input) continue;
    log_info("{}: ({})", bound.name, dims_text(bound.tensor.dims()));
    log_info("{}", values_text(bound.tensor, " "));
  }
}

void report_options(const Options& options) {
  log_section("Model Options");
  log_info("Format: {}", options.onnx.empty() ? "*" : "ONNX");
  log_info("Model: {}", options.onnx);
  log_section("Build Options");
  if (options.onnx.empty()) {
    log_info("Nothing is built: --loadEngine");
  } else {
    std::string shapes;
    for (const auto& [name, dims] : options.shapes)
      shapes += fmt::format("{}{}:{}", shapes.empty() ? "" : ",", name, dims_text(dims));
    constexpr const char* kVerify[] = {"off", "quick", "full"};
    log_info("Input build shapes: {}", shapes.empty() ? "model" : shapes);
    log_info("Precision: the model's own types");
    log_info("Verification: {}", kVerify[static_cast<int>(options.verify)]);
    log_info("Disabled tactic sources: {}",
             or_none(fmt::format("{}", fmt::join(options.disabled_sources, ","))));
  }
  log_info("Save engine: {}", options.save_engine);
  log_info("Load engine: {}", options.load_engine);
  log_section("System Options");
  log_info("Backend: cpu");
  log_info("CPU threads: {}",
           options.cpu_threads == 0 ? "all" : std::to_string(options.cpu_threads));
  log_info("Module path: {}", or_none(options.module_path));
  log_section("Inference Options");
  log_info("Iterations: {}", options.iterations);
  log_info("Duration: {:g}s (+ {:g}ms warm up)", options.duration, options.warm_up);
  log_info("Idle time: {:g}ms", options.idle_time);
  log_info("Inference Streams: {}", options.streams);
  log_info("Skip inference: {}", options.skip_inference ? "Enabled" : "Disabled");
  log_info("Test data: {}", or_none(options.test_data));
  log_section("Reporting Options");
  log_info("Verbose: {}", options.verbose ? "Enabled" : "Disabled");
  log_info("Averages: {} inferences", options.average_runs);
  log_info("Percentiles: {}", joined(options.percentiles));
  log_info("Export timing to JSON file: {}", options.export_times);
  log_info("Export output to JSON file: {}", options.export_output);
  log_info("Export profile to JSON file: {}", options.export_profile);
}

}  // namespace frit::exec
