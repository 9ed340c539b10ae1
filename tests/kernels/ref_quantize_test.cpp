// SPDX-License-Identifier: Apache-2.0
// Quantization, and the ops that make tensors out of dims and scalars.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
using Ints = std::vector<std::int64_t>;
using Words = std::vector<std::int32_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(RefQuantize, PerTensorRoundsToEvenAndSaturates) {
  KernelCall k("ref.quantize");
  k.in<float>({6}, {0, 1, 3, 5, 1000, -1000}).in<float>({}, {2}).in<std::uint8_t>({}, {128});
  k.out<std::uint8_t>({6}).attr("to", 2).attr("axis", 0).attr("block", 0);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::uint8_t>(0), (Bytes{128, 128, 130, 130, 255, 0}));

  KernelCall packed("ref.quantize");
  packed.in<float>({3}, {-100, 3.4f, 100}).in<float>({}, {1}).out(DType::i4, {3});
  EXPECT_EQ(packed.run(), "");
  EXPECT_EQ(packed.result<std::uint8_t>(0), (Bytes{0x38, 0x07}));

  KernelCall small("ref.quantize");
  small.in<float>({3}, {1, 1e6f, -kInf}).in<float>({}, {2}).out(DType::f8e4m3fn, {3});
  EXPECT_EQ(small.run(), "");
  EXPECT_EQ(small.result<std::uint8_t>(0), (Bytes{0x30, 0x7e, 0xfe}));
}

TEST(RefQuantize, PerAxisAndBlocked) {
  KernelCall axis("ref.quantize");
  axis.in<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}).in<float>({2}, {1, 0.5f});
  axis.in<std::int8_t>({2}, {0, 1}).out<std::int8_t>({2, 2, 2}).attr("axis", 1).attr("block", 0);
  EXPECT_EQ(axis.run(), "");
  EXPECT_EQ(axis.result<std::int8_t>(0), (std::vector<std::int8_t>{1, 2, 7, 9, 5, 6, 15, 17}));

  KernelCall block("ref.quantize");  // blocks of 2 along an axis of 3
  block.in<float>({3, 2}, {1, 2, 3, 4, 5, 6}).in<float>({2, 2}, {1, 2, 0.5f, 1});
  block.out<std::uint8_t>({3, 2}).attr("axis", 0).attr("block", 2);
  EXPECT_EQ(block.run(), "");
  EXPECT_EQ(block.result<std::uint8_t>(0), (Bytes{1, 1, 3, 2, 10, 6}));
}

TEST(RefDequantize, TypesAxesAndBlocks) {
  KernelCall k("ref.dequantize");
  k.in<std::uint8_t>({2, 2}, {0, 128, 255, 130}).in<float>({2}, {2, 0.5f});
  k.in<std::uint8_t>({2}, {128, 130}).out<float>({2, 2}).attr("axis", 1).attr("block", 0);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{-256, -1, 254, 0}));

  KernelCall nibbles("ref.dequantize");
  nibbles.in<std::uint8_t>({3}, {0xf8, 0x07}, DType::i4).in<float>({}, {0.5f}).out<float>({3});
  EXPECT_EQ(nibbles.run(), "");
  EXPECT_EQ(nibbles.result<float>(0), (Floats{-4, -0.5f, 3.5f}));

  KernelCall block("ref.dequantize");
  block.in<std::int32_t>({1, 3}, {1, 2, 3}).in<float>({1, 2}, {1, 10}).out<float>({1, 3});
  block.attr("axis", 1).attr("block", 2);
  EXPECT_EQ(block.run(), "");
  EXPECT_EQ(block.result<float>(0), (Floats{1, 2, 30}));

  KernelCall half("ref.dequantize");
  half.in<std::int8_t>({1}, {-3}).in<std::uint16_t>({}, {0x3800}, DType::f16).out(DType::f16, {1});
  EXPECT_EQ(half.run(), "");
  EXPECT_EQ(half.result<std::uint16_t>(0), (std::vector<std::uint16_t>{0xbe00}));
}

TEST(RefQuantize, RefusesBadDescs) {
  const auto call = [] { return KernelCall("ref.quantize").in<float>({2, 2}, {1, 2, 3, 4}); };
  EXPECT_NE(call().in<float>({3}, {1, 2, 3}).out<std::uint8_t>({2, 2}).attr("axis", 1).run(), "");
  EXPECT_NE(call().in<float>({2}, {1, 2}).out<std::uint8_t>({2, 2}).attr("axis", 2).run(), "");
  EXPECT_NE(call().in<float>({2}, {1, 2}).out<std::uint8_t>({2, 2}).run(), "");
  EXPECT_NE(call().in<float>({}, {1}).out<std::int64_t>({2, 2}).run(), "");
  EXPECT_NE(call().in<float>({}, {1}).out<std::uint8_t>({2, 2}).attr("to", 3).run(), "");
  EXPECT_NE(call().in<float>({}, {1}).in<std::int8_t>({}, {0}).out<std::uint8_t>({2, 2}).run(), "");
  EXPECT_NE(call().in<int>({}, {1}).out<std::uint8_t>({2, 2}).run(), "");
  EXPECT_NE(call()
                .in<float>({2, 1}, {1, 2})
                .out<std::uint8_t>({2, 2})
                .attr("axis", 1)
                .attr("block", 1)
                .run(),
            "");
}

