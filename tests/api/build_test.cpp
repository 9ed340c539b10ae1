// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include "tests/api/support.h"

namespace frit::test {
namespace {

// relu(2 x - 3), then a product: a few nodes for passes and tactics to work on.
Network small_network() {
  Network network("small");
  const NetTensor x = network.add_input("x", DType::f32, {2, 4});
  const NetTensor scaled = network.add_elementwise("mul", x, network.add_constant({1}, {2.0F}));
  const NetTensor shifted =
      network.add_elementwise("sub", scaled, network.add_constant({1}, {3.0F}));
  const NetTensor weights = network.add_constant({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  network.mark_output(network.add_matmul(network.add_unary("relu", shifted), weights), "y");
  return network;
}

TEST(Build, EqualBuildsGiveEqualBytesAndLeaveTheNetworkAlone) {
  const Network network = small_network();
  const std::string before = network.text();
  const auto first = Builder().build(network);
  const auto second = Builder().build(network);
  ASSERT_TRUE(first) << first.error().text();
  ASSERT_TRUE(second) << second.error().text();
  EXPECT_EQ(first->bytes, second->bytes);
  EXPECT_EQ(network.text(), before);
  const auto out = run(*first, {{"x", {1, 2, 3, 4, 0, 0, 0, 2}}});
  EXPECT_EQ(out.at("y"), (Floats{0 + 3 + 15 + 35, 0 + 4 + 18 + 40, 7, 8}));
}

TEST(Build, ReportsStepsMemoryAndVerification) {
  BuildConfig config;
  config.verify = Verify::full;
  const auto image = Builder().build(small_network(), config);
  ASSERT_TRUE(image) << image.error().text();
  const BuildReport& report = image->report;
  EXPECT_GE(report.nodes_before, 4u);
  ASSERT_FALSE(report.steps.empty());
  std::set<std::string> origins;
  for (const StepReport& step : report.steps) {
    EXPECT_FALSE(step.name.empty());
    EXPECT_FALSE(step.tactic.empty());
    origins.insert(step.origin.begin(), step.origin.end());
  }
  EXPECT_TRUE(
      std::ranges::any_of(origins, [](const std::string& o) { return o.starts_with("matmul_"); }));
  EXPECT_GE(report.weights_bytes, 8 * sizeof(float));
  EXPECT_GE(report.arena_bytes, report.arena_lower_bound);
  ASSERT_EQ(report.verification.size(), 1u);
  EXPECT_EQ(report.verification[0].output, "y");
  EXPECT_TRUE(report.verification[0].passed);
  EXPECT_FALSE(report.verification[0].covered.empty());

  // The engine carries the same table.
  RuntimeEngine engine;
  ASSERT_TRUE(engine.load(image->bytes).ok());
  ASSERT_EQ(engine.info().verification_count, 1);
  frit_verification_info row = {};
  row.size = sizeof row;
  ASSERT_EQ(frit_engine_get_verification(engine.handle(), 0, &row), FRIT_OK);
  EXPECT_STREQ(row.output, "y");
  EXPECT_EQ(row.passed, 1);
  EXPECT_EQ(row.max_abs_error, report.verification[0].max_abs_error);
  EXPECT_EQ(row.rtol, config.rtol);
}

TEST(Build, WithoutVerificationTheTableIsEmpty) {
  BuildConfig config;
  config.verify = Verify::off;
  const auto image = Builder().build(small_network(), config);
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_TRUE(image->report.verification.empty());
  RuntimeEngine engine;
  ASSERT_TRUE(engine.load(image->bytes).ok());
  EXPECT_EQ(engine.info().verification_count, 0);
}

TEST(Build, CanBeCancelledInEveryPhase) {
  std::set<std::string> phases;
  std::size_t calls = 0;
  BuildConfig config;
  config.progress = [&](const Progress& at) {
    phases.emplace(at.phase);
    EXPECT_LE(at.step, at.steps) << at.phase;
    ++calls;
    return true;
  };
  const Network network = small_network();
  ASSERT_TRUE(Builder().build(network, config));
  EXPECT_EQ(phases, (std::set<std::string>{"optimize", "choose kernels", "write", "verify"}));
  for (std::size_t stop = 0; stop < calls; ++stop) {
    std::size_t call = 0;
    config.progress = [&](const Progress&) { return call++ != stop; };
    const auto image = Builder().build(network, config);
    ASSERT_FALSE(image) << "call " << stop << " of " << calls << " could not cancel";
    EXPECT_EQ(image.error().code, Code::cancelled) << image.error().text();
    EXPECT_EQ(call, stop + 1) << "the build went on after it was cancelled";
  }
}

TEST(Build, LogsUpToTheLevel) {
  std::vector<LogLevel> levels;
  BuildConfig config;
  config.disabled_sources = {"onednn"};
  config.log_level = LogLevel::verbose;
  config.log = [&](LogLevel level, std::string_view message) {
    EXPECT_FALSE(message.empty());
    levels.push_back(level);
  };
  ASSERT_TRUE(Builder().build(small_network(), config));
  EXPECT_TRUE(std::ranges::count(levels, LogLevel::verbose) > 0);
  levels.clear();
  config.log_level = LogLevel::warning;
  ASSERT_TRUE(Builder().build(small_network(), config));
  for (const LogLevel level : levels) EXPECT_LE(level, LogLevel::warning);
}

TEST(Build, RefusesWrongConfigurations) {
  const Network network = small_network();
  BuildConfig config;
  config.backend = "abacus";
  const auto no_backend = Builder().build(network, config);
  ASSERT_FALSE(no_backend);
  EXPECT_NE(no_backend.error().message.find("abacus"), std::string::npos);

  config = {};
  config.cpu_threads = 1 << 30;
  const auto threads = Builder().build(network, config);
  ASSERT_FALSE(threads);
  EXPECT_EQ(threads.error().code, Code::invalid_argument) << threads.error().text();

  Network empty;
  empty.add_input("x", DType::f32, {1});
  const auto image = Builder().build(empty);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().code, Code::invalid_argument) << image.error().text();
}

// Nothing that callbacks throw leaves the API.
TEST(Build, TurnsExceptionsOfCallbacksIntoErrors) {
  BuildConfig config;
  config.progress = [](const Progress&) -> bool { throw std::runtime_error("stop it"); };
  const auto thrown = Builder().build(small_network(), config);
  ASSERT_FALSE(thrown);
  EXPECT_NE(thrown.error().message.find("stop it"), std::string::npos) << thrown.error().text();
  config.progress = [](const Progress&) -> bool { throw 7; };
  EXPECT_FALSE(Builder().build(small_network(), config));
}

TEST(Build, SavesAllOrNothing) {
  const auto image = Builder().build(small_network());
  ASSERT_TRUE(image) << image.error().text();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "frit_api_save";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "small.engine").string();
  std::ofstream(path) << "an older file";
  const auto error = image->save(path);
  ASSERT_FALSE(error) << error->text();
  EXPECT_EQ(std::filesystem::file_size(path), image->bytes.size());
  RuntimeEngine engine;
  EXPECT_TRUE(engine.load(path.c_str()).ok());

  // A target that cannot be replaced: it stays, and no temporary file remains.
  const std::filesystem::path blocked = folder / "blocked";
  std::filesystem::create_directory(blocked);
  std::ofstream(blocked / "inside") << "x";
  const auto refused = image->save(blocked.string());
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, Code::io_error) << refused->text();
  EXPECT_TRUE(image->save((folder / "no_folder" / "x.engine").string()));
  const auto files = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 2);
  std::filesystem::remove_all(folder);
}

TEST(Build, ErrorsReadAsOneLine) {
  EXPECT_EQ((BuildError{Code::unsupported, "no", "conv_1"}.text()),
            "unsupported: no (node 'conv_1')");
  EXPECT_EQ((BuildError{Code::cancelled, "stopped", ""}.text()), "cancelled: stopped");
  EXPECT_STREQ(builder_version(), frit_version());
}

}  // namespace
}  // namespace frit::test
