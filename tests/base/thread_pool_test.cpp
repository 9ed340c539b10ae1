// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

namespace frit {
namespace {

std::unique_ptr<ThreadPool> make(int threads) {
  Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(threads);
  EXPECT_TRUE(pool.ok()) << pool.status().message();
  return std::move(*pool);
}

TEST(ThreadPool, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 4}) {
    const auto pool = make(threads);
    const kernels::Parallel parallel = pool->parallel();
    EXPECT_EQ(parallel.threads, threads);
    for (const std::int64_t n : {0, 1, 7, 64, 1000}) {
      for (const std::int64_t grain : {0, 1, 3, 64}) {
        std::vector<std::atomic<int>> seen(static_cast<std::size_t>(n));
        pool->parallel_for(
            n, grain,
            [](void* arg, std::int64_t begin, std::int64_t end, int worker) {
              EXPECT_GE(worker, 0);
              EXPECT_LT(worker, 4);
              auto& s = *static_cast<std::vector<std::atomic<int>>*>(arg);
              for (std::int64_t i = begin; i < end; ++i) ++s[static_cast<std::size_t>(i)];
            },
            &seen);
        EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](const auto& s) { return s == 1; }));
      }
    }
  }
}

TEST(ThreadPool, ChunksAreMultiplesOfTheGrain) {
  const auto pool = make(3);
  pool->parallel()(1003, 10, [](std::int64_t begin, std::int64_t end, int) {
    EXPECT_EQ(begin % 10, 0);
    EXPECT_TRUE(end % 10 == 0 || end == 1003);
  });
}

TEST(ThreadPool, ManySmallLoopsInARow) {
  const auto pool = make(4);
  const kernels::Parallel parallel = pool->parallel();
  for (int round = 0; round < 5000; ++round) {
    std::atomic<std::int64_t> sum{0};
    parallel(37, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) sum += i;
    });
    ASSERT_EQ(sum.load(), 37 * 36 / 2);
  }
}

TEST(ThreadPool, NestedLoopsRunOnTheirWorker) {
  const auto pool = make(3);
  const kernels::Parallel parallel = pool->parallel();
  std::atomic<std::int64_t> sum{0};
  parallel(16, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t i = begin; i < end; ++i)
      parallel(10, 1, [&](std::int64_t b, std::int64_t e, int inner) {
        EXPECT_EQ(inner, worker);
        sum += e - b;
      });
  });
  EXPECT_EQ(sum.load(), 160);
}

TEST(ThreadPool, SeveralCallersAtOnce) {
  const auto pool = make(3);
  const kernels::Parallel parallel = pool->parallel();
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) {
        std::int64_t partial[3] = {};
        parallel(100, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
          for (std::int64_t i = begin; i < end; ++i) partial[worker] += i;
        });
        if (partial[0] + partial[1] + partial[2] != 4950) ++wrong;
      }
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, RefusesNonsense) {
  EXPECT_EQ(ThreadPool::create(-1).status().code(), Code::invalid_argument);
  EXPECT_EQ(ThreadPool::create(100000).status().code(), Code::invalid_argument);
  EXPECT_GE(make(0)->threads(), 1);
}

}  // namespace
}  // namespace frit
