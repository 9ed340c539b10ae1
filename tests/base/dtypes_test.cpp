// SPDX-License-Identifier: Apache-2.0
#include "base/dtypes.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace frit {
namespace {

TEST(DTypes, NamesRoundTrip) {
  for (int i = 1; i < kDTypeCount; ++i) {
    const auto d = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(d)), d);
  }
  EXPECT_EQ(dtype_from_name("f31"), DType::undefined);
  EXPECT_STREQ(dtype_name(static_cast<DType>(200)), "undefined");
}

TEST(DTypes, Bits) {
  EXPECT_EQ(dtype_bits(DType::f32), 32);
  EXPECT_EQ(dtype_bits(DType::i4), 4);
  EXPECT_EQ(dtype_bits(DType::u2), 2);
  EXPECT_EQ(dtype_bits(DType::boolean), 8);
  EXPECT_EQ(dtype_bits(DType::c128), 128);
  EXPECT_EQ(dtype_bits(DType::string), 0);
  EXPECT_TRUE(is_float(DType::f8e8m0));
  EXPECT_TRUE(is_int(DType::u4));
  EXPECT_FALSE(is_int(DType::boolean));
}

std::uint64_t bytes(DType d, std::vector<std::int64_t> dims) {
  const Result<std::uint64_t> r = storage_bytes(d, dims);
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? *r : 0;
}

Code refusal(DType d, std::vector<std::int64_t> dims) {
  return storage_bytes(d, dims).status().code();
}

TEST(StorageBytes, PacksAndRoundsUp) {
  EXPECT_EQ(bytes(DType::f32, {2, 3}), 24u);
  EXPECT_EQ(bytes(DType::i4, {3}), 2u);
  EXPECT_EQ(bytes(DType::u2, {5}), 2u);
  EXPECT_EQ(bytes(DType::f64, {}), 8u);
  EXPECT_EQ(bytes(DType::f32, {0, 1 << 30, 1 << 30}), 0u);
}

TEST(StorageBytes, RefusesOverflow) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refusal(DType::f32, {huge}), Code::invalid_argument);
  EXPECT_EQ(refusal(DType::u8, {huge, huge, huge}), Code::invalid_argument);
  EXPECT_EQ(refusal(DType::u8, {-1}), Code::invalid_argument);
  EXPECT_EQ(refusal(DType::f32, {std::int64_t{1} << 47}), Code::invalid_argument);
  EXPECT_EQ(refusal(DType::string, {1}), Code::unsupported);
}

}  // namespace
}  // namespace frit
