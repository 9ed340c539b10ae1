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

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Casts one vector; `bytes` is the storage of the operand.
template <class R, class T>
std::vector<R> cast(DType from, const std::vector<T>& stored, std::int64_t n, DType to,
                    int saturate = 1, int round = 0) {
  KernelCall k("ref.cast");
  k.in({n}, stored, from).out(to, {n});
  k.attr("to", static_cast<std::int64_t>(to)).attr("saturate", saturate).attr("round_up", round);
  EXPECT_EQ(k.run(), "");
  return k.result<R>(0);
}

TEST(RefCast, HalfAndBfloat) {
  const Floats x = {1, 65504, 65520, 1e-8f, 5.9604645e-8f, kInf, -2.5f, 0.333251953125f};
  EXPECT_EQ((cast<std::uint16_t>(DType::f32, x, 8, DType::f16)),
            (Halves{0x3c00, 0x7bff, 0x7c00, 0, 1, 0x7c00, 0xc100, 0x3555}));
  EXPECT_EQ(
      (cast<std::uint16_t>(DType::f32, Floats{1, 1.00390625f, 1.01171875f, -kInf}, 4, DType::bf16)),
      (Halves{0x3f80, 0x3f80, 0x3f82, 0xff80}));
  const Halves half = {0x3c00, 0x0001, 0x03ff, 0x8000, 0x7c00, 0xfbff};
  EXPECT_EQ((cast<float>(DType::f16, half, 6, DType::f32)),
            (Floats{1, 0x1p-24f, 0x1.ff8p-15f, -0.0f, kInf, -65504}));
  EXPECT_TRUE(std::isnan(cast<float>(DType::f16, Halves{0x7e00}, 1, DType::f32)[0]));
  // Just above a tie in f64, exactly the tie in f32: one rounding goes up, two would go to even.
  EXPECT_EQ((cast<std::uint16_t>(DType::f64, std::vector<double>{1.0 + 0x1p-11 + 0x1p-40}, 1,
                                 DType::f16)),
            (Halves{0x3c01}));
}

TEST(RefCast, Float8) {
  const Floats x = {kNan, kInf, -kInf, 448, 465, -0.0f, 1e-9f, 57344, 61441, 2.5f};
  const auto to = [&](DType t, int saturate) {
    return cast<std::uint8_t>(DType::f32, x, 10, t, saturate);
  };
  EXPECT_EQ(to(DType::f8e4m3fn, 1),
            (Bytes{0x7f, 0x7e, 0xfe, 0x7e, 0x7e, 0x80, 0, 0x7e, 0x7e, 0x42}));
  EXPECT_EQ(to(DType::f8e4m3fn, 0),
            (Bytes{0x7f, 0x7f, 0xff, 0x7e, 0x7f, 0x80, 0, 0x7f, 0x7f, 0x42}));
  EXPECT_EQ(to(DType::f8e4m3fnuz, 1),
            (Bytes{0x80, 0x7f, 0xff, 0x7f, 0x7f, 0, 0, 0x7f, 0x7f, 0x4a}));
  EXPECT_EQ(to(DType::f8e4m3fnuz, 0),
            (Bytes{0x80, 0x80, 0x80, 0x80, 0x80, 0, 0, 0x80, 0x80, 0x4a}));
  EXPECT_EQ(to(DType::f8e5m2, 1), (Bytes{0x7e, 0x7b, 0xfb, 0x5f, 0x5f, 0x80, 0, 0x7b, 0x7b, 0x41}));
  EXPECT_EQ(to(DType::f8e5m2, 0), (Bytes{0x7e, 0x7c, 0xfc, 0x5f, 0x5f, 0x80, 0, 0x7b, 0x7c, 0x41}));
  EXPECT_EQ(to(DType::f8e5m2fnuz, 1),
            (Bytes{0x80, 0x7f, 0xff, 0x63, 0x63, 0, 0, 0x7f, 0x7f, 0x45}));
  EXPECT_EQ(to(DType::f8e5m2fnuz, 0),
            (Bytes{0x80, 0x80, 0x80, 0x63, 0x63, 0, 0, 0x7f, 0x80, 0x45}));
  EXPECT_EQ((cast<float>(DType::f8e5m2, Bytes{0x7c, 0xfc, 0x01, 0x3c}, 4, DType::f32)),
            (Floats{kInf, -kInf, 0x1p-16f, 1}));
}

