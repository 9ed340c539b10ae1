// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

Floats sample_row(const Floats& x, const Floats& grid, const char* mode, const char* padding,
                  int align) {
  KernelCall k("ref.grid_sample");
  const auto n = static_cast<std::int64_t>(grid.size());
  k.in<float>({1, 1, static_cast<std::int64_t>(x.size())}, x).in<float>({1, n, 1}, grid);
  k.out<float>({1, 1, n}).attr("mode", mode).attr("padding", padding).attr("align_corners", align);
  EXPECT_EQ(k.run(), "");
  return k.result<float>(0);
}

TEST(RefGridSample, PaddingAndAlignment) {
  const Floats x{1, 2, 4};
  EXPECT_EQ(sample_row(x, {-1, -0.5f, 0, 1}, "linear", "zeros", 1), (Floats{1, 1.5f, 2, 4}));
  // Not aligned, -1 is the left border of element 0: half of it and half of the padding.
  EXPECT_EQ(sample_row(x, {-1, 1}, "linear", "zeros", 0), (Floats{0.5f, 2}));
  EXPECT_EQ(sample_row(x, {-1, 9}, "linear", "border", 0), (Floats{1, 4}));
  EXPECT_EQ(sample_row(x, {2, 3}, "nearest", "reflection", 1), (Floats{2, 1}));
  EXPECT_EQ(sample_row(x, {1.4f, -1.4f}, "nearest", "zeros", 0), (Floats{0, 0}));
  const Floats odd{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
  EXPECT_EQ(sample_row(x, odd, "linear", "zeros", 0), (Floats{0, 0}));
  EXPECT_EQ(sample_row(x, odd, "cubic", "border", 0).size(), 2u);
  EXPECT_EQ(sample_row({5}, {-1, 0.5f}, "linear", "reflection", 1), (Floats{5, 5}));
}

TEST(RefGridSample, AxesAreReversedInTheGrid) {
  KernelCall k("ref.grid_sample");
  k.in<float>({1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  k.in<float>({1, 1, 2, 2}, {1, -1, -1, 1}).out<float>({1, 2, 1, 2}).attr("align_corners", 1);
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{3, 4, 30, 40}));
  KernelCall bad("ref.grid_sample");
  bad.in<float>({1, 1, 2, 3}, Floats(6)).in<float>({1, 1, 1, 3}, Floats(3));
  EXPECT_NE(bad.out<float>({1, 1, 1, 1}).run(), "");
}

TEST(RefRoiAlign, AveragesAndChecks) {
  const auto call = [](std::int64_t batch, float size) {
    KernelCall k("ref.roi_align");
    k.in<float>({1, 1, 2, 2}, {1, 2, 3, 4}).in<float>({1, 4}, {0, 0, size, size});
    k.in<std::int64_t>({1}, {batch}).out<float>({1, 1, 1, 1}).attr("mode", "avg");
    k.attr("output_height", 1).attr("output_width", 1).attr("spatial_scale", 1.0);
    return k;
  };
  KernelCall k = call(0, 2).attr("sampling_ratio", 1).attr("coordinate", "half_pixel");
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{2.5f}));
  EXPECT_NE(call(1, 2).run().find("batch"), std::string::npos);
  EXPECT_NE(call(-1, 2).run().find("batch"), std::string::npos);
  EXPECT_NE(call(0, 1e30f).run().find("roi"), std::string::npos);
  EXPECT_NE(call(0, std::numeric_limits<float>::quiet_NaN()).run().find("roi"), std::string::npos);
}

TEST(RefDeformConv, OffsetsMoveAndMasksScale) {
  const auto call = [](Floats offset) {
    KernelCall k("ref.deform_conv");
    k.in<float>({1, 1, 2, 2}, {1, 2, 3, 4}).in<float>({1, 1, 1, 1}, {10});
    k.in<float>({1, 2, 2, 2}, offset).in<float>({1}, {0.5f});
    k.in<float>({1, 1, 2, 2}, {1, 1, 0.5f, 1}).out<float>({1, 1, 2, 2});
    return k;
  };
  KernelCall still = call(Floats(8));
  EXPECT_EQ(still.run(), "");
  EXPECT_EQ(still.result<float>(0), (Floats{10.5f, 20.5f, 15.5f, 40.5f}));
  // Rows move by 0.5, 0, -1, 9 and columns by 0, 0.5, 0, 0.
  KernelCall moved = call({0.5f, 0, -1, 9, 0, 0.5f, 0, 0});
  EXPECT_EQ(moved.run(), "");
  EXPECT_EQ(moved.result<float>(0), (Floats{20.5f, 10.5f, 5.5f, 0.5f}));
  KernelCall bad("ref.deform_conv");
  bad.in<float>({1, 1, 2, 2}, Floats(4))
      .in<float>({1, 1, 1, 1}, {1})
      .in<float>({1, 1, 2, 2}, Floats(4));
  EXPECT_NE(bad.out<float>({1, 1, 2, 2}).run(), "");
}

}  // namespace
}  // namespace frit::test
