// SPDX-License-Identifier: Apache-2.0
// The command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frit/builder.h"

namespace frit::exec {

/// What the user asked for, checked.
struct Options {
  // model and build
  std::string onnx, save_engine, load_engine;
  InputShapes shapes;
  Verify verify = Verify::quick;
  bool verify_given = false;
  std::vector<std::string> disabled_sources;
  std::string module_path;
  int cpu_threads = 0;
  bool skip_inference = false;
  bool time_deserialize = false;
  // inference
  std::vector<std::pair<std::string, std::string>> load_inputs;  ///< input, file
  int iterations = 10;
  double duration = 3;   ///< seconds; negative: until interrupted
  double warm_up = 200;  ///< milliseconds
  double idle_time = 0;  ///< milliseconds between queries of a stream
  int average_runs = 10;
  std::vector<double> percentiles = {90, 95, 99};
  int streams = 1;
  bool own_threads = false;
  // test data
  std::string test_data, save_outputs;
  double rtol = 1e-3, atol = 1e-5;
  // reporting
  bool verbose = false;
  bool dump_output = false, dump_profile = false, dump_layers = false;
  std::string export_times, export_output, export_profile, export_layers;

  /// One line each, about flags that were accepted and change nothing.
  std::vector<std::string> warnings;
};

/// Reads the command line; nothing if it only asked for help, which has been printed then. Throws
/// Error(invalid_argument) or Error(unsupported) for a refused flag.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace frit::exec
