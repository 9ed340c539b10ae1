// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Floats = std::vector<float>;

/// Resizes a row of floats; the first and last axes have one element and a scale of 1.
Floats resize_row(const Floats& x, std::int64_t out, double scale, const char* mode,
                  const char* coordinate, const char* nearest = "round_prefer_floor",
                  int antialias = 0) {
  KernelCall k("ref.resize");
  k.in<float>({1, static_cast<std::int64_t>(x.size()), 1}, x).out<float>({1, out, 1});
  k.attr("mode", mode).attr("coordinate", coordinate).attr("nearest", nearest);
  k.attr("antialias", antialias).reals("scales", {1, scale, 1});
  EXPECT_EQ(k.run(), "");
  return k.result<float>(0);
}

void expect_near(const Floats& a, const Floats& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6) << i;
}

TEST(RefResize, LinearInEveryCoordinateSystem) {
  const Floats x{0, 1, 2, 3};
  expect_near(resize_row(x, 8, 2, "linear", "half_pixel"),
              {0, 0.25f, 0.75f, 1.25f, 1.75f, 2.25f, 2.75f, 3});
  expect_near(resize_row(x, 8, 2, "linear", "asymmetric"), {0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3});
  expect_near(resize_row(x, 7, 1.75, "linear", "align_corners"), {0, 0.5f, 1, 1.5f, 2, 2.5f, 3});
  expect_near(resize_row(x, 1, 0.25, "linear", "half_pixel"), {1.5f});
  expect_near(resize_row(x, 1, 0.25, "linear", "pytorch_half_pixel"), {0});
  expect_near(resize_row({1, 2, 3, 4, 5}, 3, 0.7, "linear", "half_pixel_symmetric"),
              {3 - 1 / 0.7f, 3, 3 + 1 / 0.7f});
}

TEST(RefResize, NearestRoundsAsAsked) {
  // Positions -0.25, 0.25, 0.75, 1.25 and 0, 0.5, 1, 1.5.
  EXPECT_EQ(resize_row({1, 2}, 4, 2, "nearest", "half_pixel", "floor"), (Floats{1, 1, 1, 2}));
  EXPECT_EQ(resize_row({1, 2}, 4, 2, "nearest", "half_pixel", "ceil"), (Floats{1, 2, 2, 2}));
  EXPECT_EQ(resize_row({1, 2}, 4, 2, "nearest", "asymmetric", "round_prefer_floor"),
            (Floats{1, 1, 2, 2}));
  EXPECT_EQ(resize_row({1, 2}, 4, 2, "nearest", "asymmetric", "round_prefer_ceil"),
            (Floats{1, 2, 2, 2}));
  EXPECT_EQ(resize_row({1, 2}, 4, 2, "nearest", "tf_half_pixel_for_nn", "floor"),
            (Floats{1, 1, 2, 2}));
}

TEST(RefResize, CubicAndAntialias) {
  // A cubic kernel reproduces constants and, away from the edges, straight lines.
  expect_near(resize_row({2, 2, 2}, 6, 2, "cubic", "half_pixel"), {2, 2, 2, 2, 2, 2});
  const Floats line = resize_row({0, 1, 2, 3, 4, 5, 6, 7}, 16, 2, "cubic", "asymmetric");
  EXPECT_NEAR(line[7], 3.5, 1e-6);
  // Halving with antialias: triangle weights 1 3 3 1 over 8 around 0.5, 2.5, 4.5, 6.5.
  const Floats half =
      resize_row({0, 0, 0, 8, 0, 0, 0, 0}, 4, 0.5, "linear", "half_pixel", "floor", 1);
  expect_near(half, {0, 3, 1, 0});
}

TEST(RefResize, CropExtrapolates) {
  KernelCall k("ref.resize");
  k.in<float>({3}, {1, 2, 3}).in<float>({2}, {0.5f, 1.5f}).out<float>({3}).attr("mode", "linear");
  k.attr("coordinate", "tf_crop_and_resize").attr("extrapolation", 9.0).reals("scales", {1});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{2, 3, 9}));
}

TEST(RefResize, IntegersRoundAndPackedTypesPick) {
  KernelCall k("ref.resize");
  k.in<std::uint8_t>({2}, {0, 255}).out<std::uint8_t>({4}).attr("mode", "linear");
  k.reals("scales", {2});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::uint8_t>(0), (std::vector<std::uint8_t>{0, 64, 191, 255}));
  KernelCall n("ref.resize");
  n.in<std::uint8_t>({2}, {0x21}, DType::u4).out(DType::u4, {4}).attr("mode", "nearest");
  n.reals("scales", {2});
  EXPECT_EQ(n.run(), "");
  EXPECT_EQ(n.result<std::uint8_t>(0), (std::vector<std::uint8_t>{0x11, 0x22}));
}

TEST(RefResize, RefusesWhatDoesNotFit) {
  for (const double scale : {0.0, -1.0, std::nan(""), 1e-300, 1e300}) {
    KernelCall k("ref.resize");
    k.in<float>({2}, {1, 2}).out<float>({4}).attr("mode", "linear").attr("antialias", 1);
    EXPECT_NE(k.reals("scales", {scale}).run(), "") << scale;
  }
  KernelCall rank("ref.resize");
  rank.in<float>({2}, {1, 2}).out<float>({4}).attr("mode", "linear").reals("scales", {1, 2});
  EXPECT_NE(rank.run(), "");
  KernelCall empty("ref.resize");
  empty.in<float>({0}, {}).out<float>({4}).attr("mode", "linear").reals("scales", {2});
  EXPECT_NE(empty.run(), "");
}

}  // namespace
}  // namespace frit::test
