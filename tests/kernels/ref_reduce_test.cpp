// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Dims = KernelCall::Dims;
using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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

template <class T>
std::vector<T> reduce(const char* kind, Dims dims, const std::vector<T>& x, Ints axes, Dims result,
                      int keep = 0) {
  KernelCall k("ref.reduce");
  k.in(dims, x).out(dtype_of<T>(), result).attr("kind", kind).ints("axes", axes);
  k.attr("keepdims", keep);
  EXPECT_EQ(k.run(), "") << kind;
  return k.result<T>(0);
}

TEST(RefReduce, EveryKind) {
  const Floats x = {1, -2, 3, -4};
  const auto all = [&](const char* kind) { return reduce<float>(kind, {4}, x, {0}, {})[0]; };
  EXPECT_EQ(all("sum"), -2);
  EXPECT_EQ(all("mean"), -0.5f);
  EXPECT_EQ(all("max"), 3);
  EXPECT_EQ(all("min"), -4);
  EXPECT_EQ(all("prod"), 24);
  EXPECT_EQ(all("l1"), 10);
  EXPECT_FLOAT_EQ(all("l2"), 5.477225575f);
  EXPECT_EQ(all("sum_square"), 30);
  EXPECT_FLOAT_EQ(reduce<float>("log_sum", {4}, {1, 2, 3, 4}, {0}, {})[0], 2.302585093f);
  EXPECT_FLOAT_EQ(reduce<float>("log_sum_exp", {4}, {1, 2, 3, 4}, {0}, {})[0], 4.440189699f);
  EXPECT_FLOAT_EQ(reduce<float>("log_sum_exp", {2}, {1000, 1000}, {0}, {})[0], 1000.693147f);
  EXPECT_EQ(reduce<float>("log_sum_exp", {2}, {-kInf, -kInf}, {0}, {})[0], -kInf);
  EXPECT_EQ(reduce<float>("log_sum_exp", {2}, {0, kInf}, {0}, {})[0], kInf);
}

TEST(RefReduce, AnyAxes) {
  Floats x(24);
  for (std::size_t i = 0; i < 24; ++i) x[i] = static_cast<float>(i);
  EXPECT_EQ(reduce<float>("sum", {2, 3, 4}, x, {0}, {3, 4}),
            (Floats{12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34}));
  EXPECT_EQ(reduce<float>("sum", {2, 3, 4}, x, {1}, {2, 1, 4}, 1),
            (Floats{12, 15, 18, 21, 48, 51, 54, 57}));
  EXPECT_EQ(reduce<float>("max", {2, 3, 4}, x, {0, 2}, {3}), (Floats{15, 19, 23}));
  EXPECT_EQ(reduce<float>("sum", {2, 3, 4}, x, {0, 1, 2}, {1, 1, 1}, 1), (Floats{276}));
  EXPECT_EQ(reduce<float>("sum_square", {2}, {2, 3}, {}, {2}), (Floats{4, 9}));
  EXPECT_EQ(reduce<float>("sum", {}, {7}, {}, {}), (Floats{7}));
}

TEST(RefReduce, LongRowsAndColumns) {
  const std::int64_t rows = 3;
  const std::int64_t cols = 1301;
  Floats x(static_cast<std::size_t>(rows * cols));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7);
  std::vector<double> row(3), column(1301);
  for (std::size_t i = 0; i < x.size(); ++i) {
    row[i / 1301] += static_cast<double>(x[i]);
    column[i % 1301] += static_cast<double>(x[i]);
  }
  const Floats by_row = reduce<float>("sum", {rows, cols}, x, {1}, {rows});
  const Floats by_column = reduce<float>("sum", {rows, cols}, x, {0}, {cols});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(by_row[i], static_cast<float>(row[i]));
  for (std::size_t i = 0; i < 1301; ++i) ASSERT_EQ(by_column[i], static_cast<float>(column[i]));
}

TEST(RefReduce, EmptySets) {
  const auto empty = [](const char* kind) { return reduce<float>(kind, {2, 0}, {}, {1}, {2})[1]; };
  EXPECT_EQ(empty("sum"), 0);
  EXPECT_EQ(empty("prod"), 1);
  EXPECT_EQ(empty("max"), -kInf);
  EXPECT_EQ(empty("min"), kInf);
  EXPECT_EQ(empty("log_sum"), -kInf);
  EXPECT_EQ(empty("log_sum_exp"), -kInf);
  EXPECT_TRUE(std::isnan(empty("mean")));
  using Bytes = std::vector<std::int8_t>;
  EXPECT_EQ(reduce<std::int8_t>("max", {0}, {}, {0}, {}), (Bytes{-128}));
  EXPECT_EQ(reduce<std::int8_t>("min", {0}, {}, {0}, {}), (Bytes{127}));
  EXPECT_EQ(reduce<std::uint64_t>("min", {0}, {}, {0}, {})[0], ~0ull);
  EXPECT_TRUE(reduce<float>("sum", {0, 2}, {}, {1}, {0}).empty());
}

