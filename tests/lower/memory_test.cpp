// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/memory.h"

#include <gtest/gtest.h>

#include <random>

namespace frit::lower {
namespace {

void expect_valid(const std::vector<Lifetime>& pieces, const MemoryPlan& plan,
                  std::uint64_t alignment) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % alignment, 0u);
    EXPECT_LE(plan.offsets[i] + pieces[i].bytes, plan.bytes);
    for (std::size_t k = 0; k < i; ++k) {
      if (pieces[i].last < pieces[k].first || pieces[k].last < pieces[i].first) continue;
      EXPECT_TRUE(plan.offsets[i] + pieces[i].bytes <= plan.offsets[k] ||
                  plan.offsets[k] + pieces[k].bytes <= plan.offsets[i])
          << i << " and " << k << " overlap";
    }
  }
  EXPECT_GE(plan.bytes, plan.lower_bound);
}

TEST(Memory, ChainNeedsTwoBuffers) {
  std::vector<Lifetime> pieces;
  for (int i = 0; i < 10; ++i) pieces.push_back({1000, i, i + 1});
  const MemoryPlan plan = plan_memory(pieces, 64);
  EXPECT_EQ(plan.lower_bound, 2048u);
  EXPECT_EQ(plan.bytes, 2048u);
  expect_valid(pieces, plan, 64);
}

TEST(Memory, NothingNeedsNothing) {
  EXPECT_EQ(plan_memory({}, 64).bytes, 0u);
  const std::vector<Lifetime> empty{{0, 0, 3}, {0, 1, 2}};
  EXPECT_EQ(plan_memory(empty, 64).bytes, 0u);
}

TEST(Memory, RandomLifetimesNeverOverlap) {
  // Both placements: few pieces by size, many in order of time.
  for (const int count : {200, 6000}) {
    std::mt19937 random(7);
    std::vector<Lifetime> pieces;
    for (int i = 0; i < count; ++i) {
      const int first = static_cast<int>(random() % static_cast<unsigned>(count));
      pieces.push_back({random() % 5000, first, first + static_cast<int>(random() % 12)});
    }
    const MemoryPlan plan = plan_memory(pieces, 64);
    expect_valid(pieces, plan, 64);
    EXPECT_LT(static_cast<double>(plan.bytes), 1.8 * static_cast<double>(plan.lower_bound));
  }
}

}  // namespace
}  // namespace frit::lower
