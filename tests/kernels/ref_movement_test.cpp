// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

template <class T>
std::vector<T> iota(std::size_t n, T first = 0) {
  std::vector<T> v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

TEST(RefReshape, CopiesAndChecksTheShapeOperand) {
  KernelCall k("ref.reshape");
  k.in<float>({2, 3}, iota<float>(6)).in<std::int64_t>({2}, {0, -1}).out<float>({2, 3});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), iota<float>(6));

  KernelCall other("ref.reshape");
  other.in<float>({2, 3}, iota<float>(6)).in<std::int64_t>({2}, {6, 1}).out<float>({3, 2});
  EXPECT_NE(other.run().find("dims this engine was built for"), std::string::npos);

  KernelCall zero("ref.reshape");
  zero.in<float>({0, 3}, {}).in<std::int64_t>({2}, {3, 0}).out<float>({3, 0}).attr("allowzero", 1);
  EXPECT_EQ(zero.run(), "");
}

TEST(RefReshape, RefusesBadDescs) {
  EXPECT_NE(KernelCall("ref.reshape").in<float>({4}, iota<float>(4)).out<float>({5}).run(), "");
  EXPECT_NE(KernelCall("ref.reshape").in<float>({9}, iota<float>(4)).out<float>({9}).run(), "");
  EXPECT_NE(KernelCall("ref.reshape").in<float>({-1}, {}).out<float>({0}).run(), "");
  EXPECT_NE(
      KernelCall("ref.reshape").in<float>({INT64_MAX, INT64_MAX, 0}, {}).out<float>({0}).run(), "");
  EXPECT_NE(KernelCall("ref.reshape").in<float>({1}, {1}).out<int>({1}).run(), "");
  EXPECT_NE(KernelCall("ref.reshape").out<float>({1}).run(), "");
}

TEST(RefTranspose, MovesAxes) {
  KernelCall k("ref.transpose");
  k.in<std::int32_t>({2, 3, 2}, iota<std::int32_t>(12))
      .out<std::int32_t>({2, 2, 3})
      .ints("perm", {2, 0, 1});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::int32_t>(0),
            (std::vector<std::int32_t>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST(RefTranspose, LargeMatrixOfEveryWidth) {
  for (DType t : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    const std::int64_t rows = 70;
    const std::int64_t cols = 45;
    const std::size_t width = t == DType::u8 ? 1 : t == DType::u16 ? 2 : t == DType::u32 ? 4 : 8;
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(rows * cols) * width);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
    KernelCall k("ref.transpose");
    k.in({rows, cols}, bytes, t).out(t, {cols, rows}).ints("perm", {1, 0});
    ASSERT_EQ(k.run(), "");
    const auto y = k.result<std::uint8_t>(0);
    for (std::size_t r = 0; r < 70; ++r)
      for (std::size_t c = 0; c < 45; ++c)
        for (std::size_t b = 0; b < width; ++b)
          ASSERT_EQ(y[(c * 70 + r) * width + b], bytes[(r * 45 + c) * width + b]);
  }
}

TEST(RefTranspose, PackedNibblesAndPairs) {
  // 2x3 nibbles 1 2 3 / 4 5 6 become 1 4 2 5 3 6.
  KernelCall k("ref.transpose");
  k.in<std::uint8_t>({2, 3}, {0x21, 0x43, 0x65}, DType::u4).out(DType::u4, {3, 2});
  k.ints("perm", {1, 0});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::uint8_t>(0), (std::vector<std::uint8_t>{0x41, 0x52, 0x63}));
  // 2x2 pairs 0 1 / 2 3 become 0 2 1 3.
  KernelCall p("ref.transpose");
  p.in<std::uint8_t>({2, 2}, {0b11100100}, DType::u2).out(DType::u2, {2, 2}).ints("perm", {1, 0});
  EXPECT_EQ(p.run(), "");
  EXPECT_EQ(p.result<std::uint8_t>(0), (std::vector<std::uint8_t>{0b11011000}));
}

TEST(RefTranspose, RefusesBadPerm) {
  for (const Ints& perm : {Ints{0, 0}, Ints{0, 2}, Ints{0}, Ints{-1, 0}}) {
    KernelCall k("ref.transpose");
    k.in<float>({2, 2}, iota<float>(4)).out<float>({2, 2}).ints("perm", perm);
    EXPECT_NE(k.run().find("perm"), std::string::npos);
  }
  KernelCall k("ref.transpose");
  k.in<float>({2, 3}, iota<float>(6)).out<float>({2, 3}).ints("perm", {1, 0});
  EXPECT_NE(k.run(), "");
}