TEST(RefReduce, NanAndIntegers) {
  EXPECT_TRUE(std::isnan(reduce<float>("max", {3}, {1, kNan, 2}, {0}, {})[0]));
  EXPECT_TRUE(std::isnan(reduce<float>("min", {3}, {kNan, 1, 2}, {0}, {})[0]));
  EXPECT_EQ(reduce<std::int8_t>("sum", {3}, {100, 100, 1}, {0}, {})[0], -55);
  EXPECT_EQ(reduce<std::int32_t>("mean", {3}, {1, 2, 5}, {0}, {})[0], 2);
  EXPECT_EQ(reduce<std::int64_t>("sum", {2}, {INT64_MAX, 1}, {0}, {})[0], INT64_MIN);
  EXPECT_EQ(reduce<std::int64_t>("max", {2}, {INT64_MAX, INT64_MAX - 1}, {0}, {})[0], INT64_MAX);
  EXPECT_EQ(reduce<std::int32_t>("l2", {2}, {3, 4}, {0}, {})[0], 5);

  KernelCall any("ref.reduce");
  any.in<std::uint8_t>({2, 2}, {0, 1, 0, 0}, DType::boolean).out(DType::boolean, {2});
  any.attr("kind", "max").ints("axes", {1}).attr("keepdims", 0);
  EXPECT_EQ(any.run(), "");
  EXPECT_EQ(any.result<std::uint8_t>(0), (std::vector<std::uint8_t>{1, 0}));
}

TEST(RefReduce, AxesOperand) {
  const auto call = [](Ints axes, Dims result, int noop) {
    KernelCall k("ref.reduce");
    const auto n = static_cast<std::int64_t>(axes.size());
    k.in<float>({2, 2}, {1, 2, 3, 4}).in({n}, axes).out<float>(result);
    k.attr("kind", "sum").attr("keepdims", 0).attr("noop_with_empty_axes", noop);
    const std::string error = k.run();
    return std::make_pair(error, k.result<float>(0));
  };
  EXPECT_EQ(call({-1}, {2}, 0).second, (Floats{3, 7}));
  EXPECT_EQ(call({0}, {2}, 0).second, (Floats{4, 6}));
  EXPECT_EQ(call({}, {}, 0).second, (Floats{10}));
  EXPECT_EQ(call({}, {2, 2}, 1).second, (Floats{1, 2, 3, 4}));
  EXPECT_NE(call({0, 1}, {2}, 0).first.find("dims than this engine was built for"),
            std::string::npos);
  EXPECT_NE(call({2}, {2}, 0).first, "");
  EXPECT_NE(call({0, -2}, {2}, 0).first, "");
}

