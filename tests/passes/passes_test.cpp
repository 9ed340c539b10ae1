// SPDX-License-Identifier: Apache-2.0
// Runs every .ir file of this folder, one test each, and checks that the runner itself can fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/error.h"
#include "tests/passes/pass_case.h"

namespace frit::test {
namespace {

// ctest runs in the source directory.
std::vector<std::string> case_files() {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("tests/passes", none))
    if (entry.path().extension() == ".ir") files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

std::string outcome(const std::string& text) {
  std::string error;
  const PassCase test = read_pass_case(text, error);
  if (!error.empty()) return error;
  try {
    return run_pass_case(test);
  } catch (const Error& thrown) {
    return thrown.message();
  }
}

class PassFile : public testing::TestWithParam<std::string> {};

TEST_P(PassFile, GivesTheExpectedGraph) {
  std::stringstream text;
  text << std::ifstream(GetParam()).rdbuf();
  const std::string report = outcome(text.str());
  EXPECT_EQ(report, "") << GetParam() << ": " << report;
}

std::string test_name(const testing::TestParamInfo<std::string>& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PassFile);
INSTANTIATE_TEST_SUITE_P(Files, PassFile, testing::ValuesIn(case_files()), test_name);

TEST(PassCases, EveryPassHasAFile) {
  std::string all;
  for (const std::string& file : case_files()) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    std::string error;
    for (const passes::Pass* pass : read_pass_case(text.str(), error).passes)
      (all += pass->name) += ' ';
  }
  for (const passes::Pass* pass : passes::all_passes())
    EXPECT_NE(all.find(pass->name), std::string::npos) << "no test of pass " << pass->name;
}

TEST(PassCases, ReportsAnotherGraph) {
  const std::string report = outcome(R"(// pass: fold_constants
graph (%x: f32[2]) { %y = relu(%x) return %y }
---
graph (%x: f32[2]) { %y = neg(%x) return %y })");
  EXPECT_NE(report.find("-   %1 = neg(%0) : f32[2]"), std::string::npos) << report;
  EXPECT_NE(report.find("+   %1 = relu(%0) : f32[2]"), std::string::npos) << report;
}

TEST(PassCases, OrderAndNamesDoNotMatter) {
  EXPECT_EQ(outcome(R"(// pass: merge_common_nodes
graph (%x: f32[2], %z: f32[2]) {
  %a = exp(%x)
  %b = exp(%z)
  %c = exp(%x)
  %s = add(%a, %b)
  %t = mul(%s, %c)
  return %t
}
---
graph (%p: f32[2], %q: f32[2]) {
  %1 = exp(%q)
  %2 = exp(%p)
  %t = add(%2, %1)
  %u = mul(%t, %2)
  return %u
})"),
            "");
}

TEST(PassCases, RefusesFilesThatSayNothing) {
  EXPECT_NE(outcome("graph () { return }"), "");
  EXPECT_NE(outcome("// pass: nonsense\n// expect: unchanged\ngraph () { return }"), "");
  EXPECT_NE(outcome("// pass: fold_constants\ngraph () { return }"), "");
}

}  // namespace
}  // namespace frit::test