TEST(RefExpand, Broadcasts) {
  KernelCall k("ref.expand");
  k.in<float>({3, 1}, {1, 2, 3}).out<float>({2, 3, 2});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3}));
  KernelCall d("ref.expand");
  d.in<float>({3, 1}, {1, 2, 3}).in<std::int64_t>({1}, {4}).out<float>({3, 2});
  EXPECT_NE(d.run(), "");
  KernelCall bad("ref.expand");
  bad.in<float>({3, 2}, iota<float>(6)).out<float>({3, 4});
  EXPECT_NE(bad.run(), "");
}

TEST(RefConcat, JoinsAlongAnAxis) {
  KernelCall k("ref.concat");
  k.in<float>({2, 1}, {1, 2}).in<float>({2, 0}, {}).in<float>({2, 2}, {3, 4, 5, 6});
  k.out<float>({2, 3}).attr("axis", 1);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{1, 3, 4, 2, 5, 6}));
  KernelCall n("ref.concat");
  n.in<std::uint8_t>({3}, {0x21, 0x03}, DType::i4).in<std::uint8_t>({2}, {0x54}, DType::i4);
  n.out(DType::i4, {5}).attr("axis", 0);
  EXPECT_EQ(n.run(), "");
  EXPECT_EQ(n.result<std::uint8_t>(0)[0], 0x21);
  EXPECT_EQ(n.result<std::uint8_t>(0)[1], 0x43);
  EXPECT_EQ(n.result<std::uint8_t>(0)[2] & 15, 5);
  KernelCall bad("ref.concat");
  bad.in<float>({2, 1}, {1, 2}).in<float>({3, 1}, {3, 4, 5}).out<float>({2, 2}).attr("axis", 1);
  EXPECT_NE(bad.run(), "");
}

TEST(RefSplit, TakesApart) {
  KernelCall k("ref.split");
  k.in<float>({2, 3}, iota<float>(6)).out<float>({2, 1}).out<float>({2, 2}).attr("axis", 1);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{0, 3}));
  EXPECT_EQ(k.result<float>(1), (Floats{1, 2, 4, 5}));
  KernelCall bad("ref.split");
  bad.in<float>({2, 3}, iota<float>(6)).out<float>({2, 1}).out<float>({2, 1}).attr("axis", 1);
  EXPECT_NE(bad.run(), "");
}

TEST(RefSlice, StaticAndDynamic) {
  KernelCall k("ref.slice");
  k.in<float>({3, 4}, iota<float>(12)).out<float>({2, 2});
  k.ints("starts", {2, 0}).ints("steps", {-2, 3});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{8, 11, 0, 3}));

  KernelCall d("ref.slice");
  d.in<float>({3, 4}, iota<float>(12))
      .in<std::int64_t>({1}, {-1})
      .in<std::int64_t>({1}, {INT64_MIN})
      .in<std::int64_t>({1}, {-1})
      .in<std::int64_t>({1}, {-1})
      .out<float>({3, 4});
  EXPECT_EQ(d.run(), "");
  EXPECT_EQ(d.result<float>(0), (Floats{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}));

  KernelCall far("ref.slice");
  far.in<float>({4}, iota<float>(4))
      .in<std::int32_t>({1}, {1})
      .in<std::int32_t>({1}, {INT32_MAX})
      .in_absent()
      .in<std::int32_t>({1}, {INT32_MAX})
      .out<float>({1});
  EXPECT_EQ(far.run(), "");
  EXPECT_EQ(far.result<float>(0), (Floats{1}));
}

TEST(RefSlice, RefusesWhatLeavesTheOperand) {
  for (const auto& [start, step] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {3, 1}, {0, 4}, {0, INT64_MAX}, {1, -2}, {0, 0}, {-1, 1}, {INT64_MAX, 1}}) {
    KernelCall k("ref.slice");
    k.in<float>({4}, iota<float>(4)).out<float>({2}).ints("starts", {start}).ints("steps", {step});
    EXPECT_NE(k.run(), "") << start << " " << step;
  }
  KernelCall axis("ref.slice");
  axis.in<float>({4}, iota<float>(4)).in<std::int64_t>({1}, {0}).in<std::int64_t>({1}, {2});
  axis.in<std::int64_t>({1}, {1}).out<float>({2});
  EXPECT_NE(axis.run().find("axes"), std::string::npos);
}

