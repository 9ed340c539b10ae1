// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
using Halves = std::vector<std::uint16_t>;
using Ints = std::vector<std::int64_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// One operand, one result of equal dims and type f32.
Floats unary(const char* name, Floats x, std::vector<std::pair<const char*, double>> attrs = {}) {
  KernelCall k(name);
  const auto n = static_cast<std::int64_t>(x.size());
  k.in<float>({n}, x).out<float>({n});
  for (const auto& [key, v] : attrs) k.attr(key, v);
  EXPECT_EQ(k.run(), "");
  return k.result<float>(0);
}

template <class T>
std::vector<T> binary(const char* name, std::vector<T> a, std::vector<T> b) {
  KernelCall k(name);
  const auto n = static_cast<std::int64_t>(a.size());
  k.in({n}, a).in({n}, b).out(dtype_of<T>(), {n});
  EXPECT_EQ(k.run(), "");
  return k.result<T>(0);
}

void expect_close(const Floats& got, const Floats& want, float tolerance = 1e-6f) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(got[i])) << i << " is " << got[i];
    else if (std::isinf(want[i]))
      EXPECT_EQ(got[i], want[i]) << i;
    else
      EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0f, std::fabs(want[i]))) << i;
  }
}

TEST(RefPointwise, BasicArithmetic) {
  EXPECT_EQ(binary<float>("ref.add", {1, 2, kInf}, {3, -5, 1}), (Floats{4, -3, kInf}));
  EXPECT_EQ(binary<float>("ref.div", {1, -1, 3}, {0, 0, 2}), (Floats{kInf, -kInf, 1.5f}));
  EXPECT_EQ(unary("ref.round", {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 2.4f}),
            (Floats{0, 2, 2, -0.0f, -2, 2}));
  EXPECT_EQ(unary("ref.relu", {-2, 0, 3})[2], 3);
  EXPECT_TRUE(std::isnan(unary("ref.relu", {kNan})[0]));
  EXPECT_EQ(unary("ref.sign", {-3, 0, 7}), (Floats{-1, 0, 1}));
}

TEST(RefPointwise, MinAndMaxKeepNan) {
  const Floats low = binary<float>("ref.min", {1, kNan, 2, kNan}, {2, 1, kNan, kNan});
  EXPECT_EQ(low[0], 1);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(std::isnan(low[i]));
  const Floats high = binary<float>("ref.max", {1, kNan, 2}, {2, 1, kNan});
  EXPECT_EQ(high[0], 2);
  EXPECT_TRUE(std::isnan(high[1]) && std::isnan(high[2]));
}

TEST(RefPointwise, Transcendental) {
  expect_close(unary("ref.erf", {0, 0.5f, -1, 3, kInf}),
               {0, 0.5204998778f, -0.8427007929f, 0.9999779095f, 1});
  expect_close(unary("ref.gelu", {0, 1, -1, 10}), {0, 0.8413447461f, -0.1586552539f, 10});
  expect_close(unary("ref.gelu_tanh", {1, -1}), {0.8411919906f, -0.1588080094f});
  expect_close(unary("ref.sigmoid", {0, 2, -200, 200}), {0.5f, 0.8807970780f, 0, 1});
  expect_close(unary("ref.silu", {1, -1}), {0.7310585786f, -0.2689414214f});
  expect_close(unary("ref.softplus", {0, 100, -100, 1}), {0.6931471806f, 100, 0, 1.3132616875f});
  expect_close(unary("ref.tanh", {0, 1e-20f, 9e-4f, 1.1e-3f, -1, 50, -kInf, kNan}),
               {0, 1e-20f, 8.99999757e-4f, 1.09999956e-3f, -0.761594156f, 1, -1, kNan}, 1e-7f);
  expect_close(unary("ref.mish", {1}), {0.8650983882f});
  expect_close(unary("ref.rsqrt", {4, 0}), {0.5f, kInf});
  expect_close(unary("ref.log", {1, 0, -1}), {0, -kInf, kNan});
}

