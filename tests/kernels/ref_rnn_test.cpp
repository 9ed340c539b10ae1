// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

void expect_near(const Doubles& a, const Doubles& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12) << i;
}

TEST(RefRnn, PlainCellByHand) {
  // h1 = tanh(0.5 * 1 + 0.1), h2 = tanh(0.5 * 2 + 0.25 * h1 + 0.1).
  KernelCall k("ref.rnn");
  k.in<double>({2, 1, 1}, {1, 2}).in<double>({1, 1, 1}, {0.5}).in<double>({1, 1, 1}, {0.25});
  k.in<double>({1, 2}, {0.04, 0.06}).out<double>({2, 1, 1, 1}).out<double>({1, 1, 1});
  k.attr("kind", "rnn").attr("direction", "forward").attr("hidden", 1);
  ASSERT_EQ(k.run(), "");
  const double h1 = std::tanh(0.6);
  const double h2 = std::tanh(1.1 + 0.25 * h1);
  expect_near(k.result<double>(0), {h1, h2});
  expect_near(k.result<double>(1), {h2});
}

TEST(RefRnn, ShortSequencesBackwardAndBatchMajor) {
  // relu(x + h) sums what it has seen; the second sequence has one step only.
  KernelCall k("ref.rnn");
  k.in<double>({2, 2, 1}, {1, 2, 10, 20})
      .in<double>({2, 1, 1}, {1, 1})
      .in<double>({2, 1, 1}, {1, 1});
  k.in_absent().in<std::int32_t>({2}, {2, 1}).in<double>({2, 2, 1}, {0, 100, 0, 0});
  k.out<double>({2, 2, 2, 1}).out<double>({2, 2, 1});
  k.attr("kind", "rnn").attr("direction", "bidirectional").attr("hidden", 1).attr("layout", 1);
  k.attr("activations", "relu,relu");
  ASSERT_EQ(k.run(), "");
  expect_near(k.result<double>(0), {1, 103, 3, 102, 10, 10, 0, 0});
  expect_near(k.result<double>(1), {3, 103, 10, 10});
}

TEST(RefRnn, LstmWithPeepholesByHand) {
  const Doubles w{0.1, 0.2, 0.3, 0.4};
  const Doubles r{0.5, 0.6, 0.7, 0.8};
  const Doubles p{0.01, 0.02, 0.03};
  KernelCall k("ref.rnn");
  k.in<double>({1, 1, 1}, {2}).in<double>({1, 4, 1}, w).in<double>({1, 4, 1}, r).in_absent();
  k.in_absent().in<double>({1, 1, 1}, {0.3}).in<double>({1, 1, 1}, {-0.4}).in<double>({1, 3}, p);
  k.out<double>({1, 1, 1, 1}).out_absent().out<double>({1, 1, 1});
  k.attr("kind", "lstm").attr("direction", "forward").attr("hidden", 1);
  ASSERT_EQ(k.run(), "");
  const double i = sigmoid(0.2 + 0.15 - 0.004);
  const double f = sigmoid(0.6 + 0.21 - 0.012);
  const double c = f * -0.4 + i * std::tanh(0.8 + 0.24);
  const double o = sigmoid(0.4 + 0.18 + 0.02 * c);
  expect_near(k.result<double>(2), {c});
  expect_near(k.result<double>(0), {o * std::tanh(c)});
}

TEST(RefRnn, GruWithEitherReset) {
  for (const int before : {0, 1}) {
    KernelCall k("ref.rnn");
    k.in<double>({1, 1, 1}, {1}).in<double>({1, 3, 1}, {0.1, 0.2, 0.3});
    k.in<double>({1, 3, 1}, {0.4, 0.5, 0.6}).in<double>({1, 6}, {0, 0, 0.05, 0, 0, 0.07});
    k.in_absent().in<double>({1, 1, 1}, {0.5}).out_absent().out<double>({1, 1, 1});
    k.attr("kind", "gru").attr("direction", "forward").attr("hidden", 1);
    k.attr("linear_before_reset", before);
    ASSERT_EQ(k.run(), "");
    const double z = sigmoid(0.1 + 0.2);
    const double r = sigmoid(0.2 + 0.25);
    const double inner = before != 0 ? r * (0.3 + 0.07) : r * 0.3 + 0.07;
    const double h = std::tanh(0.3 + inner + 0.05);
    expect_near(k.result<double>(1), {(1 - z) * h + z * 0.5});
  }
}

TEST(RefRnn, RefusesWhatDoesNotFit) {
  const auto call = [](Ints w) {
    KernelCall k("ref.rnn");
    k.in<double>({1, 1, 1}, {1}).in<double>(w, Doubles(3)).in<double>({1, 3, 1}, {1, 1, 1});
    k.out<double>({1, 1, 1, 1}).attr("kind", "gru").attr("direction", "forward");
    return k;
  };
  EXPECT_EQ(call({1, 3, 1}).attr("hidden", 1).run(), "");
  EXPECT_NE(call({1, 1, 3}).attr("hidden", 1).run(), "");
  EXPECT_NE(call({1, 3, 1}).attr("hidden", 2).run().find("hidden"), std::string::npos);
  EXPECT_NE(call({1, 3, 1}).attr("hidden", 1).attr("activations", "tanh").run(), "");
  EXPECT_NE(call({1, 3, 1}).attr("hidden", 1).attr("activations", "tanh,sine").run(), "");
  EXPECT_NE(call({1, 3, 1}).attr("hidden", 1).attr("activations", "tanh,tanh,tanh").run(), "");
  KernelCall lens("ref.rnn");
  lens.in<double>({1, 1, 1}, {1}).in<double>({1, 1, 1}, {1}).in<double>({1, 1, 1}, {1}).in_absent();
  lens.in<std::int32_t>({1}, {2}).out<double>({1, 1, 1, 1}).attr("kind", "rnn");
  EXPECT_NE(lens.attr("hidden", 1).run().find("length"), std::string::npos);
}

}  // namespace
}  // namespace frit::test