TEST(RefPad, EveryMode) {
  const Floats x{1, 2, 3};
  const std::vector<std::pair<const char*, Floats>> cases = {{"constant", {9, 9, 9, 9, 1, 2, 3, 9}},
                                                             {"edge", {1, 1, 1, 1, 1, 2, 3, 3}},
                                                             {"reflect", {1, 2, 3, 2, 1, 2, 3, 2}},
                                                             {"wrap", {3, 1, 2, 3, 1, 2, 3, 1}}};
  for (const auto& [mode, y] : cases) {
    KernelCall k("ref.pad");
    k.in<float>({3}, x).in<float>({1}, {9}).out<float>({8}).attr("mode", mode).ints("pads", {4, 1});
    EXPECT_EQ(k.run(), "");
    EXPECT_EQ(k.result<float>(0), y) << mode;
  }
}

TEST(RefPad, CropsAndTakesOperands) {
  KernelCall k("ref.pad");
  k.in<float>({2, 3}, iota<float>(6))
      .in_absent()
      .in<std::int64_t>({2}, {-1, 2})
      .in<std::int64_t>({1}, {-1})
      .out<float>({2, 4})
      .attr("mode", "constant");
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{1, 2, 0, 0, 4, 5, 0, 0}));
  KernelCall e("ref.pad");
  e.in<float>({2, 3}, iota<float>(6)).out<float>({3, 3}).attr("mode", "edge");
  e.ints("pads", {1, -1, 0, 1});
  EXPECT_EQ(e.run(), "");
  EXPECT_EQ(e.result<float>(0), (Floats{1, 2, 2, 1, 2, 2, 4, 5, 5}));
  KernelCall gone("ref.pad");
  gone.in<float>({2}, {1, 2}).out<float>({2}).attr("mode", "reflect").ints("pads", {-3, 3});
  EXPECT_NE(gone.run(), "");
  KernelCall wrong("ref.pad");
  wrong.in<float>({2}, {1, 2}).out<float>({2}).attr("mode", "wrap").ints("pads", {1, 1});
  EXPECT_NE(wrong.run(), "");
}

TEST(RefTile, Repeats) {
  KernelCall k("ref.tile");
  k.in<float>({2, 2}, iota<float>(4)).out<float>({4, 6}).ints("repeats", {2, 3});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3,  //
                                        0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}));
  KernelCall d("ref.tile");
  d.in<float>({2}, {1, 2}).in<std::int64_t>({1}, {3}).out<float>({4});
  EXPECT_NE(d.run(), "");
}

TEST(RefBlocks, DepthToSpaceAndBack) {
  for (const char* mode : {"DCR", "CRD"}) {
    KernelCall k("ref.depth_to_space");
    k.in<float>({1, 8, 1, 1}, iota<float>(8)).out<float>({1, 2, 2, 2});
    k.attr("block", 2).attr("mode", mode);
    EXPECT_EQ(k.run(), "");
    EXPECT_EQ(k.result<float>(0), std::string_view(mode) == "DCR"
                                      ? (Floats{0, 2, 4, 6, 1, 3, 5, 7})
                                      : (Floats{0, 1, 2, 3, 4, 5, 6, 7}));
  }
  KernelCall s("ref.space_to_depth");
  s.in<float>({1, 2, 2, 4}, iota<float>(16)).out<float>({1, 8, 1, 2}).attr("block", 2);
  EXPECT_EQ(s.run(), "");
  EXPECT_EQ(s.result<float>(0), (Floats{0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15}));
  KernelCall bad("ref.space_to_depth");
  bad.in<float>({1, 2, 2, 4}, iota<float>(16)).out<float>({1, 8, 2, 1}).attr("block", 2);
  EXPECT_NE(bad.run(), "");
}

TEST(RefReverseSequence, ReversesPrefixes) {
  KernelCall k("ref.reverse_sequence");
  k.in<float>({4, 2}, iota<float>(8)).in<std::int64_t>({2}, {3, 1}).out<float>({4, 2});
  k.attr("batch_axis", 1).attr("time_axis", 0);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{4, 1, 2, 3, 0, 5, 6, 7}));
  KernelCall bad("ref.reverse_sequence");
  bad.in<float>({4, 2}, iota<float>(8)).in<std::int64_t>({2}, {5, 1}).out<float>({4, 2});
  bad.attr("batch_axis", 1).attr("time_axis", 0);
  EXPECT_NE(bad.run(), "");
}

}  // namespace
}  // namespace frit::test
