// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

Floats iota(std::size_t n) {
  Floats v(n);
  std::iota(v.begin(), v.end(), 0.0f);
  return v;
}

TEST(RefGather, AlongEachAxis) {
  KernelCall rows("ref.gather");
  rows.in<float>({3, 2}, iota(6)).in<std::int64_t>({2, 2}, {0, -1, 1, 0}).out<float>({2, 2, 2});
  rows.attr("axis", 0);
  EXPECT_EQ(rows.run(), "");
  EXPECT_EQ(rows.result<float>(0), (Floats{0, 1, 4, 5, 2, 3, 0, 1}));
  KernelCall columns("ref.gather");
  columns.in<float>({2, 3}, iota(6)).in<std::int32_t>({}, {2}).out<float>({2}).attr("axis", 1);
  EXPECT_EQ(columns.run(), "");
  EXPECT_EQ(columns.result<float>(0), (Floats{2, 5}));
  KernelCall nibbles("ref.gather");
  nibbles.in<std::uint8_t>({3}, {0x21, 0x03}, DType::u4).in<std::int64_t>({4}, {2, 1, 0, 2});
  nibbles.out(DType::u4, {4}).attr("axis", 0);
  EXPECT_EQ(nibbles.run(), "");
  EXPECT_EQ(nibbles.result<std::uint8_t>(0), (std::vector<std::uint8_t>{0x23, 0x31}));
}

TEST(RefGather, RefusesIndicesOutside) {
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-4}, INT64_MIN, INT64_MAX}) {
    KernelCall k("ref.gather");
    k.in<float>({3}, iota(3)).in<std::int64_t>({1}, {bad}).out<float>({1}).attr("axis", 0);
    EXPECT_NE(k.run().find("outside"), std::string::npos) << bad;
  }
  KernelCall empty("ref.gather");
  empty.in<float>({0, 2}, {}).in<std::int64_t>({1}, {0}).out<float>({1, 2}).attr("axis", 0);
  EXPECT_NE(empty.run(), "");
  KernelCall type("ref.gather");
  type.in<float>({3}, iota(3)).in<float>({1}, {0}).out<float>({1}).attr("axis", 0);
  EXPECT_NE(type.run(), "");
}

TEST(RefGatherElements, PicksPerElement) {
  KernelCall k("ref.gather_elements");
  k.in<float>({2, 3}, iota(6)).in<std::int64_t>({1, 2}, {1, -2}).out<float>({1, 2}).attr("axis", 0);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{3, 1}));
  KernelCall wide("ref.gather_elements");
  wide.in<float>({2, 3}, iota(6)).in<std::int64_t>({3, 1}, {0, 1, 2}).out<float>({3, 1});
  EXPECT_NE(wide.attr("axis", 1).run(), "");
  KernelCall out("ref.gather_elements");
  out.in<float>({2}, iota(2)).in<std::int64_t>({1}, {2}).out<float>({1}).attr("axis", 0);
  EXPECT_NE(out.run(), "");
}

TEST(RefGatherNd, WithBatchDims) {
  KernelCall k("ref.gather_nd");
  k.in<float>({2, 2, 2}, iota(8)).in<std::int64_t>({2, 1}, {1, 0}).out<float>({2, 2});
  k.attr("batch_dims", 1);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{2, 3, 4, 5}));
  KernelCall full("ref.gather_nd");
  full.in<float>({2, 2}, iota(4)).in<std::int64_t>({2, 2}, {0, -1, 1, 0}).out<float>({2});
  EXPECT_EQ(full.run(), "");
  EXPECT_EQ(full.result<float>(0), (Floats{1, 2}));
  KernelCall bad("ref.gather_nd");
  bad.in<float>({2, 2}, iota(4)).in<std::int64_t>({1, 2}, {0, 2}).out<float>({1});
  EXPECT_NE(bad.run(), "");
  KernelCall wide("ref.gather_nd");
  wide.in<float>({2, 2}, iota(4)).in<std::int64_t>({1, 3}, {0, 0, 0}).out<float>({1});
  EXPECT_NE(wide.run(), "");
}

TEST(RefScatterElements, EveryReduction) {
  const std::vector<std::pair<const char*, Floats>> cases = {{"none", {4, 2, 5}},
                                                             {"add", {7, 2, 8}},
                                                             {"mul", {8, 2, 15}},
                                                             {"min", {1, 2, 3}},
                                                             {"max", {4, 2, 5}}};
  for (const auto& [reduction, y] : cases) {
    KernelCall k("ref.scatter_elements");
    k.in<float>({3}, {1, 2, 3}).in<std::int64_t>({3}, {0, 2, 0});
    k.in<float>({3}, {2, 5, 4}).out<float>({3}).attr("axis", 0).attr("reduction", reduction);
    EXPECT_EQ(k.run(), "");
    EXPECT_EQ(k.result<float>(0), y) << reduction;
  }
}

TEST(RefScatterElements, IntegersWrapAndIndicesAreChecked) {
  KernelCall k("ref.scatter_elements");
  k.in<std::int8_t>({2}, {127, 0}).in<std::int64_t>({1}, {0}).in<std::int8_t>({1}, {1});
  k.out<std::int8_t>({2}).attr("axis", 0).attr("reduction", "add");
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::int8_t>(0)[0], -128);
  KernelCall bad("ref.scatter_elements");
  bad.in<float>({2}, {1, 2}).in<std::int64_t>({1}, {-3}).in<float>({1}, {1});
  EXPECT_NE(bad.out<float>({2}).attr("axis", 0).run(), "");
}

TEST(RefScatterNd, SlicesAndReductions) {
  KernelCall k("ref.scatter_nd");
  k.in<float>({3, 2}, iota(6)).in<std::int64_t>({2, 1}, {2, 2});
  k.in<float>({2, 2}, {10, 20, 30, 40}).out<float>({3, 2}).attr("reduction", "add");
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{0, 1, 2, 3, 44, 65}));
  KernelCall bad("ref.scatter_nd");
  bad.in<float>({3, 2}, iota(6)).in<std::int64_t>({1, 1}, {3}).in<float>({1, 2}, {1, 2});
  EXPECT_NE(bad.out<float>({3, 2}).run(), "");
  KernelCall dims("ref.scatter_nd");
  dims.in<float>({3, 2}, iota(6)).in<std::int64_t>({1, 1}, {0}).in<float>({1, 3}, {1, 2, 3});
  EXPECT_NE(dims.out<float>({3, 2}).run(), "");
}

TEST(RefOneHot, AxisAndDepth) {
  KernelCall k("ref.one_hot");
  k.in<std::int64_t>({2}, {1, -1}).in<std::int64_t>({}, {3}).in<float>({2}, {0, 5});
  k.out<float>({3, 2}).attr("axis", 0);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{0, 0, 5, 0, 0, 5}));
  KernelCall outside("ref.one_hot");
  outside.in<float>({2}, {7, 0}).in<float>({1}, {2}).in<std::int32_t>({2}, {-1, 1});
  outside.out<std::int32_t>({2, 2}).attr("axis", 1);
  EXPECT_EQ(outside.run(), "");
  EXPECT_EQ(outside.result<std::int32_t>(0), (std::vector<std::int32_t>{-1, -1, 1, -1}));
  KernelCall depth("ref.one_hot");
  depth.in<std::int64_t>({1}, {0}).in<std::int64_t>({}, {4}).in<float>({2}, {0, 5});
  EXPECT_NE(depth.out<float>({1, 3}).attr("axis", 1).run().find("depth"), std::string::npos);
}

}  // namespace
}  // namespace frit::test
