// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/build.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "compiler/error.h"
#include "tools/common/session.h"
#include "tools/fritexec/log.h"
#include "tools/fritexec/shapes.h"
#include "tools/fritexec/statistics.h"

namespace frit::exec {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr int kLoads = 10;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

[[noreturn]] void raise(const BuildError& error) {
  const bool named = error.node.empty() || error.message.find(error.node) != std::string::npos;
  throw Error(error.code, named ? error.message : error.message + " (node '" + error.node + "')",
              error.node);
}

void log_message(LogLevel level, std::string_view message) {
  constexpr char kLetters[] = {'E', 'W', 'I', 'V'};
  log_line(kLetters[static_cast<int>(level)], message);
}

Network parse(const std::string& path, const ParseOptions& options) {
  auto network = Network::parse_file(path, options);
  if (!network.ok()) raise(network.error());
  return std::move(*network);
}

// A bar on the terminal; nothing where stderr is none.
class ProgressBar {
 public:
  bool show(const Progress& progress) {
    if (!terminal_) return true;
    const double done = progress.steps == 0 ? 0
                                            : static_cast<double>(progress.step) /
                                                  static_cast<double>(progress.steps);
    const int tenths = static_cast<int>(done * 10);
    if (phase_ == progress.phase && tenths == tenths_) return true;
    phase_ = progress.phase;
    tenths_ = tenths;
    fmt::print(stderr, "\r{:<16}[{:<10}]", phase_,
               std::string(static_cast<std::size_t>(tenths), '#'));
    std::fflush(stderr);
    return true;
  }
  ~ProgressBar() {
    if (!phase_.empty()) std::fputs("\r\x1b[K", stderr);
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  std::string phase_;
  int tenths_ = -1;
};

void log_io(const Network& network) {
  for (const IoDesc& input : network.inputs())
    log_info("Input binding for {} with dimensions {} is created.", input.name,
             dims_text(input.dims));
  for (const IoDesc& output : network.outputs())
    log_info("Output binding for {} with dimensions {} is created.", output.name,
             dims_text(output.dims));
}

void log_report(const BuildReport& report) {
  log_info("Nodes: {} in the model, {} after optimization; {} steps", report.nodes_before,
           report.nodes_after, report.steps.size());
  log_info("Activations: {:.3f} MiB planned (lower bound {:.3f} MiB); weights: {:.3f} MiB",
           static_cast<double>(report.arena_bytes) / kMiB,
           static_cast<double>(report.arena_lower_bound) / kMiB,
           static_cast<double>(report.weights_bytes) / kMiB);
  if (!is_verbose()) return;
  for (const StepReport& step : report.steps) {
    std::string line = fmt::format("Step {}: {}", step.name, step.tactic);
    for (const auto& [tactic, reason] : step.declined)
      line += fmt::format("; not {}: {}", tactic, reason);
    log_line('V', line);
  }
}

void check_verification(const Options& options, const BuildReport& report) {
  if (options.verify == Verify::off) {
    log_info("Verification was switched off (--noVerify).");
    return;
  }
  log_info("Verification against the reference ({}) took {:.3f} sec.",
           options.verify == Verify::full ? "full" : "quick", report.verify_seconds);
  std::size_t failed = 0;
  for (const VerifyRow& row : report.verification) {
    failed += row.passed ? 0 : 1;
    log_line(row.passed ? 'I' : 'W',
             fmt::format("Verified {}: largest error {:.3g} absolute, {:.3g} relative: {}; {}",
                         row.output, row.max_abs_error, row.max_rel_error,
                         row.passed ? "passed" : "FAILED", row.covered));
  }
  if (failed > 0)
    fail(Code::verification_failed,
         "{} of {} verified outputs differ from the reference by more than the tolerance; the "
         "engine was not saved. Build with --noVerify to get it nevertheless",
         failed, report.verification.size());
}

RuntimeEngine::Options load_options(const Options& options) {
  RuntimeEngine::Options load;
  load.cpu_threads = options.cpu_threads;
  load.module_dir = options.module_path.empty() ? nullptr : options.module_path.c_str();
  return load;
}

RuntimeEngine load(const Options& options, const EngineImage* image) {
  RuntimeEngine engine;
  if (image != nullptr)
    tools::require(engine.load(image->bytes, load_options(options)), "loading the built engine");
  else
    tools::require(engine.load(options.load_engine.c_str(), load_options(options)),
                   "loading '" + options.load_engine + "'");
  return engine;
}

}  // namespace

std::vector<IoDesc> model_inputs(const Options& options) {
  ParseOptions parsing;
  parsing.default_dims_to_one = false;
  return parse(options.onnx, parsing).inputs();
}

EngineImage build_engine(const Options& options, const InputShapes& shapes) {
  ParseOptions parsing;
  parsing.shapes = shapes;
  parsing.log = log_message;
  log_info("Start parsing network model.");
  const Stopwatch parse_watch;
  const Network network = parse(options.onnx, parsing);
  log_info("Finished parsing network model. Parse time: {:.3f}", parse_watch.seconds());
  log_io(network);

  BuildConfig config;
  config.cpu_threads = options.cpu_threads;
  config.module_path = options.module_path;
  config.disabled_sources = options.disabled_sources;
  config.verify = options.verify;
  config.log = log_message;
  config.log_level = options.verbose ? LogLevel::verbose : LogLevel::info;
  const Stopwatch build_watch;
  auto built = [&] {
    ProgressBar bar;
    config.progress = [&](const Progress& progress) { return bar.show(progress); };
    return Builder().build(network, config);
  }();
  if (!built.ok()) raise(built.error());
  log_info("Engine built in {:.3f} sec.", build_watch.seconds());
  log_info("Created engine with size: {:.3f} MiB", static_cast<double>(built->bytes.size()) / kMiB);
  log_report(built->report);
  check_verification(options, built->report);
  return std::move(*built);
}

void save_engine(const Options& options, const EngineImage& image) {
  if (options.save_engine.empty()) return;
  if (const auto error = image.save(options.save_engine)) raise(*error);
  log_info("Saved engine to {}", options.save_engine);
}

RuntimeEngine load_file(const Options& options) {
  const Stopwatch watch;
  RuntimeEngine engine = load(options, nullptr);
  const double seconds = watch.seconds();
  std::error_code error;
  const auto bytes = std::filesystem::file_size(options.load_engine, error);
  log_info("Engine loaded in {:.6f} sec.", seconds);
  if (!error) log_info("Loaded engine with size: {:.3f} MiB", static_cast<double>(bytes) / kMiB);
  log_info("Engine deserialized in {:.6f} sec.", seconds);
  const frit_engine_info info = engine.info();
  for (int v = 0; v < info.verification_count; ++v) {
    frit_verification_info row = {};
    row.size = sizeof row;
    if (frit_engine_get_verification(engine.handle(), v, &row) != FRIT_OK) continue;
    log_info("Verified when built: {}: largest error {:.3g} absolute, {:.3g} relative: {}; {}",
             row.output, row.max_abs_error, row.max_rel_error,
             row.passed != 0 ? "passed" : "FAILED", row.covered);
  }
  return engine;
}

RuntimeEngine load_image(const Options& options, const EngineImage& image) {
  const Stopwatch watch;
  RuntimeEngine engine = load(options, &image);
  log_info("Engine deserialized in {:.6f} sec.", watch.seconds());
  return engine;
}

void time_loading(const Options& options, const EngineImage* image) {
  std::vector<double> times;
  for (int l = 0; l < kLoads; ++l) {
    const Stopwatch watch;
    const RuntimeEngine engine = load(options, image);
    times.push_back(watch.seconds() * 1e3);
  }
  log_info("Deserialization time over {} more loads: {}", kLoads,
           summary_text(summarize(times, options.percentiles)));
}

}  // namespace frit::exec
