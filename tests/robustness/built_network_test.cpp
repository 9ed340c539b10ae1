// SPDX-License-Identifier: Apache-2.0
// Promises about a whole built network: no allocation while running, equal bytes from equal builds,
// and one engine for many threads.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "frit/runtime.h"
#include "tests/robustness/allocations.h"
#include "tests/robustness/small_network.h"

namespace frit::test {
namespace {

// Input and output memory with a context of its own.
struct Runner {
  explicit Runner(const RuntimeEngine& engine) {
    EXPECT_TRUE(context.create(engine).ok());
    EXPECT_TRUE(context.set_address(engine.find_binding("x"), std::span<float>(x)).ok());
    EXPECT_TRUE(context.set_address(engine.find_binding("y"), std::span<float>(y)).ok());
  }
  void fill(std::size_t seed) {
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i * 31 + seed * 101) % 251) / 125.0F - 1.0F;
  }
  RuntimeContext context;
  std::array<float, kInputElements> x = {};
  std::array<float, kOutputElements> y = {};
};

RuntimeEngine loaded(int threads) {
  RuntimeEngine engine;
  RuntimeEngine::Options options;
  options.cpu_threads = threads;
  const RuntimeStatus status = engine.load(small_engine(), options);
  EXPECT_TRUE(status.ok()) << status.message();
  return engine;
}

TEST(BuiltNetwork, RunsWithoutAllocating) {
  if (!allocations_counted()) GTEST_SKIP() << "a sanitizer owns the allocator";
  const std::uint64_t start = allocations().count;
  EXPECT_EQ(std::vector<int>(1000, 1)[999], 1);
  ASSERT_GT(allocations().count, start) << "the counter does not count";
  for (const int threads : {1, 2, 4}) {
    const RuntimeEngine engine = loaded(threads);
    ASSERT_TRUE(engine);
    Runner runner(engine);
    runner.fill(1);
    const std::uint64_t before = allocations().count;
    bool ok = true;
    for (int i = 0; i < 10; ++i)
      ok = frit_context_enqueue(runner.context.handle(), nullptr) == 0 && ok;
    const std::uint64_t after = allocations().count;
    EXPECT_TRUE(ok);
    EXPECT_EQ(after - before, 0u) << threads << " threads";
    float sum = 0;
    for (const float p : runner.y) sum += p;
    EXPECT_NEAR(sum, 2.0F, 1e-4F);  // two rows of a softmax
  }
}

TEST(BuiltNetwork, EqualBuildsGiveEqualBytes) {
  const std::vector<std::byte> first = small_engine();
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first, small_engine());
  const Network network = small_network();
  for (int i = 0; i < 2; ++i) {  // the same object again: a build leaves the network as it was
    const Expected<EngineImage> image = Builder().build(network, plain_config());
    ASSERT_TRUE(image.ok());
    EXPECT_EQ(image->bytes, first);
  }
}

TEST(BuiltNetwork, ManyThreadsShareOneEngine) {
  constexpr std::size_t kThreads = 4;
  for (const int pool : {1, 2}) {
    const RuntimeEngine engine = loaded(pool);
    ASSERT_TRUE(engine);
    std::array<std::array<float, kOutputElements>, kThreads> expected;
    for (std::size_t t = 0; t < kThreads; ++t) {
      Runner runner(engine);
      runner.fill(t);
      ASSERT_TRUE(runner.context.enqueue().ok());
      expected[t] = runner.y;
    }
    ASSERT_NE(expected[0], expected[1]);
    std::array<int, kThreads> wrong = {};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        Runner runner(engine);
        runner.fill(t);
        for (int i = 0; i < 200; ++i) {
          runner.y.fill(-1.0F);
          if (!runner.context.enqueue().ok() || runner.y != expected[t]) ++wrong[t];
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < kThreads; ++t) EXPECT_EQ(wrong[t], 0) << "thread " << t;
  }
}

}  // namespace
}  // namespace frit::test
