// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/cpu/ref/pointwise.h"
#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Floats = std::vector<float>;
using Dims = std::vector<std::int64_t>;
namespace ref = kernels::ref;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Floats numbers(std::size_t n, unsigned seed) {
  Floats v(n);
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(seed >> 8) - (1 << 23)) / (1 << 20);
  }
  const Floats special{kNan, kInf, -kInf, 0, -0.0f, 1, -1, 2.5f, 100, -100, 1e30f, -1e30f};
  for (std::size_t i = 0; i < special.size() && i < n; ++i) v[(i * 7 + seed % 5) % n] = special[i];
  return v;
}

std::int64_t volume(const Dims& d) {
  std::int64_t n = 1;
  for (const auto x : d) n *= x;
  return n;
}

/// Runs one instruction with the kernel `name` on two operands of the given dims.
Floats run_row(const char* name, int row, const Dims& a, const Dims& b, const Dims& y,
               const Floats& vb) {
  KernelCall k(name);
  const bool binary = ref::pointwise_row(row).arity == 2;
  k.in<float>(a, numbers(static_cast<std::size_t>(volume(a)), 1));
  k.in<float>(b, vb).out<float>(y);
  k.ints("program", {row, 1, 0, binary ? 1 : -1, -1}).reals("params", {0.75, 0.5});
  k.ints("results", {2});
  EXPECT_EQ(k.run(), "") << ref::pointwise_row(row).name;
  return k.result<float>(0);
}

void expect_same(const Floats& got, const Floats& want, const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]) || std::isinf(want[i]))
      ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i])
          << what << " " << i << ": " << got[i] << ", not " << want[i];
    else
      ASSERT_NEAR(got[i], want[i], 1e-6f + 1e-5f * std::fabs(want[i])) << what << " " << i;
  }
}

TEST(FastRegion, EveryRowFollowsTheReference) {
  for (int row = 0; row < ref::kPointwiseRows; ++row) {
    const auto& r = ref::pointwise_row(row);
    if (r.arity > 2 || (r.group != 'F' && r.group != 'A')) continue;
    for (const std::int64_t n : {0, 1, 7, 1003}) {
      const Dims d{n};
      const Floats b = numbers(static_cast<std::size_t>(n), 5);
      expect_same(run_row("cpu.region", row, d, d, d, b), run_row("ref.region", row, d, d, d, b),
                  r.name);
    }
  }
}

TEST(FastRegion, Broadcasts) {
  const Dims y{3, 17, 41};
  for (const Dims& b : {Dims{}, Dims{1}, Dims{41}, Dims{17, 1}, Dims{3, 1, 1}, Dims{3, 1, 41}}) {
    const Floats v = numbers(static_cast<std::size_t>(volume(b)), 3);
    expect_same(run_row("cpu.region", ref::kPw_add, y, b, y, v),
                run_row("ref.region", ref::kPw_add, y, b, y, v), "add");
  }
}

TEST(FastRegion, PowersWithOneExponent) {
  for (const float e : {2.0f, 3.0f, 0.5f, -0.5f, -1.0f, 0.0f, 1.7f}) {
    const Dims y{700};
    expect_same(run_row("cpu.region", ref::kPw_pow, y, {}, y, {e}),
                run_row("ref.region", ref::kPw_pow, y, {}, y, {e}), "pow");
  }
}

/// A chain with two results, one of them used further, and a comparison that feeds a choice.
TEST(FastRegion, SeveralResults) {
  const auto run = [](const char* name) {
    KernelCall k(name);
    k.in<float>({5, 401}, numbers(2005, 9)).in<float>({401}, numbers(401, 4));
    k.out<float>({5, 401}).out<float>({5, 401});
    k.ints("program", {ref::kPw_add,  1, 0, 1,  -1, ref::kPw_less,  9, 0, 1, -1,
                       ref::kPw_tanh, 1, 2, -1, -1, ref::kPw_where, 1, 3, 4, 2});
    k.reals("params", {0, 0, 0, 0, 0, 0, 0, 0}).ints("results", {5, 2});
    EXPECT_EQ(k.run(), "");
    Floats all = k.result<float>(0);
    const Floats second = k.result<float>(1);
    all.insert(all.end(), second.begin(), second.end());
    return all;
  };
  expect_same(run("cpu.region"), run("ref.region"), "chain");
}

TEST(FastRegion, RefusesBadPrograms) {
  const auto run = [](std::vector<std::int64_t> program) {
    return KernelCall("cpu.region")
        .in<float>({2}, {1, 2})
        .out<float>({2})
        .ints("program", program)
        .reals("params", {0, 0})
        .ints("results", {1})
        .run();
  };
  EXPECT_EQ(run({0, 1, 0, -1, -1}), "");
  EXPECT_NE(run({0, 1, 1, -1, -1}), "");
  EXPECT_NE(run({999, 1, 0, -1, -1}), "");
  EXPECT_NE(run({0, 1, 0, -1}), "");
}

}  // namespace
}  // namespace frit::test