TEST(RefPointwise, ParametersComeByName) {
  EXPECT_EQ(unary("ref.leaky_relu", {-2, 3}, {{"alpha", 0.5}}), (Floats{-1, 3}));
  EXPECT_EQ(unary("ref.clamp", {-2, 0.5f, 3}, {{"min", -1}, {"max", 1}}), (Floats{-1, 0.5f, 1}));
  EXPECT_EQ(unary("ref.affine", {1, 2}, {{"alpha", 3}, {"beta", -1}}), (Floats{2, 5}));
  EXPECT_EQ(unary("ref.hard_sigmoid", {-10, 0, 10}, {{"alpha", 0.2}, {"beta", 0.5}}),
            (Floats{0, 0.5f, 1}));
  EXPECT_EQ(unary("ref.shrink", {-2, 0, 2}, {{"lambd", 1.5}, {"bias", 0.5}}),
            (Floats{-1.5f, 0, 1.5f}));
  expect_close(unary("ref.elu", {-1, 2}, {{"alpha", 2}}), {-1.2642411177f, 2});
  EXPECT_NE(KernelCall("ref.clamp").in<float>({1}, {1}).out<float>({1}).attr("min", 0.0).run(), "");
}

TEST(RefPointwise, IntegersWrapAndNeverTrap) {
  constexpr auto kMin32 = std::numeric_limits<std::int32_t>::min();
  constexpr auto kMax32 = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(binary<std::int32_t>("ref.add", {kMax32}, {1}), (std::vector<std::int32_t>{kMin32}));
  EXPECT_EQ(binary<std::int32_t>("ref.div", {kMin32, 7, -7}, {-1, 0, 2}),
            (std::vector<std::int32_t>{kMin32, 0, -3}));
  constexpr auto kMin64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(binary<std::int64_t>("ref.div", {kMin64, 1}, {-1, 0}), (Ints{kMin64, 0}));
  EXPECT_EQ(binary<std::int64_t>("ref.mod", {-7, 7, 5, kMin64}, {3, -3, 0, -1}),
            (Ints{2, -2, 0, 0}));
  EXPECT_EQ(binary<std::int64_t>("ref.fmod", {-7, 7}, {3, -3}), (Ints{-1, 1}));
  EXPECT_EQ(binary<std::int64_t>("ref.pow", {2, -1, 3, 0, 2}, {10, -3, -1, 0, 64}),
            (Ints{1024, -1, 0, 1, 0}));
  EXPECT_EQ(binary<std::uint8_t>("ref.mul", {200, 3}, {2, 5}), (Bytes{144, 15}));
  EXPECT_EQ(binary<std::uint8_t>("ref.sub", {1}, {2}), (Bytes{255}));
  EXPECT_EQ(binary<std::uint8_t>("ref.shift_left", {1, 1, 255}, {7, 8, 200}), (Bytes{128, 0, 0}));
  EXPECT_EQ(binary<std::uint64_t>("ref.shift_right", {~0ull, 1}, {63, 64}),
            (std::vector<std::uint64_t>{1, 0}));
  expect_close(binary<float>("ref.mod", {-7, 7, 5.5f}, {3, -3, 2}), {2, -2, 1.5f});
  expect_close(binary<float>("ref.fmod", {-7, 7, 5.5f}, {3, -3, 0}), {-1, 1, kNan});

  KernelCall clamp("ref.clamp");
  clamp.in<std::uint8_t>({3}, {0, 100, 255}).out<std::uint8_t>({3});
  clamp.attr("min", -5.0).attr("max", 300.0);
  EXPECT_EQ(clamp.run(), "");
  EXPECT_EQ(clamp.result<std::uint8_t>(0), (Bytes{0, 100, 255}));
}

TEST(RefPointwise, BroadcastsEveryAxis) {
  KernelCall k("ref.add");
  k.in<float>({2, 1, 3}, {1, 2, 3, 4, 5, 6}).in<float>({2, 1}, {10, 20}).out<float>({2, 2, 3});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26}));

  KernelCall scalar("ref.mul");
  scalar.in<float>({}, {2}).in<float>({1, 1}, {3}).out<float>({1, 1});
  EXPECT_EQ(scalar.run(), "");
  EXPECT_EQ(scalar.result<float>(0), (Floats{6}));

  KernelCall empty("ref.add");
  empty.in<float>({0, 3}, {}).in<float>({1, 3}, {1, 2, 3}).out<float>({0, 3});
  EXPECT_EQ(empty.run(), "");
}

