// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Floats = std::vector<float>;
using Halves = std::vector<std::uint16_t>;

void expect_close(const Floats& got, const Floats& want, float tolerance = 1e-6f) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], tolerance * std::max(1.0f, std::fabs(want[i]))) << i;
}

TEST(RefLayerNorm, ScaleBiasAndStatistics) {
  KernelCall k("ref.layer_norm");
  k.in<float>({1, 4}, {1, 2, 3, 4}).in<float>({4}, {1, 2, 1, 2}).in<float>({1}, {10});
  k.out<float>({1, 4}).out<float>({1, 1}).out<float>({1, 1});
  k.attr("axis", 1).attr("epsilon", 1e-5);
  EXPECT_EQ(k.run(), "");
  expect_close(k.result<float>(0), {8.65836458f, 9.105576386f, 10.447211807f, 12.68327084f});
  expect_close(k.result<float>(1), {2.5f});
  expect_close(k.result<float>(2), {0.894423613f});

  KernelCall two("ref.layer_norm");  // axis 0 normalizes both dims; the scale is per row
  two.in<float>({2, 2}, {1, 2, 3, 4}).in<float>({2, 1}, {1, 2}).out<float>({2, 2});
  two.attr("axis", 0).attr("epsilon", 1e-5);
  EXPECT_EQ(two.run(), "");
  expect_close(two.result<float>(0), {-1.34163542f, -0.447211807f, 0.894423613f, 2.68327084f});
}

TEST(RefLayerNorm, HalfAndLongRows) {
  KernelCall half("ref.layer_norm");  // 1 2 3 4 in f16, epsilon 0
  half.in<std::uint16_t>({4}, {0x3c00, 0x4000, 0x4200, 0x4400}, DType::f16).out(DType::f16, {4});
  half.attr("axis", 0).attr("epsilon", 0.0);
  EXPECT_EQ(half.run(), "");
  EXPECT_EQ(half.result<std::uint16_t>(0), (Halves{0xbd5e, 0xb728, 0x3728, 0x3d5e}));

  Floats x(3000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1001.0f : 999.0f;
  KernelCall wide("ref.layer_norm");
  wide.in<float>({2, 1500}, x).out<float>({2, 1500}).attr("axis", 1).attr("epsilon", 0.0);
  EXPECT_EQ(wide.run(), "");
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(wide.result<float>(0)[i], i % 2 == 0 ? 1.0f : -1.0f);
}

TEST(RefLayerNorm, RefusesBadDescs) {
  const auto call = [] {
    KernelCall k("ref.layer_norm");
    k.in<float>({2, 2}, {1, 2, 3, 4});
    return k;
  };
  const auto run = [](KernelCall k, int axis, double epsilon) {
    return k.attr("axis", axis).attr("epsilon", epsilon).run();
  };
  EXPECT_EQ(run(call().out<float>({2, 2}), 1, 0.1), "");
  EXPECT_NE(run(call().out<float>({2, 2}), 2, 0.1), "");
  EXPECT_NE(run(call().out<float>({2, 2}), 1, -1), "");
  EXPECT_NE(run(call().out<float>({2, 2}), 1, std::nan("")), "");
  EXPECT_NE(run(call().out<double>({2, 2}), 1, 0.1), "");
  EXPECT_NE(run(call().in<float>({3}, {1, 2, 3}).out<float>({2, 2}), 1, 0.1), "");
  EXPECT_NE(run(call().out<float>({2, 2}).out<float>({2}), 1, 0.1), "");
  EXPECT_NE(run(call().out_absent(), 1, 0.1), "");
  EXPECT_NE(call().out<float>({2, 2}).attr("axis", 1).run(), "");
}

TEST(RefRmsNorm, ScalesByTheRoot) {
  KernelCall k("ref.rms_norm");
  k.in<float>({4}, {1, 2, 3, 4}).in<float>({4}, {1, 1, 1, 10}).out<float>({4});
  k.attr("axis", 0).attr("epsilon", 1e-5);
  EXPECT_EQ(k.run(), "");
  expect_close(k.result<float>(0), {0.365148128f, 0.730296256f, 1.095444385f, 14.60592513f});
}

TEST(RefGroupNorm, TwoGroups) {
  KernelCall k("ref.group_norm");
  k.in<float>({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}).in<float>({4}, {1, 2, 3, 4});
  k.in<float>({4}, {0, 1, 0, 1}).out<float>({1, 4, 2}).attr("groups", 2).attr("epsilon", 1e-5);
  EXPECT_EQ(k.run(), "");
  expect_close(k.result<float>(0), {-1.34163542f, -0.447211807f, 1.894423613f, 3.68327084f,
                                    -4.02490626f, -1.34163542f, 2.788847227f, 6.36654168f});
  KernelCall odd("ref.group_norm");
  odd.in<float>({1, 3}, {1, 2, 3}).in<float>({3}, {1, 1, 1}).in<float>({3}, {0, 0, 0});
  EXPECT_NE(odd.out<float>({1, 3}).attr("groups", 2).attr("epsilon", 0.0).run(), "");
}

TEST(RefBatchNorm, UsesTheGivenMoments) {
  KernelCall k("ref.batch_norm");
  k.in<float>({2, 2, 1}, {1, 2, 3, 4}).in<float>({2}, {2, 3}).in<float>({2}, {10, 20});
  k.in<float>({2}, {1, 2}).in<float>({2}, {4, 9}).out<float>({2, 2, 1}).attr("epsilon", 0.0);
  EXPECT_EQ(k.run(), "");
  expect_close(k.result<float>(0), {10, 20, 12, 22});
  KernelCall bad("ref.batch_norm");
  bad.in<float>({1, 2}, {1, 2}).in<float>({2}, {1, 1}).in<float>({2}, {0, 0});
  bad.in<float>({2}, {0, 0}).in<float>({1}, {1}).out<float>({1, 2}).attr("epsilon", 0.0);
  EXPECT_NE(bad.run(), "");
}

TEST(RefLrn, OddAndEvenWindows) {
  const auto lrn = [](int size) {
    KernelCall k("ref.lrn");
    k.in<float>({1, 4, 1}, {1, 2, 3, 4}).out<float>({1, 4, 1}).attr("size", size);
    k.attr("alpha", 0.3).attr("beta", 0.75).attr("bias", 1.0);
    EXPECT_EQ(k.run(), "");
    return k.result<float>(0);
  };
  expect_close(lrn(3), {0.737787946f, 1.037221629f, 1.080992795f, 1.563179886f});
  expect_close(lrn(2), {0.657236181f, 0.888512381f, 0.932397386f, 1.597536551f});
}

TEST(RefMvn, OverOuterAxes) {
  KernelCall k("ref.mvn");
  k.in<float>({2, 2}, {1, 3, 2, 6}).out<float>({2, 2}).ints("axes", {0});
  EXPECT_EQ(k.run(), "");
  expect_close(k.result<float>(0), {-1, -1, 1, 1});
  KernelCall bad("ref.mvn");
  EXPECT_NE(bad.in<float>({2}, {1, 2}).out<float>({2}).ints("axes", {1}).run(), "");
}

}  // namespace
}  // namespace frit::test