TEST(RefDynamicQuantize, CoversTheRangeAndZero) {
  KernelCall k("ref.dynamic_quantize");
  k.in<float>({6}, {0, 2, -3, -2.5f, 1.34f, 0.5f}).out<std::uint8_t>({6});
  k.out<float>({}).out<std::uint8_t>({});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::uint8_t>(0), (Bytes{153, 255, 0, 26, 221, 179}));
  EXPECT_FLOAT_EQ(k.result<float>(1)[0], 0.0196078438f);
  EXPECT_EQ(k.result<std::uint8_t>(2)[0], 153);
}

TEST(RefShape, Slices) {
  KernelCall k("ref.shape");
  k.in<float>({2, 0, 3}, {}).out<std::int64_t>({2}).attr("start", 1).attr("end", 3);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::int64_t>(0), (Ints{0, 3}));
  EXPECT_NE(KernelCall("ref.shape").in<float>({2}, {1, 2}).out<std::int64_t>({2}).run(), "");
}

TEST(RefRange, CountsAndChecksTheLength) {
  const auto range = [](Words v, std::int64_t n) {
    KernelCall k("ref.range");
    k.in<std::int32_t>({}, {v[0]}).in<std::int32_t>({}, {v[1]}).in<std::int32_t>({}, {v[2]});
    const std::string error = k.out<std::int32_t>({n}).run();
    return std::make_pair(error, k.result<std::int32_t>(0));
  };
  EXPECT_EQ(range({1, 8, 3}, 3).second, (Words{1, 4, 7}));
  EXPECT_EQ(range({10, 4, -2}, 3).second, (Words{10, 8, 6}));
  EXPECT_EQ(range({5, 5, 1}, 0).first, "");
  EXPECT_EQ(range({INT32_MIN, INT32_MAX, INT32_MAX}, 3).second,
            (Words{INT32_MIN, -1, INT32_MAX - 1}));
  EXPECT_NE(range({1, 8, 3}, 4).first, "");
  EXPECT_NE(range({1, 8, 0}, 1).first, "");

  KernelCall real("ref.range");
  real.in<float>({}, {1}).in<float>({}, {2}).in<float>({}, {0.3f}).out<float>({4});
  EXPECT_EQ(real.run(), "");
  EXPECT_FLOAT_EQ(real.result<float>(0)[3], 1.9f);
}

TEST(RefEyeLike, Offsets) {
  const auto eye = [](std::int64_t k) {
    KernelCall c("ref.eye_like");
    c.in<float>({2, 3}, Floats(6)).out<std::int8_t>({2, 3}).attr("k", k).attr("to", 3);
    EXPECT_EQ(c.run(), "");
    return c.result<std::int8_t>(0);
  };
  using Small = std::vector<std::int8_t>;
  EXPECT_EQ(eye(0), (Small{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(1), (Small{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(eye(-1), (Small{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(eye(INT64_MAX), (Small{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(eye(INT64_MIN), (Small{0, 0, 0, 0, 0, 0}));
}

TEST(RefTrilu, TrianglesOfBatches) {
  const auto trilu = [](int upper, std::int64_t k) {
    KernelCall c("ref.trilu");
    c.in<std::int32_t>({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    c.in<std::int64_t>({}, {k}).out<std::int32_t>({2, 2, 3}).attr("upper", upper);
    EXPECT_EQ(c.run(), "");
    return c.result<std::int32_t>(0);
  };
  EXPECT_EQ(trilu(1, 0), (Words{1, 2, 3, 0, 5, 6, 7, 8, 9, 0, 11, 12}));
  EXPECT_EQ(trilu(1, 1), (Words{0, 2, 3, 0, 0, 6, 0, 8, 9, 0, 0, 12}));
  EXPECT_EQ(trilu(0, 0), (Words{1, 0, 0, 4, 5, 0, 7, 0, 0, 10, 11, 0}));
  EXPECT_EQ(trilu(0, -1), (Words{0, 0, 0, 4, 0, 0, 0, 0, 0, 10, 0, 0}));
  EXPECT_EQ(trilu(0, INT64_MAX), (Words{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(trilu(1, INT64_MAX), Words(12));

  KernelCall nibbles("ref.trilu");  // rows 1 2 3 / 4 5 6 of u4
  nibbles.in<std::uint8_t>({2, 3}, {0x21, 0x43, 0x65}, DType::u4).out(DType::u4, {2, 3});
  nibbles.attr("upper", 1).attr("k", 0);
  EXPECT_EQ(nibbles.run(), "");
  EXPECT_EQ(nibbles.result<std::uint8_t>(0), (Bytes{0x21, 0x03, 0x65}));
}

}  // namespace
}  // namespace frit::test