TEST(RefReduce, RefusesBadDescs) {
  const auto call = [] { return KernelCall("ref.reduce").in<float>({2}, {1, 2}); };
  const auto add = [](KernelCall k, const char* kind, Ints axes) {
    return k.attr("kind", kind).ints("axes", axes).attr("keepdims", 0).run();
  };
  EXPECT_EQ(add(call().out<float>({}), "sum", {0}), "");
  EXPECT_NE(add(call().out<float>({1}), "sum", {0}), "");
  EXPECT_NE(add(call().out<double>({}), "sum", {0}), "");
  EXPECT_NE(add(call().out<float>({}), "median", {0}), "");
  EXPECT_NE(add(call().out<float>({}), "sum", {1}), "");
  EXPECT_NE(add(call().out<float>({}), "sum", {-1}), "");
  EXPECT_NE(add(call().out<float>({}), "sum", {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), "");
  EXPECT_NE(call().out<float>({}).attr("kind", "sum").attr("keepdims", 0).run(), "");
}

TEST(RefSoftmax, BothDirectionsAndLog) {
  const auto softmax = [](Dims dims, Floats x, int axis, int log) {
    KernelCall k("ref.softmax");
    k.in(dims, x).out<float>(dims).attr("axis", axis).attr("log", log);
    EXPECT_EQ(k.run(), "");
    return k.result<float>(0);
  };
  expect_close(softmax({3}, {1, 2, 3}, 0, 0), {0.090030573f, 0.244728471f, 0.665240956f});
  expect_close(softmax({3}, {1, 2, 3}, 0, 1), {-2.407605964f, -1.407605964f, -0.407605964f});
  expect_close(softmax({2, 2}, {0, 1000, 0, 1000}, 0, 0), {0.5f, 0.5f, 0.5f, 0.5f});
  expect_close(softmax({2, 2}, {0, 1000, -kInf, 0}, 1, 0), {0, 1, 0, 1});
  expect_close(softmax({1, 2}, {-kInf, -kInf}, 1, 0), {kNan, kNan});
  EXPECT_TRUE(softmax({0, 3}, {}, 1, 0).empty());
  for (std::int64_t n : {1500, 3001}) {
    const Floats wide(static_cast<std::size_t>(n), 2.0f);
    for (float v : softmax({n}, wide, 0, 0)) ASSERT_FLOAT_EQ(v, 1.0f / static_cast<float>(n));
    for (float v : softmax({1, n}, wide, 1, 1))
      ASSERT_FLOAT_EQ(v, -std::log(static_cast<float>(n)));
  }
  EXPECT_NE(KernelCall("ref.softmax").in<float>({1}, {1}).out<float>({1}).attr("axis", 1).run(),
            "");
  EXPECT_NE(KernelCall("ref.softmax").in<int>({1}, {1}).out<int>({1}).attr("axis", 0).run(), "");
  EXPECT_NE(KernelCall("ref.softmax").in<float>({}, {1}).out<float>({}).attr("axis", 0).run(), "");
}

TEST(RefHardmax, FirstOfEqualsWins) {
  KernelCall k("ref.hardmax");
  k.in<float>({2, 3}, {1, 3, 3, kNan, 5, -1}).out<float>({2, 3}).attr("axis", 1);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{0, 1, 0, 1, 0, 0}));
  KernelCall columns("ref.hardmax");
  columns.in<float>({3, 2}, {1, 9, 3, 2, 3, 9}).out<float>({3, 2}).attr("axis", 0);
  EXPECT_EQ(columns.run(), "");
  EXPECT_EQ(columns.result<float>(0), (Floats{0, 1, 1, 0, 0, 0}));
}

TEST(RefLpNorm, ZeroStaysZero) {
  const auto norm = [](int p) {
    KernelCall k("ref.lp_norm");
    k.in<float>({2, 2}, {3, -4, 0, 0}).out<float>({2, 2}).attr("axis", 1).attr("p", p);
    EXPECT_EQ(k.run(), "");
    return k.result<float>(0);
  };
  expect_close(norm(2), {0.6f, -0.8f, 0, 0});
  expect_close(norm(1), {3.0f / 7, -4.0f / 7, 0, 0});
}

