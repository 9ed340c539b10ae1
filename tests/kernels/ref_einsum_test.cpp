// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

struct Term {
  Ints dims;
  Floats values;
};

KernelCall call(const char* equation, const std::vector<Term>& terms, Ints y) {
  KernelCall k("ref.einsum");
  for (const Term& t : terms) k.in<float>(t.dims, t.values);
  k.out<float>(std::move(y)).attr("equation", equation);
  return k;
}

Floats value(const char* equation, const std::vector<Term>& terms, Ints y) {
  KernelCall k = call(equation, terms, std::move(y));
  EXPECT_EQ(k.run(), "") << equation;
  return k.result<float>(0);
}

const Term kSquare{{2, 2}, {1, 2, 3, 4}};
const Term kWide{{2, 3}, {1, 2, 3, 4, 5, 6}};

TEST(RefEinsum, OneOperand) {
  EXPECT_EQ(value("ii", {kSquare}, {}), (Floats{5}));
  EXPECT_EQ(value("ii->i", {kSquare}, {2}), (Floats{1, 4}));
  EXPECT_EQ(value("ba", {kWide}, {3, 2}), (Floats{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(value(" i j -> j ", {kWide}, {3}), (Floats{5, 7, 9}));
  EXPECT_EQ(value("...j->...", {kWide}, {2}), (Floats{6, 15}));
  EXPECT_EQ(value("->", {{{}, {7}}}, {}), (Floats{7}));
}

TEST(RefEinsum, TwoOperands) {
  EXPECT_EQ(value("ij,jk", {kSquare, kWide}, {2, 3}), (Floats{9, 12, 15, 19, 26, 33}));
  EXPECT_EQ(value("ij,jk->ki", {kSquare, kWide}, {3, 2}), (Floats{9, 19, 12, 26, 15, 33}));
  EXPECT_EQ(value("i,j->ij", {{{2}, {1, 2}}, {{2}, {3, 4}}}, {2, 2}), (Floats{3, 4, 6, 8}));
  EXPECT_EQ(value("ij,ij->", {kSquare, kSquare}, {}), (Floats{30}));
  // Terms that only one operand has are summed too: (1 + 2 + 3 + 4) * (5 + 6).
  EXPECT_EQ(value("ij,k->", {kSquare, {{2}, {5, 6}}}, {}), (Floats{110}));
  EXPECT_EQ(
      value("...ij,...jk->...ik", {{{2, 1, 2}, {1, 2, 3, 4}}, {{1, 2, 1}, {10, 1}}}, {2, 1, 1}),
      (Floats{12, 34}));
}

TEST(RefEinsum, ThreeOperands) {
  EXPECT_EQ(value("ij,j,k->ik", {kSquare, {{2}, {1, 10}}, {{2}, {1, 2}}}, {2, 2}),
            (Floats{21, 42, 43, 86}));
}

TEST(RefEinsum, LargerThanATile) {
  const std::int64_t m = 100;
  const std::int64_t n = 260;
  const std::int64_t k = 70;
  KernelCall c("ref.einsum");
  std::vector<std::int32_t> a(static_cast<std::size_t>(k * m));
  std::vector<std::int32_t> b(static_cast<std::size_t>(n * k));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int32_t>(i % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int32_t>(i % 7) - 3;
  c.in<std::int32_t>({k, m}, a).in<std::int32_t>({n, k}, b).out<std::int32_t>({n, m});
  c.attr("equation", "km,nk->nm");
  ASSERT_EQ(c.run(), "");
  const auto y = c.result<std::int32_t>(0);
  for (std::size_t i = 0; i < 100; ++i)
    for (std::size_t j = 0; j < 260; ++j) {
      std::int32_t sum = 0;
      for (std::size_t t = 0; t < 70; ++t) sum += a[t * 100 + i] * b[j * 70 + t];
      ASSERT_EQ(y[j * 100 + i], sum);
    }
}

TEST(RefEinsum, RefusesBadEquations) {
  for (const char* e : {"", "i", "ijk", "ij->k", "ij->ii", "ij,jk", "i1", "ij-", "ij->i-", "..ij",
                        "......ij", "ij->...j.", ",ij", "ij,"})
    EXPECT_NE(call(e, {kWide}, {2, 3}).run(), "") << e;
  EXPECT_NE(call("ii", {kWide}, {}).run().find("stands for"), std::string::npos);
  EXPECT_NE(call("ij->ij", {kWide}, {3, 2}).run(), "");
}

}  // namespace
}  // namespace frit::test
