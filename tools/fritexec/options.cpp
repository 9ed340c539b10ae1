// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "compiler/error.h"
#include "tools/fritexec/flags.h"
#include "tools/fritexec/shapes.h"

namespace frit::exec {
namespace {

// Texts that need more than CLI11 to read.
struct Raw {
  std::string shapes, min_shapes, opt_shapes, max_shapes, load_inputs, tactic_sources, verify;
  std::string backend = "cpu";
  int device = 0;
  bool no_verify = false, threads = false;
};

void add_build_options(CLI::App& app, Options& options, Raw& raw) {
  app.option_defaults()->group("Model and build");
  app.add_option("--onnx", options.onnx, "ONNX model to build an engine from");
  app.add_option("--saveEngine", options.save_engine, "write the engine to this file");
  app.add_option("--loadEngine", options.load_engine, "run this engine instead of building one");
  app.add_option("--shapes", raw.shapes, "shapes of inputs: name:AxBxC,… or name:scalar");
  app.add_option("--optShapes", raw.opt_shapes, "used as --shapes; one shape per engine so far");
  app.add_option("--minShapes", raw.min_shapes, "checked, otherwise without effect so far");
  app.add_option("--maxShapes", raw.max_shapes, "checked, otherwise without effect so far");
  app.add_option("--backend", raw.backend, "cpu (default); cuda is not in this version");
  app.add_option("--device", raw.device, "GPU index; without effect on the CPU");
  app.add_option("--cpuThreads", options.cpu_threads, "threads; 0 (default): all processors")
      ->check(CLI::Range(0, 1024));
  app.add_option("--tacticSources", raw.tactic_sources,
                 "kernels that may be used: +X,-Y of ONEDNN and FRIT");
  app.add_option("--modulePath", options.module_path, "folder of kernel modules");
  app.add_option("--verify", raw.verify,
                 "compare the engine with the reference: quick (default, at most 5 s) or full")
      ->expected(0, 1);
  app.add_flag("--noVerify", raw.no_verify, "do not compare the engine with the reference");
  app.add_flag("--skipInference,--buildOnly", options.skip_inference, "build and stop");
  app.add_flag("--timeDeserialize", options.time_deserialize, "time the loading and stop");
}

void add_inference_options(CLI::App& app, Options& options, Raw& raw) {
  app.option_defaults()->group("Inference");
  app.add_option("--loadInputs", raw.load_inputs, "raw binary inputs: name:file,…; else random");
  app.add_option("--iterations", options.iterations, "run at least so often [10]")
      ->check(CLI::Range(0, 1 << 30));
  app.add_option("--duration", options.duration, "and so many seconds [3]; -1: until interrupted")
      ->check(CLI::Range(-1.0, 1e6));
  app.add_option("--warmUp", options.warm_up, "milliseconds of warm-up [200]")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--idleTime", options.idle_time, "milliseconds between two runs [0]")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--avgRuns", options.average_runs, "runs per line of the trace [10]")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--percentile", options.percentiles, "percentiles to report [90,95,99]")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0));
  app.add_option("--infStreams,--streams", options.streams, "contexts that run at once [1]")
      ->check(CLI::Range(1, 256));
  app.add_flag("--threads", raw.threads, "a thread per stream; always so on the CPU");
  app.option_defaults()->group("Test data");
  app.add_option("--testData", options.test_data, "run and compare the test_data_set_N of DIR");
  app.add_option("--rtol", options.rtol, "relative tolerance of --testData [1e-3]")
      ->check(CLI::Range(0.0, 1e30));
  app.add_option("--atol", options.atol, "absolute tolerance of --testData [1e-5]")
      ->check(CLI::Range(0.0, 1e30));
  app.add_option("--saveOutputs", options.save_outputs,
                 "write outputs to DIR/test_data_set_N/output_K.pb");
}

void add_report_options(CLI::App& app, Options& options) {
  app.option_defaults()->group("Reporting");
  app.add_flag("--verbose", options.verbose, "log more");
  app.add_flag("--dumpOutput", options.dump_output, "print the outputs");
  app.add_flag("--dumpProfile", options.dump_profile, "print the time of every step");
  app.add_flag("--dumpLayerInfo", options.dump_layers, "print the steps of the engine");
  app.add_option("--exportTimes", options.export_times, "times of all runs as JSON");
  app.add_option("--exportOutput", options.export_output, "outputs as JSON");
  app.add_option("--exportProfile", options.export_profile, "times of all steps as JSON");
  app.add_option("--exportLayerInfo", options.export_layers, "steps of the engine as JSON");
}

// Adds the flags that change nothing, hidden in the list and named below it.
void add_other_options(CLI::App& app, std::vector<std::vector<std::string>>& values) {
  app.option_defaults()->group("");
  std::string warned, refused;
  for (std::size_t f = 0; f < other_flags().size(); ++f) {
    const OtherFlag& flag = other_flags()[f];
    const std::string name = std::string("--") + flag.name;
    app.add_option(name, values[f])
        ->expected(flag.takes_value && flag.treatment == Treatment::warn ? 1 : 0, 1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    (flag.treatment == Treatment::warn ? warned : refused) += " " + name;
  }
  app.footer("Accepted with a warning, since they change nothing here:" + warned +
             "\n\nRefused, with the reason:" + refused);
}

void report_other_options(const CLI::App& app, Options& options) {
  for (const OtherFlag& flag : other_flags()) {
    if (app.get_option(std::string("--") + flag.name)->count() == 0) continue;
    if (flag.treatment == Treatment::refuse)
      fail(Code::unsupported, "--{} is refused: {}", flag.name, flag.reason);
    options.warnings.push_back(fmt::format("--{} has no effect: {}", flag.name, flag.reason));
  }
}

[[noreturn]] void refuse_unknown(const CLI::App& app, const std::string& argument) {
  if (!argument.starts_with("-"))
    fail(Code::invalid_argument, "'{}' is no flag; a model is given as --onnx={}, an engine as {}",
         argument, argument, "--loadEngine=FILE");
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  std::string name = argument.substr(0, argument.find('='));
  name.erase(0, name.find_first_not_of('-'));
  const std::string close = nearest(name, names);
  fail(Code::invalid_argument, "unknown flag '{}'{}; --help lists all flags", argument,
       close.empty() ? "" : "; did you mean --" + close + "?");
}

void read_shapes(const Raw& raw, Options& options) {
  if (!raw.min_shapes.empty()) static_cast<void>(parse_shapes(raw.min_shapes, "--minShapes"));
  if (!raw.max_shapes.empty()) static_cast<void>(parse_shapes(raw.max_shapes, "--maxShapes"));
  if (!raw.min_shapes.empty() || !raw.max_shapes.empty())
    options.warnings.emplace_back(
        "--minShapes and --maxShapes have no effect: engines of this version have one fixed shape");
  if (!raw.opt_shapes.empty()) {
    options.shapes = parse_shapes(raw.opt_shapes, "--optShapes");
    options.warnings.emplace_back(
        "--optShapes is used as the fixed shape: engines of this version have one");
  }
  if (raw.shapes.empty()) return;
  for (auto& [name, dims] : parse_shapes(raw.shapes, "--shapes"))
    options.shapes[name] = std::move(dims);
}

void read_tactic_sources(const Raw& raw, Options& options) {
  if (raw.tactic_sources.empty()) return;
  std::string_view rest = raw.tactic_sources;
  for (;;) {
    const std::size_t end = rest.find(',');
    const std::string_view entry = rest.substr(0, end);
    const std::string_view name = entry.empty() ? entry : entry.substr(1);
    if (name.empty() || (entry[0] != '+' && entry[0] != '-'))
      fail(Code::invalid_argument, "--tacticSources: expected +NAME or -NAME, found '{}'", entry);
    if (name != "ONEDNN" && name != "FRIT")
      options.warnings.push_back(fmt::format(
          "--tacticSources={} has no effect: the sources here are ONEDNN and FRIT", entry));
    else if (entry[0] == '-')
      options.disabled_sources.emplace_back(name == "ONEDNN" ? "onednn" : "cpu");
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

void read_verify(const CLI::App& app, const Raw& raw, Options& options) {
  options.verify_given = app.get_option("--verify")->count() > 0;
  if (options.verify_given && raw.no_verify)
    fail(Code::invalid_argument, "--verify and --noVerify exclude each other; give one");
  if (options.verify_given) {
    if (raw.verify != "" && raw.verify != "full" && raw.verify != "quick")
      fail(Code::invalid_argument, "--verify expects full or quick, found '{}'", raw.verify);
    options.verify = raw.verify == "quick" ? Verify::quick : Verify::full;
  }
  if (raw.no_verify) options.verify = Verify::off;
}

void check_together(const CLI::App& app, const Raw& raw, Options& options) {
  if (raw.backend == "cuda")
    fail(Code::unsupported, "--backend=cuda is not in this version; use --backend=cpu");
  if (raw.backend != "cpu")
    fail(Code::invalid_argument, "--backend expects cpu or cuda, found '{}'", raw.backend);
  if (options.onnx.empty() == options.load_engine.empty())
    fail(Code::invalid_argument, "give either --onnx=FILE to build an engine or --loadEngine=FILE");
  if (app.get_option("--device")->count() > 0)
    options.warnings.emplace_back(
        "--device has no effect: it is a GPU's index, and this runs on "
        "the CPU");
  if (raw.threads)
    options.warnings.emplace_back("--threads has no effect: every stream has its thread anyway");
  const auto useless = [&](const char* flag, const char* reason) {
    if (app.get_option(flag)->count() > 0)
      options.warnings.push_back(fmt::format("{} has no effect {}", flag, reason));
  };
  if (!options.load_engine.empty())
    for (const char* flag : {"--saveEngine", "--verify", "--noVerify", "--tacticSources"})
      useless(flag, "with --loadEngine: it concerns building");
  if (options.test_data.empty()) {
    useless("--rtol", "without --testData");
    useless("--atol", "without --testData");
    return;
  }
  for (const char* flag : {"--loadInputs", "--shapes"})
    useless(flag, "with --testData: inputs and their shapes come from the data");
  for (const char* flag :
       {"--iterations", "--duration", "--warmUp", "--avgRuns", "--percentile", "--idleTime",
        "--infStreams", "--exportTimes", "--exportProfile", "--dumpProfile", "--exportOutput"})
    useless(flag, "with --testData: every set is run once and compared");
}

}  // namespace

std::optional<Options> parse_options(int argc, char** argv) {
  Options options;
  Raw raw;
  CLI::App app("Builds an engine from an ONNX model, runs and times it.", "fritexec");
  app.set_help_flag("-h,--help", "print this help");
  app.allow_extras();
  std::vector<std::vector<std::string>> other(other_flags().size());
  add_build_options(app, options, raw);
  add_inference_options(app, options, raw);
  add_report_options(app, options);
  add_other_options(app, other);
  for (int a = 1; a < argc; ++a) {
    const std::string_view argument = argv[a];
    if (argument.starts_with("--") && argument.ends_with("="))
      fail(Code::invalid_argument, "'{}' lacks a value after '='", argument);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    fail(Code::invalid_argument, "{}; --help lists all flags", error.what());
  }
  if (const auto extras = app.remaining(); !extras.empty()) refuse_unknown(app, extras.front());
  report_other_options(app, options);
  read_shapes(raw, options);
  read_tactic_sources(raw, options);
  read_verify(app, raw, options);
  if (!raw.load_inputs.empty()) options.load_inputs = parse_pairs(raw.load_inputs, "--loadInputs");
  check_together(app, raw, options);
  return options;
}

}  // namespace frit::exec