TEST(RefScan, DirectionsAndTypes) {
  const auto scan = [](const char* name, int exclusive, int reverse) {
    KernelCall k(name);
    k.in<float>({2, 3}, {1, 2, 3, 4, 5, 6}).out<float>({2, 3}).attr("axis", 1);
    k.attr("exclusive", exclusive).attr("reverse", reverse);
    EXPECT_EQ(k.run(), "");
    return k.result<float>(0);
  };
  EXPECT_EQ(scan("ref.cumsum", 0, 0), (Floats{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(scan("ref.cumsum", 1, 0), (Floats{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(scan("ref.cumsum", 0, 1), (Floats{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(scan("ref.cumsum", 1, 1), (Floats{5, 3, 0, 11, 6, 0}));
  EXPECT_EQ(scan("ref.cumprod", 0, 0), (Floats{1, 2, 6, 4, 20, 120}));
  EXPECT_EQ(scan("ref.cumprod", 1, 1), (Floats{6, 3, 1, 30, 6, 1}));

  const Floats ones(1100, 1.0f);
  for (int reverse : {0, 1}) {
    KernelCall k("ref.cumsum");
    k.in<float>({1100}, ones).out<float>({1100}).attr("axis", 0).attr("exclusive", 1);
    EXPECT_EQ(k.attr("reverse", reverse).run(), "");
    const Floats y = k.result<float>(0);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], static_cast<float>(reverse != 0 ? 1099 - i : i));
  }

  const auto dynamic = [](std::int32_t axis) {
    KernelCall k("ref.cumsum");
    k.in<std::int32_t>({2, 2}, {1, INT32_MAX, 3, 1}).in<std::int32_t>({}, {axis});
    k.out<std::int32_t>({2, 2});
    const std::string error = k.run();
    return std::make_pair(error, k.result<std::int32_t>(0));
  };
  EXPECT_EQ(dynamic(-2).second, (std::vector<std::int32_t>{1, INT32_MAX, 4, INT32_MIN}));
  EXPECT_NE(dynamic(2).first, "");
}

TEST(RefArgReduce, TiesAndNan) {
  const auto arg = [](const char* kind, Dims dims, Floats x, int axis, Dims result, int last) {
    KernelCall k("ref.arg_reduce");
    k.in(dims, x).out<std::int64_t>(result).attr("kind", kind).attr("axis", axis);
    k.attr("keepdims", 0).attr("select_last", last);
    EXPECT_EQ(k.run(), "");
    return k.result<std::int64_t>(0);
  };
  EXPECT_EQ(arg("max", {2, 3}, {1, 3, 3, 5, 5, 2}, 1, {2}, 0), (Ints{1, 0}));
  EXPECT_EQ(arg("max", {2, 3}, {1, 3, 3, 5, 5, 2}, 1, {2}, 1), (Ints{2, 1}));
  EXPECT_EQ(arg("min", {2, 2}, {1, 2, 0, 2}, 0, {2}, 0), (Ints{1, 0}));
  EXPECT_EQ(arg("min", {2, 2}, {1, 2, 0, 2}, 0, {2}, 1), (Ints{1, 1}));
  EXPECT_EQ(arg("max", {3}, {1, kNan, 9}, 0, {}, 0), (Ints{1}));
  EXPECT_EQ(arg("min", {4}, {1, kNan, 0, kNan}, 0, {}, 1), (Ints{3}));
  KernelCall empty("ref.arg_reduce");
  empty.in<float>({2, 0}, {}).out<std::int64_t>({2}).attr("kind", "max").attr("axis", 1);
  EXPECT_NE(empty.attr("keepdims", 0).attr("select_last", 0).run(), "");
}

TEST(RefTopK, OrdersByValueThenPosition) {
  const auto topk = [](Dims dims, Floats x, int axis, int k, int largest) {
    Dims result = dims;
    result[static_cast<std::size_t>(axis)] = k;
    KernelCall c("ref.topk");
    c.in(dims, x).out<float>(result).out<std::int64_t>(result).attr("axis", axis).attr("k", k);
    c.attr("largest", largest).attr("sorted", 1);
    EXPECT_EQ(c.run(), "");
    return std::make_pair(c.result<float>(0), c.result<std::int64_t>(1));
  };
  EXPECT_EQ(topk({5}, {1, 7, 7, 3, 7}, 0, 3, 1).second, (Ints{1, 2, 4}));
  EXPECT_EQ(topk({5}, {1, 7, 1, 3, 7}, 0, 3, 0).second, (Ints{0, 2, 3}));
  EXPECT_EQ(topk({3, 2}, {1, 6, 3, 4, 5, 2}, 0, 2, 1).first, (Floats{5, 6, 3, 4}));
  EXPECT_EQ(topk({4}, {1, kNan, kInf, 2}, 0, 4, 1).second, (Ints{1, 2, 3, 0}));
  EXPECT_EQ(topk({4}, {1, kNan, kInf, 2}, 0, 4, 0).second, (Ints{0, 3, 2, 1}));
  EXPECT_TRUE(topk({4}, {1, 2, 3, 4}, 0, 0, 1).second.empty());

  const auto dynamic = [](std::int64_t k) {
    KernelCall c("ref.topk");
    c.in<std::int64_t>({3}, {5, INT64_MAX, INT64_MAX - 1}).in<std::int64_t>({1}, {k});
    c.out<std::int64_t>({2}).out<std::int64_t>({2});
    const std::string error = c.attr("axis", 0).attr("largest", 1).attr("sorted", 1).run();
    return std::make_pair(error, c.result<std::int64_t>(1));
  };
  EXPECT_EQ(dynamic(2).second, (Ints{1, 2}));
  EXPECT_NE(dynamic(3).first, "");
  KernelCall many("ref.topk");
  many.in<float>({2}, {1, 2}).out<float>({3}).attr("axis", 0).attr("k", 3);
  EXPECT_NE(many.attr("largest", 1).attr("sorted", 1).run(), "");
}

}  // namespace
}  // namespace frit::test