TEST(RefCast, ScaleTypeRoundsAsAsked) {
  const Floats x = {1, 1.1f, 1.5f, 3, 0, kInf, 0.124f};
  const auto to = [&](int saturate, int round) {
    return cast<std::uint8_t>(DType::f32, x, 7, DType::f8e8m0, saturate, round);
  };
  EXPECT_EQ(to(1, 0), (Bytes{127, 127, 128, 129, 0, 254, 124}));
  EXPECT_EQ(to(1, 1), (Bytes{127, 128, 128, 129, 0, 254, 124}));
  EXPECT_EQ(to(1, 2), (Bytes{127, 127, 127, 128, 0, 254, 123}));
  EXPECT_EQ(to(0, 0), (Bytes{127, 127, 128, 129, 255, 255, 124}));
  EXPECT_EQ((cast<float>(DType::f8e8m0, Bytes{0, 127, 254}, 3, DType::f32)),
            (Floats{0x1p-127f, 1, 0x1p127f}));
}

TEST(RefCast, PackedTypes) {
  EXPECT_EQ((cast<std::uint8_t>(DType::f32, Floats{-9, -8, 7.9f, 8, kNan}, 5, DType::i4)),
            (Bytes{0x87, 0x87, 0x00}));
  EXPECT_EQ((cast<std::uint8_t>(DType::f32, Floats{-1, 15, 16}, 3, DType::u4)),
            (Bytes{0xff, 0x00}));
  EXPECT_EQ((cast<std::int8_t>(DType::i4, Bytes{0x8f, 0x07}, 3, DType::i8)),
            (std::vector<std::int8_t>{-1, -8, 7}));
  EXPECT_EQ((cast<float>(DType::i2, Bytes{0b11100100, 0b01}, 5, DType::f32)),
            (Floats{0, 1, -2, -1, 1}));
  EXPECT_EQ((cast<std::uint8_t>(DType::i8, std::vector<std::int8_t>{5, -1, 2}, 3, DType::u2)),
            (Bytes{0b101101}));
  EXPECT_EQ(
      (cast<std::uint8_t>(DType::f32, Floats{0.25f, 2.5f, 5, kInf, -0.75f}, 5, DType::f4e2m1)),
      (Bytes{0x40, 0x76, 0x0a}));
  EXPECT_EQ((cast<float>(DType::f4e2m1, Bytes{0x71, 0x0b}, 3, DType::f32)),
            (Floats{0.5f, 6, -1.5f}));
}

TEST(RefCast, Integers) {
  EXPECT_EQ((cast<std::int32_t>(DType::f32, Floats{-1.9f, 1.9f, 3e9f, -kInf, kNan}, 5, DType::i32)),
            (std::vector<std::int32_t>{-1, 1, INT32_MAX, INT32_MIN, 0}));
  EXPECT_EQ((cast<std::int8_t>(DType::i32, std::vector<std::int32_t>{200, -129}, 2, DType::i8)),
            (std::vector<std::int8_t>{-56, 127}));
  EXPECT_EQ((cast<std::uint8_t>(DType::f32, Floats{0, -0.0f, 0.1f, kNan}, 4, DType::boolean)),
            (Bytes{0, 0, 1, 1}));
  EXPECT_EQ((cast<std::uint8_t>(DType::boolean, Bytes{0, 7}, 2, DType::boolean)), (Bytes{0, 1}));
  EXPECT_EQ((cast<float>(DType::u64, std::vector<std::uint64_t>{~0ull}, 1, DType::f32)),
            (Floats{0x1p64f}));
  EXPECT_EQ((cast<std::uint64_t>(DType::f64, std::vector<double>{1e19, -1, 1e30}, 3, DType::u64)),
            (std::vector<std::uint64_t>{10000000000000000000ull, ~0ull, ~0ull}));
}

TEST(RefCast, RefusesBadDescs) {
  const auto call = [] { return KernelCall("ref.cast"); };
  EXPECT_NE(call().in<float>({1}, {1}).out(DType::c64, {1}).run(), "");
  EXPECT_NE(call().in<float>({1}, {1}).out(DType::string, {1}).run(), "");
  EXPECT_NE(call().in<float>({2}, {1, 2}).out<int>({1}).run(), "");
  EXPECT_NE(call().in<float>({1}, {1}).out<int>({1}).attr("to", 7).run(), "");
  EXPECT_NE(call().in<float>({1}, {1}).out<int>({1}).attr("round_up", 3).run(), "");
}

}  // namespace
}  // namespace frit::test
