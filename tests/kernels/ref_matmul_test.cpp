// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

TEST(RefMatMul, OddSizesAndTranspositions) {
  std::mt19937 gen(7);
  std::uniform_real_distribution<float> dist(-1, 1);
  for (const auto& [m, n, k] : {std::tuple<int, int, int>{1, 1, 1}, {7, 5, 3}, {97, 259, 270}}) {
    for (int flags = 0; flags < 4; ++flags) {
      const bool ta = (flags & 1) != 0;
      const bool tb = (flags & 2) != 0;
      Floats a(static_cast<std::size_t>(m * k));
      Floats b(static_cast<std::size_t>(k * n));
      for (float& v : a) v = dist(gen);
      for (float& v : b) v = dist(gen);
      KernelCall call("ref.matmul");
      call.in<float>(ta ? Ints{k, m} : Ints{m, k}, a).in<float>(tb ? Ints{n, k} : Ints{k, n}, b);
      call.out<float>({m, n}).attr("trans_a", ta).attr("trans_b", tb);
      ASSERT_EQ(call.run(), "");
      const auto y = call.result<float>(0);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l)
            sum += static_cast<double>(a[static_cast<std::size_t>(ta ? l * m + i : i * k + l)]) *
                   static_cast<double>(b[static_cast<std::size_t>(tb ? j * k + l : l * n + j)]);
          ASSERT_NEAR(y[static_cast<std::size_t>(i * n + j)], sum, 4e-6 * (1 + std::abs(sum)));
        }
    }
  }
}

TEST(RefMatMul, BroadcastsBatchesAndBias) {
  KernelCall k("ref.matmul");
  k.in<float>({2, 1, 1, 2}, {1, 2, 3, 4})
      .in<float>({3, 2, 1}, {1, 0, 0, 1, 1, 1})
      .in<float>({3, 1, 1}, {10, 20, 30})
      .out<float>({2, 3, 1, 1});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{11, 22, 33, 13, 24, 37}));
  KernelCall rows("ref.matmul");
  rows.in<float>({2, 2, 1}, {1, 2, 3, 4})
      .in<float>({1, 2}, {1, 10})
      .in<float>({2, 1}, {0.5f, 0.25f});
  rows.out<float>({2, 2, 2});
  EXPECT_EQ(rows.run(), "");
  EXPECT_EQ(rows.result<float>(0),
            (Floats{1.5f, 10.5f, 2.25f, 20.25f, 3.5f, 30.5f, 4.25f, 40.25f}));
}

TEST(RefMatMul, Vectors) {
  KernelCall dot("ref.matmul");
  dot.in<float>({3}, {1, 2, 3}).in<float>({3}, {4, 5, 6}).out<float>({});
  EXPECT_EQ(dot.run(), "");
  EXPECT_EQ(dot.result<float>(0), (Floats{32}));
  KernelCall row("ref.matmul");
  row.in<float>({2}, {1, 2})
      .in<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})
      .in<float>({2}, {100, 200});
  row.out<float>({2, 2});
  EXPECT_EQ(row.run(), "");
  EXPECT_EQ(row.result<float>(0), (Floats{107, 210, 119, 222}));
  KernelCall column("ref.matmul");
  column.in<float>({2, 2}, {1, 2, 3, 4}).in<float>({2}, {1, 10}).in<float>({2}, {0.5f, 1});
  column.out<float>({2});
  EXPECT_EQ(column.run(), "");
  EXPECT_EQ(column.result<float>(0), (Floats{21.5f, 44}));
}

TEST(RefMatMul, IntegersWrap) {
  KernelCall k("ref.matmul");
  k.in<std::int32_t>({1, 2}, {INT32_MAX, 1}).in<std::int32_t>({2, 1}, {1, 1});
  k.out<std::int32_t>({1, 1});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::int32_t>(0)[0], INT32_MIN);
  KernelCall w("ref.matmul");
  w.in<std::int64_t>({1, 1}, {-3}).in<std::int64_t>({1, 1}, {std::int64_t{1} << 40});
  w.out<std::int64_t>({1, 1});
  EXPECT_EQ(w.run(), "");
  EXPECT_EQ(w.result<std::int64_t>(0)[0], -3 * (std::int64_t{1} << 40));
}

TEST(RefMatMul, EmptyInnerDimGivesZeros) {
  KernelCall k("ref.matmul");
  k.in<float>({2, 0}, {}).in<float>({0, 2}, {}).out<float>({2, 2});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{0, 0, 0, 0}));
  KernelCall e("ref.matmul");
  e.in<float>({0, 2, 3}, {}).in<float>({3, 2}, Floats(6)).out<float>({0, 2, 2});
  EXPECT_EQ(e.run(), "");
}

TEST(RefMatMul, RefusesWhatDoesNotFit) {
  EXPECT_NE(KernelCall("ref.matmul")
                .in<float>({1, 2}, {1, 2})
                .in<float>({3, 1}, {1, 2, 3})
                .out<float>({1, 1})
                .run()
                .find("inner dims"),
            std::string::npos);
  EXPECT_NE(KernelCall("ref.matmul")
                .in<float>({2, 1, 1}, {1, 2})
                .in<float>({3, 1, 1}, {1, 2, 3})
                .out<float>({3, 1, 1})
                .run()
                .find("broadcast"),
            std::string::npos);
  EXPECT_NE(KernelCall("ref.matmul").in<float>({}, {1}).in<float>({1}, {1}).out<float>({}).run(),
            "");
  EXPECT_NE(KernelCall("ref.matmul")
                .in<float>({1, 1}, {1})
                .in<double>({1, 1}, {1})
                .out<float>({1, 1})
                .run(),
            "");
}

TEST(RefMatMulInteger, ZeroPointsPerRowAndColumn) {
  KernelCall k("ref.matmul_integer");
  k.in<std::uint8_t>({2, 2}, {11, 12, 3, 4})
      .in<std::int8_t>({2, 2}, {1, 2, 3, 4})
      .in<std::uint8_t>({2}, {10, 2})
      .in<std::int8_t>({2}, {1, 2})
      .out<std::int32_t>({2, 2});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::int32_t>(0), (std::vector<std::int32_t>{4, 4, 4, 4}));
}

TEST(RefQLinearMatMul, Rescales) {
  KernelCall k("ref.qlinear_matmul");
  k.in<std::uint8_t>({1, 2}, {10, 20})
      .in<float>({}, {0.5f})
      .in<std::uint8_t>({}, {0})
      .in<std::uint8_t>({2, 2}, {1, 2, 3, 4})
      .in<float>({2}, {1, 0.1f})
      .in<std::uint8_t>({}, {0})
      .in<float>({}, {0.25f})
      .in<std::uint8_t>({}, {1})
      .out<std::uint8_t>({1, 2});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::uint8_t>(0), (std::vector<std::uint8_t>{141, 21}));
}

}  // namespace
}  // namespace frit::test
