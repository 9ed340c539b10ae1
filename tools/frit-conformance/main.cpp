// SPDX-License-Identifier: Apache-2.0
// frit-conformance: runs ONNX's backend tests through engines, and says which fail and why.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "compiler/error.h"
#include "tools/frit-conformance/report.h"

namespace {

using namespace frit;
using namespace frit::conformance;

struct Options {
  std::vector<std::string> folders;
  std::string junit;
  std::string known_failures;
  std::string list_passed;
  int min_passed = 0;
  RunOptions run;
};

std::vector<Finished> run_all(const std::vector<Case>& cases, const Options& options,
                              const std::map<std::string, std::string>& known) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  std::vector<Finished> finished;
  for (const Case& the_case : cases) {
    if (terminal)
      std::fprintf(stderr, "\r\033[K[%zu/%zu] %s", finished.size() + 1, cases.size(),
                   the_case.path.c_str());
    const Result result = run_case(the_case, options.run);
    if (terminal) std::fprintf(stderr, "\r\033[K");
    const bool expected = known.count(the_case.path) != 0;
    if (result.outcome == Outcome::failed)
      std::printf("FAILED %s%s: %s\n", the_case.path.c_str(), expected ? " (known)" : "",
                  result.reason.c_str());
    else if (result.outcome == Outcome::skipped)
      std::printf("SKIPPED %s: %s\n", the_case.path.c_str(), result.reason.c_str());
    else if (expected)
      std::printf("UNEXPECTED %s: passes, but is listed as a known failure\n",
                  the_case.path.c_str());
    std::fflush(stdout);
    finished.push_back({the_case, result});
  }
  return finished;
}

int run(const Options& options) {
  std::map<std::string, std::string> known;
  if (!options.known_failures.empty()) known = read_known_failures(options.known_failures);
  std::vector<Case> cases;
  for (const std::string& folder : options.folders)
    for (Case& the_case : find_cases(folder)) cases.push_back(std::move(the_case));
  if (cases.empty())
    fail(Code::not_found, "no case folders; one has a model.onnx and test_data_set_N folders");

  const std::vector<Finished> finished = run_all(cases, options, known);
  if (!options.junit.empty()) write_junit(options.junit, finished);
  if (!options.list_passed.empty()) write_passed(options.list_passed, finished);
  int passed = 0, failed = 0, skipped = 0, surprises = 0;
  for (const auto& [the_case, result] : finished) {
    const bool expected = known.erase(the_case.path) != 0;
    if (result.outcome == Outcome::passed) ++passed;
    if (result.outcome == Outcome::failed) ++failed;
    if (result.outcome == Outcome::skipped) ++skipped;
    if ((result.outcome == Outcome::failed) != expected) ++surprises;
  }
  for (const auto& [path, reason] : known)
    std::printf("MISSING %s: listed as a known failure, but there is no such case\n", path.c_str());
  if (passed < options.min_passed)
    std::printf("TOO FEW passed: expected at least %d, found %d\n", options.min_passed, passed);
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return surprises == 0 && known.empty() && passed >= options.min_passed ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Runs every case folder (model.onnx and test_data_set_N) below the given folders."};
  app.add_option("DIR", options.folders, "folders to search")->required();
  app.add_option("--backend", options.run.backend, "backend to build for")->default_val("cpu");
  app.add_option("--modules", options.run.module_path, "folder of the optional kernel modules");
  app.add_option("--rtol", options.run.rtol,
                 "relative tolerance; default: the case's data.json, else 1e-3");
  app.add_option("--atol", options.run.atol,
                 "absolute tolerance; default: the case's data.json, else 1e-7");
  app.add_option("--known-failures", options.known_failures,
                 "file of cases and reasons: these must fail, all others must pass");
  app.add_option("--min-passed", options.min_passed, "fail if fewer cases pass")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--list-passed", options.list_passed, "write the cases that passed to this file");
  app.add_option("--junit", options.junit, "write the results as JUnit XML to this file");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "frit-conformance: %s\n", error.what());
    return 2;
  }
}
