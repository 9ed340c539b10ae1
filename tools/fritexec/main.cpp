// SPDX-License-Identifier: Apache-2.0
// fritexec: builds engines, runs and times them.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "base/status.h"
#include "compiler/error.h"
#include "tools/fritexec/build.h"
#include "tools/fritexec/device.h"
#include "tools/fritexec/export.h"
#include "tools/fritexec/infer.h"
#include "tools/fritexec/log.h"
#include "tools/fritexec/options.h"
#include "tools/fritexec/report.h"
#include "tools/fritexec/shapes.h"
#include "tools/fritexec/test_sets.h"

namespace {

using namespace frit;
using namespace frit::exec;

// "[Frit v000100]" for 0.1.0: two digits for each of major, minor and patch.
std::string version_tag() {
  int major = 0, minor = 0, patch = 0;
  std::sscanf(builder_version(), "%d.%d.%d", &major, &minor, &patch);
  return fmt::format("[Frit v{:02}{:02}{:02}]", major, minor, patch);
}

void banner(const char* state, int argc, char** argv) {
  std::string line = fmt::format("&&&& {} Frit.fritexec {} #", state, version_tag());
  for (int a = 0; a < argc; ++a) line += fmt::format(" {}", argv[a]);
  log_raw(line);
}

void show_layers(const Options& options, const RuntimeEngine& engine) {
  if (options.dump_layers) report_layers(engine);
  if (!options.export_layers.empty()) export_layers(options.export_layers, engine);
}

void infer(const Options& options, const RuntimeEngine& engine) {
  std::vector<tools::Session> streams = open_streams(options, engine);
  log_info("Created execution context with device memory size: {:.6g} MiB",
           static_cast<double>(engine.info().context_bytes) / (1024.0 * 1024.0));
  for (const tools::Bound& bound : streams.front().bindings())
    log_info("{} binding for {} with dimensions {} is created.",
             bound.is_input ? "Input" : "Output", bound.name, dims_text(bound.tensor.dims()));
  log_info("Starting inference");
  const TimedRun run = run_timed(options, streams);
  report_times(options, run);
  if (!options.export_times.empty()) export_times(options.export_times, run);
  const tools::Session& session = streams.front();
  if (options.dump_output) report_outputs(session);
  if (!options.export_output.empty()) export_outputs(options.export_output, session);
  save_outputs(options, session, "test_data_set_0");
  if (!options.dump_profile && options.export_profile.empty()) return;
  std::uint64_t count = 0;
  const std::vector<StepTimes> steps = run_profiled(options, engine, count);
  if (options.dump_profile) report_profile(steps, count);
  if (!options.export_profile.empty()) export_profile(options.export_profile, steps, count);
}

// Without inference nothing writes what these flags ask for.
void warn_unused(const Options& options) {
  const std::pair<const char*, bool> flags[] = {
      {"--dumpOutput", options.dump_output},
      {"--exportOutput", !options.export_output.empty()},
      {"--saveOutputs", !options.save_outputs.empty()},
      {"--exportTimes", !options.export_times.empty()},
      {"--dumpProfile", options.dump_profile},
      {"--exportProfile", !options.export_profile.empty()},
      {"--loadInputs", !options.load_inputs.empty()}};
  for (const auto& [flag, given] : flags)
    if (given) log_warning("{} has no effect: the engine was not run", flag);
}

void check_loaded_shapes(const Options& options, const RuntimeEngine& engine) {
  std::vector<IoDesc> inputs;
  for (int b = 0; b < engine.binding_count(); ++b) {
    const BindingInfo info = engine.binding(b);
    if (info.is_input)
      inputs.push_back({info.name, info.dtype, {info.dims.begin(), info.dims.end()}});
  }
  const InputShapes wanted = match_names(options.shapes, inputs);
  for (const IoDesc& input : inputs) {
    const auto it = wanted.find(input.name);
    if (it != wanted.end() && it->second != input.dims)
      fail(Code::shape_mismatch,
           "--shapes: the engine was built for {}:{}, found {}; build an engine for that shape",
           input.name, dims_text(input.dims), dims_text(it->second));
  }
}

bool run(const Options& options) {
  for (const std::string& warning : options.warnings) log_line('W', warning);
  report_options(options);
  report_device();
  log_info("");
  if (!options.test_data.empty()) return run_test_sets(options);
  std::optional<EngineImage> image;
  RuntimeEngine engine;
  if (options.load_engine.empty()) {
    InputShapes shapes = options.shapes;
    if (!shapes.empty()) shapes = match_names(shapes, model_inputs(options));
    image = build_engine(options, shapes);
    save_engine(options, *image);
    engine = load_image(options, *image);
  } else {
    engine = load_file(options);
    check_loaded_shapes(options, engine);
  }
  show_layers(options, engine);
  if (options.time_deserialize)
    time_loading(options, image ? &*image : nullptr);
  else if (!options.skip_inference)
    infer(options, engine);
  else
    log_info("Skipped inference phase since --skipInference is added.");
  if (options.skip_inference || options.time_deserialize) warn_unused(options);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  // Threads of oneDNN's OpenMP that wait by spinning take the processors from those that compute,
  // which costs several times the run time on a busy machine. Read when the module is opened.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  bool passed = false, announced = false;
  try {
    const std::optional<Options> options = parse_options(argc, argv);
    if (!options) return 0;
    set_verbose(options->verbose);
    banner("RUNNING", argc, argv);
    announced = true;
    passed = run(*options);
  } catch (const Error& error) {
    if (!announced) banner("RUNNING", argc, argv);
    log_error("{}", error.message());
  } catch (const std::bad_alloc&) {
    log_error("there is not enough memory for that; use a smaller model, shape or fewer streams");
  } catch (const std::exception& error) {
    log_error("{}", error.what());
  }
  banner(passed ? "PASSED" : "FAILED", argc, argv);
  return passed ? 0 : 1;
}
