// SPDX-License-Identifier: Apache-2.0
// Cases in the layout of ONNX's backend tests, found and run.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace frit::conformance {

enum class Outcome : std::uint8_t { passed, failed, skipped };

/// A folder with model.onnx and, unless it is to be skipped, test_data_set_N.
struct Case {
  std::string path;  ///< below the folder that was searched, "node/test_abs"; how reports name it
  std::filesystem::path folder;
};

/// How a case ended. `reason` is one line, empty if it passed.
struct Result {
  Outcome outcome = Outcome::passed;
  std::string reason;
  double seconds = 0;
};

struct RunOptions {
  std::string backend = "cpu";
  std::string module_path;     ///< as BuildConfig::module_path
  std::optional<double> rtol;  ///< unset: data.json of the case, else 1e-3
  std::optional<double> atol;  ///< unset: data.json of the case, else 1e-7
};

/// All case folders at or below `root`, by path. Throws Error(not_found) if `root` is no folder.
std::vector<Case> find_cases(const std::filesystem::path& root);

/// Builds the model for the shapes of each data set, runs it and compares. Never throws: whatever
/// goes wrong is the reason of the failure.
Result run_case(const Case& the_case, const RunOptions& options) noexcept;

}  // namespace frit::conformance