TEST(RefPointwise, LongRowsCrossTilesAndThreads) {
  const std::int64_t rows = 37;
  const std::int64_t cols = 1201;
  Floats x(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000);
  Floats column(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<float>(i * 1000);
  KernelCall k("ref.add");
  k.in<float>({rows, cols}, x).in<float>({rows, 1}, column).out<float>({rows, cols});
  EXPECT_EQ(k.run(), "");
  const Floats y = k.result<float>(0);
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], x[i] + column[i / static_cast<std::size_t>(cols)]) << i;
}

TEST(RefPointwise, HalfAndPackedTypes) {
  KernelCall half("ref.add");  // 1 + 2, 65504 + 65504, -0 + 0, 1 + 2^-11 rounds to even
  half.in<std::uint16_t>({4}, {0x3c00, 0x7bff, 0x8000, 0x3c00}, DType::f16)
      .in<std::uint16_t>({4}, {0x4000, 0x7bff, 0x0000, 0x1000}, DType::f16)
      .out(DType::f16, {4});
  EXPECT_EQ(half.run(), "");
  EXPECT_EQ(half.result<std::uint16_t>(0), (Halves{0x4200, 0x7c00, 0x0000, 0x3c00}));

  KernelCall nibbles("ref.add");  // i4: 7+1 wraps to -8, -1+-1, 3+2
  nibbles.in<std::uint8_t>({3}, {0xf7, 0x03}, DType::i4)
      .in<std::uint8_t>({3}, {0xf1, 0x02}, DType::i4)
      .out(DType::i4, {3});
  EXPECT_EQ(nibbles.run(), "");
  EXPECT_EQ(nibbles.result<std::uint8_t>(0), (Bytes{0xe8, 0x05}));
}

TEST(RefPointwise, ComparisonsAndWhere) {
  KernelCall less("ref.less");
  less.in<float>({3}, {1, 2, kNan}).in<float>({1}, {2}).out(DType::boolean, {3});
  EXPECT_EQ(less.run(), "");
  EXPECT_EQ(less.result<std::uint8_t>(0), (Bytes{1, 0, 0}));

  KernelCall equal("ref.equal");  // a stored bool of 2 is true
  equal.in<std::uint8_t>({3}, {2, 0, 1}, DType::boolean)
      .in<std::uint8_t>({3}, {1, 0, 0}, DType::boolean)
      .out(DType::boolean, {3});
  EXPECT_EQ(equal.run(), "");
  EXPECT_EQ(equal.result<std::uint8_t>(0), (Bytes{1, 1, 0}));

  KernelCall where("ref.where");
  where.in<std::uint8_t>({2, 1}, {1, 0}, DType::boolean)
      .in<std::int64_t>({2}, {INT64_MIN, INT64_MAX})
      .in<std::int64_t>({}, {7})
      .out<std::int64_t>({2, 2});
  EXPECT_EQ(where.run(), "");
  EXPECT_EQ(where.result<std::int64_t>(0), (Ints{INT64_MIN, INT64_MAX, 7, 7}));

  KernelCall inf("ref.is_inf");
  inf.in<float>({4}, {kInf, -kInf, kNan, 1}).out(DType::boolean, {4});
  inf.attr("negative", 0.0).attr("positive", 1.0);
  EXPECT_EQ(inf.run(), "");
  EXPECT_EQ(inf.result<std::uint8_t>(0), (Bytes{1, 0, 0, 0}));
}

TEST(RefPointwise, RefusesBadDescs) {
  const auto add = [] { return KernelCall("ref.add"); };
  EXPECT_NE(add().in<float>({2}, {1, 2}).in<double>({2}, {1, 2}).out<float>({2}).run(), "");
  EXPECT_NE(add().in<float>({2}, {1, 2}).in<float>({3}, {1, 2, 3}).out<float>({3}).run(), "");
  EXPECT_NE(add().in<float>({2}, {1, 2}).in<float>({2}, {1, 2}).out<double>({2}).run(), "");
  EXPECT_NE(add().in<float>({2}, {1, 2}).in<float>({2}, {1, 2}).out<float>({1}).run(), "");
  EXPECT_NE(add().in<float>({2}, {1, 2}).out<float>({2}).run(), "");
  EXPECT_NE(add().in<float>({2}, {1}).in<float>({2}, {1, 2}).out<float>({2}).run(), "");
  EXPECT_NE(add().in<float>({1, 2}, {1, 2}).in<float>({2}, {1, 2}).out<float>({2}).run(), "");
  const std::string exp_of_int = KernelCall("ref.exp").in<int>({1}, {1}).out<int>({1}).run();
  EXPECT_EQ(exp_of_int, "exp: operand 0 of exp has type i32; expected a float");
}

