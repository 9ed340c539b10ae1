// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/scalar.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>

namespace frit::kernels {
namespace {

constexpr DType kSmallFloats[] = {DType::f16,        DType::bf16,   DType::f8e4m3fn,
                                  DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz,
                                  DType::f4e2m1};

TEST(Scalar, EveryCodeOfSmallFloatsSurvivesTheRoundTrip) {
  for (const DType t : kSmallFloats) {
    const SmallFloat f = small_float(t);
    for (unsigned code = 0; code < 1u << bits(t); ++code) {
      const float v = decode_small(static_cast<std::uint16_t>(code), f);
      if (std::isnan(v)) continue;
      ASSERT_EQ(encode_small(static_cast<double>(v), f), code) << static_cast<int>(t);
    }
  }
  for (unsigned code = 0; code < 255; ++code) {
    const auto c = static_cast<std::uint8_t>(code);
    ASSERT_EQ(encode_e8m0(static_cast<double>(decode_e8m0(c))), c);
  }
}

TEST(Scalar, MidpointsGoToTheEvenNeighbour) {
  for (const DType t : kSmallFloats) {
    const SmallFloat f = small_float(t);
    for (unsigned code = 0; code < f.largest; ++code) {
      const auto low = static_cast<double>(decode_small(static_cast<std::uint16_t>(code), f));
      const auto high = static_cast<double>(decode_small(static_cast<std::uint16_t>(code + 1), f));
      const double middle = (low + high) / 2;
      ASSERT_EQ(encode_small(middle, f), code + code % 2);
      ASSERT_EQ(encode_small(std::nextafter(middle, low), f), code);
      ASSERT_EQ(encode_small(std::nextafter(middle, high), f), code + 1);
    }
  }
}

TEST(Scalar, FastHalvesAgreeWithTheGeneralConversion) {
  const SmallFloat half = small_float(DType::f16);
  const SmallFloat brain = small_float(DType::bf16);
  for (std::uint64_t raw = 0; raw < std::uint64_t{1} << 32; raw += 997) {
    const auto v = std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    ASSERT_EQ(f32_to_f16(v), encode_small(static_cast<double>(v), half)) << v;
    ASSERT_EQ(f32_to_bf16(v), encode_small(static_cast<double>(v), brain)) << v;
  }
  for (unsigned code = 0; code < 1u << 16; ++code) {
    const auto c = static_cast<std::uint16_t>(code);
    const float general = decode_small(c, half);
    if (std::isnan(general))
      ASSERT_TRUE(std::isnan(f16_to_f32(c)));
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(f16_to_f32(c)), std::bit_cast<std::uint32_t>(general));
  }
}

TEST(Scalar, PackedElementsKeepTheirNeighbours) {
  std::array<std::uint8_t, 2> bytes = {0xff, 0xff};
  store_i64(DType::i4, bytes.data(), 1, 5);
  store_i64(DType::u4, bytes.data(), 2, 18);
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 2>{0x5f, 0xf2}));
  EXPECT_EQ(load_i64(DType::i4, bytes.data(), 0), -1);
  EXPECT_EQ(load_i64(DType::i4, bytes.data(), 1), 5);
  EXPECT_EQ(load_f64(DType::u4, bytes.data(), 3), 15);
  store_i64(DType::i2, bytes.data(), 1, 1);
  EXPECT_EQ(bytes[0], 0x57);
  EXPECT_EQ(load_i64(DType::i2, bytes.data(), 0), -1);
  EXPECT_EQ(storage_bytes(DType::u2, 5), 2u);
  EXPECT_EQ(storage_bytes(DType::i4, 5), 3u);
  EXPECT_EQ(storage_bytes(DType::f64, 5), 40u);
}

TEST(Scalar, RealsBecomeIntegersWithoutSurprises) {
  EXPECT_EQ(to_i64(std::nan("")), 0);
  EXPECT_EQ(to_i64(1e30), INT64_MAX);
  EXPECT_EQ(to_i64(-1e30), INT64_MIN);
  EXPECT_EQ(to_u64(1.5e19), 15000000000000000000ull);
  EXPECT_EQ(to_u64(-1), ~0ull);
}

}  // namespace
}  // namespace frit::kernels
