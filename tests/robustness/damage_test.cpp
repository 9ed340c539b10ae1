// SPDX-License-Identifier: Apache-2.0
// A thousand damaged files of each kind: each is accepted or gives one clear error, within bounded
// memory, and none crashes. tools/dev/damage.py does the same with files of any size.
#include "tests/robustness/damage.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/robustness/allocations.h"
#include "tests/robustness/small_network.h"

namespace frit::test {
namespace {

constexpr int kCount = 1000;
// What loading or parsing a file of a few kilobytes may ask for altogether.
constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;

// Runs `load`, holding its outcome and its appetite to the promise.
template <class Load>
Outcome checked(const Load& load) {
  const std::uint64_t before = allocations().bytes;
  Outcome outcome = load();
  EXPECT_LE(allocations().bytes - before, kMaxBytes) << outcome.message;
  EXPECT_TRUE(clear(outcome)) << static_cast<int>(outcome.code) << ": " << outcome.message;
  return outcome;
}

std::vector<std::byte> model_bytes() {
  const std::string text = small_model();
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(Damaged, TheFilesAreFineBefore) {
  const std::vector<std::byte> engine = small_engine();
  ASSERT_FALSE(engine.empty());
  EXPECT_EQ(load_engine(engine, true).message, "");
  std::vector<std::byte> resealed = engine;
  reseal(resealed);
  EXPECT_EQ(resealed, engine);
  EXPECT_EQ(load_model(model_bytes(), true).message, "");
}

TEST(Damaged, TruncatedEngines) {
  const std::vector<std::byte> engine = small_engine();
  ASSERT_FALSE(engine.empty());
  std::mt19937_64 random(1);
  for (int i = 0; i < kCount; ++i) {
    const std::size_t size = random() % engine.size();
    const Outcome o = checked([&] { return load_engine(std::span(engine).first(size), false); });
    // No bytes at all are an argument error: nothing was passed.
    ASSERT_EQ(o.code, size == 0 ? Code::invalid_argument : Code::invalid_engine) << size;
  }
}

TEST(Damaged, FlippedEngines) {
  std::vector<std::byte> engine = small_engine();
  ASSERT_FALSE(engine.empty());
  std::mt19937_64 random(2);
  for (int i = 0; i < kCount; ++i) {
    const std::uint64_t bit = random() % (engine.size() * 8);
    flip(engine, bit);
    const Outcome o = checked([&] { return load_engine(engine, false); });
    ASSERT_EQ(o.code, Code::invalid_engine) << "bit " << bit;
    flip(engine, bit);
  }
}

// Under good checksums anything may be accepted, and what is accepted must run without harm.
TEST(Damaged, ResealedEngines) {
  const std::vector<std::byte> good = small_engine();
  ASSERT_FALSE(good.empty());
  std::mt19937_64 random(3);
  std::map<Code, int> codes;
  const std::size_t first = 256;  // the header and its table have tests of their own
  for (int i = 0; i < 4 * kCount; ++i) {
    std::vector<std::byte> engine = good;
    // The metadata comes first and is the smaller part: aim at it three times of four.
    const std::size_t end = i % 4 == 3 ? engine.size() : std::min(engine.size(), first + 16384);
    for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips)
      flip(engine, first * 8 + random() % ((end - first) * 8));
    reseal(engine);
    const Outcome o = load_engine(engine, true);
    ASSERT_TRUE(clear(o)) << static_cast<int>(o.code) << ": " << o.message;
    ++codes[o.code];
  }
  EXPECT_GT(codes[Code::invalid_engine], kCount / 10);
  EXPECT_GT(codes[Code::ok], kCount / 10);
  for (const auto& [code, n] : codes)
    RecordProperty("code_" + std::to_string(static_cast<int>(code)), n);
}

TEST(Damaged, TruncatedModels) {
  const std::vector<std::byte> model = model_bytes();
  std::mt19937_64 random(4);
  for (int i = 0; i < kCount; ++i) {
    const std::size_t size = random() % model.size();
    const Outcome o = checked([&] { return load_model(std::span(model).first(size), false); });
    ASSERT_NE(o.code, Code::ok) << size;
  }
}

TEST(Damaged, FlippedModels) {
  std::vector<std::byte> model = model_bytes();
  std::mt19937_64 random(5);
  int refused = 0;
  int built = 0;
  for (int i = 0; i < kCount; ++i) {
    // The weights are most of the bytes and take any flip; every second one aims past them.
    const std::size_t end = i % 2 == 0 ? model.size() : 700;
    const std::uint64_t bit = (model.size() - 1 - random() % end) * 8 + random() % 8;
    flip(model, bit);
    const Outcome o = checked([&] { return load_model(model, false); });
    refused += o.code != Code::ok ? 1 : 0;
    if (o.code == Code::ok && i % 10 == 0) {
      const Outcome whole = load_model(model, true);
      EXPECT_TRUE(clear(whole)) << static_cast<int>(whole.code) << ": " << whole.message;
      ++built;
    }
    flip(model, bit);
  }
  EXPECT_GT(refused, kCount / 10);
  EXPECT_GT(built, kCount / 100);
}

}  // namespace
}  // namespace frit::test