TEST(RefRegion, SharesValuesAndRoundsEachInstruction) {
  // v3 = a + b; v4 = v3 * c; v5 = relu(v4); results v5 and v3.
  KernelCall k("ref.region");
  k.in<float>({2, 2}, {1, 2, 3, 4}).in<float>({2}, {10, -20}).in<float>({}, {0.5f});
  k.out<float>({2, 2}).out<float>({2, 2});
  constexpr std::int64_t kRelu = 3;
  constexpr std::int64_t kAdd = 49;
  constexpr std::int64_t kMul = 51;
  k.ints("program", {kAdd, 1, 0, 1, -1, kMul, 1, 3, 2, -1, kRelu, 1, 4, -1, -1});
  k.reals("params", {0, 0, 0, 0, 0, 0}).ints("results", {5, 3});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{5.5f, 0, 6.5f, 0}));
  EXPECT_EQ(k.result<float>(1), (Floats{11, -18, 13, -16}));

  KernelCall half("ref.region");  // the sum is rounded to f16 before it is widened
  half.in<std::uint16_t>({1}, {0x3c00}, DType::f16).in<std::uint16_t>({1}, {0x1000}, DType::f16);
  half.out<float>({1});
  half.ints("program", {kAdd, 10, 0, 1, -1, -1, 1, 2, -1, -1}).reals("params", {0, 0, 1, 0});
  half.ints("results", {3});
  EXPECT_EQ(half.run(), "");
  EXPECT_EQ(half.result<float>(0), (Floats{1}));
}

TEST(RefRegion, RefusesBadPrograms) {
  const auto run = [](Ints program, std::vector<double> params, Ints results) {
    return KernelCall("ref.region")
        .in<float>({2}, {1, 2})
        .out<float>({2})
        .ints("program", program)
        .reals("params", params)
        .ints("results", results)
        .run();
  };
  EXPECT_EQ(run({0, 1, 0, -1, -1}, {0, 0}, {1}), "");
  EXPECT_NE(run({0, 1, 0, -1}, {0, 0}, {1}), "");         // cut short
  EXPECT_NE(run({0, 1, 1, -1, -1}, {0, 0}, {1}), "");     // reads itself
  EXPECT_NE(run({0, 1, -2, -1, -1}, {0, 0}, {1}), "");    // no such value
  EXPECT_NE(run({999, 1, 0, -1, -1}, {0, 0}, {1}), "");   // no such op
  EXPECT_NE(run({-2, 1, 0, -1, -1}, {0, 0}, {1}), "");    // no such op
  EXPECT_NE(run({0, 99, 0, -1, -1}, {0, 0}, {1}), "");    // no such type
  EXPECT_NE(run({0, 8, 0, -1, -1}, {0, 0}, {1}), "");     // strings
  EXPECT_NE(run({0, 1, 0, 0, -1}, {0, 0}, {1}), "");      // one source too many
  EXPECT_NE(run({0, 1, 0, -1, -1}, {0}, {1}), "");        // a parameter is missing
  EXPECT_NE(run({0, 1, 0, -1, -1}, {0, 0}, {2}), "");     // result out of range
  EXPECT_NE(run({0, 1, 0, -1, -1}, {0, 0}, {1, 1}), "");  // results do not match
  EXPECT_NE(run({-1, 11, 0, -1, -1}, {1, 0}, {1}), "");   // f64 stored to f32
  EXPECT_NE(KernelCall("ref.region").in<float>({2}, {1, 2}).out<float>({2}).run(), "");
}

}  // namespace
}  // namespace frit::test
