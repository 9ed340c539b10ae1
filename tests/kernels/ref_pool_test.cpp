// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

TEST(RefPool, MaxWithIndicesAndDilation) {
  KernelCall k("ref.pool");
  k.in<float>({1, 1, 3, 4}, {1, 2, 3, 4, 12, 11, 10, 9, 5, 6, 7, 8});
  k.out<float>({1, 1, 2, 2}).out<std::int64_t>({1, 1, 2, 2});
  k.attr("kind", "max").ints("kernel", {2, 2}).ints("dilations", {1, 2});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{12, 11, 12, 11}));
  EXPECT_EQ(k.result<std::int64_t>(1), (Ints{4, 5, 4, 5}));
}

TEST(RefPool, ColumnMajorIndices) {
  KernelCall k("ref.pool");
  k.in<std::uint8_t>({1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1});
  k.out<std::uint8_t>({1, 2, 1, 1}).out<std::int64_t>({1, 2, 1, 1});
  k.attr("kind", "max").ints("kernel", {2, 3}).attr("storage_order", 1);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::uint8_t>(0), (std::vector<std::uint8_t>{6, 6}));
  EXPECT_EQ(k.result<std::int64_t>(1), (Ints{5, 6}));
}

TEST(RefPool, AverageCountsPadsOnRequest) {
  for (const int count : {0, 1}) {
    KernelCall k("ref.pool");
    k.in<float>({1, 1, 5}, {1, 2, 3, 4, 5}).out<float>({1, 1, 3}).attr("kind", "average");
    k.ints("kernel", {3}).ints("strides", {2}).ints("pads", {1, 0}).attr("ceil_mode", 1);
    k.attr("count_include_pad", count);
    EXPECT_EQ(k.run(), "");
    EXPECT_EQ(k.result<float>(0), count == 0 ? (Floats{1.5f, 3, 4.5f}) : (Floats{1, 3, 4.5f}));
  }
}

TEST(RefPool, LpOfTwoDims) {
  KernelCall k("ref.pool");
  k.in<double>({1, 1, 2, 2}, {1, -2, 2, 0}).out<double>({1, 1, 1, 1}).attr("kind", "lp");
  k.ints("kernel", {2, 2}).attr("p", 2);
  EXPECT_EQ(k.run(), "");
  EXPECT_DOUBLE_EQ(k.result<double>(0)[0], 3);
  KernelCall cubic("ref.pool");
  cubic.in<double>({1, 1, 2}, {3, -4}).out<double>({1, 1, 1}).attr("kind", "lp");
  cubic.ints("kernel", {2}).attr("p", 3);
  EXPECT_EQ(cubic.run(), "");
  EXPECT_DOUBLE_EQ(cubic.result<double>(0)[0], std::cbrt(91.0));
}

TEST(RefPool, NanWinsAndThreeDims) {
  KernelCall k("ref.pool");
  Floats x(16);
  for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(i);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  k.in<float>({1, 2, 2, 2, 2}, x).out<float>({1, 2, 1, 1, 1}).attr("kind", "max");
  k.ints("kernel", {2, 2, 2});
  EXPECT_EQ(k.run(), "");
  EXPECT_TRUE(std::isnan(k.result<float>(0)[0]));
  EXPECT_EQ(k.result<float>(0)[1], 15);
}

TEST(RefPool, RefusesWhatDoesNotFit) {
  const auto call = [](Ints y) {
    KernelCall k("ref.pool");
    k.in<float>({1, 1, 4}, {1, 2, 3, 4}).out<float>(y).attr("kind", "max");
    return k;
  };
  EXPECT_NE(call({1, 1, 3}).run().find("kernel"), std::string::npos);
  EXPECT_NE(call({1, 1, 4}).ints("kernel", {2}).run().find("expected 3"), std::string::npos);
  EXPECT_NE(call({1, 1, 3}).ints("kernel", {INT64_MAX}).run(), "");
  EXPECT_NE(call({1, 1, 3}).ints("kernel", {2}).ints("strides", {0}).run(), "");
  EXPECT_NE(call({1, 1, 3}).ints("kernel", {2}).ints("pads", {INT64_MAX, INT64_MAX}).run(), "");
  EXPECT_NE(call({1, 2, 3}).ints("kernel", {2}).run(), "");
  KernelCall kind("ref.pool");
  kind.in<std::int32_t>({1, 1, 1}, {1}).out<std::int32_t>({1, 1, 1}).ints("kernel", {1});
  EXPECT_NE(kind.attr("kind", "average").run().find("type"), std::string::npos);
}

TEST(RefMaxUnpool, ScattersAndChecks) {
  KernelCall k("ref.max_unpool");
  k.in<float>({1, 1, 1, 2}, {5, 6}).in<std::int64_t>({1, 1, 1, 2}, {1, 6}).out<float>({1, 1, 2, 4});
  k.ints("kernel", {2, 2}).ints("strides", {2, 2});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{0, 5, 0, 0, 0, 0, 6, 0}));
  KernelCall wide("ref.max_unpool");
  wide.in<float>({1, 1, 1, 2}, {5, 6}).in<std::int64_t>({1, 1, 1, 2}, {1, 6});
  wide.in<std::int64_t>({4}, {1, 1, 2, 5}).out<float>({1, 1, 2, 5});
  wide.ints("kernel", {2, 2}).ints("strides", {2, 2});
  EXPECT_EQ(wide.run(), "");
  EXPECT_EQ(wide.result<float>(0), (Floats{0, 5, 0, 0, 0, 0, 0, 6, 0, 0}));
  for (const std::int64_t bad : {std::int64_t{8}, std::int64_t{-1}, INT64_MAX}) {
    KernelCall b("ref.max_unpool");
    b.in<float>({1, 1, 1, 2}, {5, 6}).in<std::int64_t>({1, 1, 1, 2}, {1, bad});
    b.out<float>({1, 1, 2, 4}).ints("kernel", {2, 2}).ints("strides", {2, 2});
    EXPECT_NE(b.run(), "");
  }
}

}  // namespace
}  // namespace frit::test
