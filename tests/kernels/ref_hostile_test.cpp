// SPDX-License-Identifier: Apache-2.0
// Steps of a damaged engine file: whatever is wrong with one, a kernel refuses it or stays within
// its operands. The runner's guard bytes and the sanitizer presets notice if it does not.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;

std::vector<float> ramp(std::size_t n) {
  std::vector<float> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>(i % 11) * 0.25f - 1;
  return v;
}

/// One valid call per kernel, to start from.
std::vector<KernelCall> seeds() {
  std::vector<KernelCall> s;
  const auto add = [&](const char* name) -> KernelCall& { return s.emplace_back(name); };
  const std::vector<std::uint8_t> bytes(24, 3);
  add("ref.reshape").in<float>({2, 6}, ramp(12)).in<std::int64_t>({2}, {3, 4}).out<float>({3, 4});
  add("ref.transpose").in<float>({2, 3, 2}, ramp(12)).out<float>({2, 2, 3}).ints("perm", {2, 0, 1});
  add("ref.expand").in<float>({3, 1}, ramp(3)).in<std::int64_t>({2}, {3, 4}).out<float>({3, 4});
  add("ref.concat")
      .in<float>({2, 1}, ramp(2))
      .in<float>({2, 2}, ramp(4))
      .out<float>({2, 3})
      .attr("axis", 1);
  add("ref.split").in<float>({2, 3}, ramp(6)).out<float>({2, 1}).out<float>({2, 2}).attr("axis", 1);
  add("ref.slice")
      .in<float>({3, 4}, ramp(12))
      .out<float>({2, 2})
      .ints("starts", {2, 0})
      .ints("steps", {-2, 3});
  add("ref.slice")
      .in<float>({3, 4}, ramp(12))
      .in<std::int64_t>({2}, {2, 0})
      .in<std::int64_t>({2}, {-9, 4})
      .in<std::int64_t>({2}, {0, 1})
      .in<std::int64_t>({2}, {-2, 3})
      .out<float>({2, 2});
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    add("ref.pad")
        .in<float>({2, 3}, ramp(6))
        .in<float>({}, {9})
        .out<float>({3, 6})
        .attr("mode", mode)
        .ints("pads", {1, 4, 0, -1});
    add("ref.pad")
        .in<float>({2, 3}, ramp(6))
        .in_absent()
        .in<std::int64_t>({2}, {-1, 2})
        .in<std::int64_t>({1}, {1})
        .out<float>({2, 4})
        .attr("mode", mode);
  }
  add("ref.tile").in<float>({2, 2}, ramp(4)).out<float>({4, 6}).ints("repeats", {2, 3});
  add("ref.depth_to_space")
      .in<float>({1, 8, 1, 2}, ramp(16))
      .out<float>({1, 2, 2, 4})
      .attr("block", 2)
      .attr("mode", "DCR");
  add("ref.space_to_depth")
      .in<float>({1, 2, 2, 4}, ramp(16))
      .out<float>({1, 8, 1, 2})
      .attr("block", 2)
      .attr("mode", "CRD");
  add("ref.reverse_sequence")
      .in<float>({4, 2}, ramp(8))
      .in<std::int64_t>({2}, {3, 1})
      .out<float>({4, 2})
      .attr("batch_axis", 1)
      .attr("time_axis", 0);
  add("ref.gather")
      .in<float>({3, 2}, ramp(6))
      .in<std::int64_t>({2}, {0, -1})
      .out<float>({2, 2})
      .attr("axis", 0);
  add("ref.gather_elements")
      .in<float>({2, 3}, ramp(6))
      .in<std::int64_t>({1, 2}, {1, -2})
      .out<float>({1, 2})
      .attr("axis", 0);
  add("ref.gather_nd")
      .in<float>({2, 2, 2}, ramp(8))
      .in<std::int64_t>({2, 1}, {1, 0})
      .out<float>({2, 2})
      .attr("batch_dims", 1);
  add("ref.scatter_elements")
      .in<float>({3}, ramp(3))
      .in<std::int64_t>({3}, {0, 2, 0})
      .in<float>({3}, ramp(3))
      .out<float>({3})
      .attr("axis", 0)
      .attr("reduction", "add");
  add("ref.scatter_nd")
      .in<float>({3, 2}, ramp(6))
      .in<std::int64_t>({2, 1}, {2, 0})
      .in<float>({2, 2}, ramp(4))
      .out<float>({3, 2})
      .attr("reduction", "none");
  add("ref.one_hot")
      .in<std::int64_t>({2}, {1, -1})
      .in<std::int64_t>({}, {3})
      .in<float>({2}, {0, 5})
      .out<float>({3, 2})
      .attr("axis", 0);
  const Ints two{2, 1};
  add("ref.conv")
      .in<float>({1, 2, 5, 4}, ramp(40))
      .in<float>({2, 1, 3, 2}, ramp(12))
      .in<float>({2}, ramp(2))
      .out<float>({1, 2, 3, 4})
      .ints("strides", two)
      .ints("dilations", {1, 1})
      .ints("pads", {1, 0, 1, 1})
      .attr("group", 2);
  add("ref.conv_transpose")
      .in<float>({1, 2, 3, 2}, ramp(12))
      .in<float>({2, 1, 3, 2}, ramp(12))
      .in<float>({2}, ramp(2))
      .out<float>({1, 2, 6, 3})
      .ints("strides", two)
      .ints("dilations", {1, 1})
      .ints("pads", {1, 0, 1, 0})
      .attr("group", 2)
      .ints("output_padding", {1, 0});
  add("ref.conv_integer")
      .in({1, 1, 4}, std::vector<std::uint8_t>(4, 7))
      .in({2, 1, 2}, std::vector<std::uint8_t>(4, 1))
      .in<std::uint8_t>({}, {1})
      .in<std::uint8_t>({2}, {1, 2})
      .out<std::int32_t>({1, 2, 3})
      .ints("strides", {1})
      .ints("pads", {0, 0})
      .attr("group", 1);
  add("ref.qlinear_conv")
      .in({1, 1, 4}, std::vector<std::uint8_t>(4, 7))
      .in<float>({}, {0.5f})
      .in<std::uint8_t>({}, {1})
      .in({2, 1, 2}, std::vector<std::uint8_t>(4, 1))
      .in<float>({2}, {1, 2})
      .in<std::uint8_t>({2}, {1, 2})
      .in<float>({}, {1})
      .in<std::uint8_t>({}, {3})
      .in<std::int32_t>({2}, {1, 2})
      .out<std::uint8_t>({1, 2, 3})
      .ints("strides", {1});
  add("ref.deform_conv")
      .in<float>({1, 2, 2, 2}, ramp(8))
      .in<float>({1, 2, 1, 1}, ramp(2))
      .in<float>({1, 4, 2, 2}, ramp(16))
      .in<float>({1}, {1})
      .in<float>({1, 2, 2, 2}, ramp(8))
      .out<float>({1, 1, 2, 2})
      .attr("offset_group", 2)
      .attr("group", 1)
      .ints("pads", {0, 0, 0, 0});
  add("ref.matmul")
      .in<float>({2, 2, 3}, ramp(12))
      .in<float>({2, 3}, ramp(6))
      .in<float>({2}, ramp(2))
      .out<float>({2, 2, 2})
      .attr("trans_a", 0)
      .attr("trans_b", 1);
  add("ref.matmul_integer")
      .in({2, 3}, std::vector<std::uint8_t>(6, 7))
      .in({3, 2}, std::vector<std::uint8_t>(6, 1))
      .in<std::uint8_t>({2}, {1, 2})
      .in<std::uint8_t>({2}, {1, 2})
      .out<std::int32_t>({2, 2});
  add("ref.qlinear_matmul")
      .in({2, 3}, std::vector<std::uint8_t>(6, 7))
      .in<float>({}, {0.5f})
      .in<std::uint8_t>({}, {1})
      .in({3, 2}, std::vector<std::uint8_t>(6, 1))
      .in<float>({2}, {1, 2})
      .in<std::uint8_t>({2}, {1, 2})
      .in<float>({}, {1})
      .in<std::uint8_t>({}, {3})
      .out<std::uint8_t>({2, 2});
  add("ref.einsum")
      .in<float>({2, 2, 3}, ramp(12))
      .in<float>({3, 2}, ramp(6))
      .out<float>({2, 2, 2})
      .attr("equation", "...ij,jk->...ik");
  add("ref.einsum")
      .in<float>({2, 2}, ramp(4))
      .in<float>({2}, ramp(2))
      .in<float>({2}, ramp(2))
      .out<float>({2, 2})
      .attr("equation", "ij,j,k->ik");
  for (const char* kind : {"max", "average", "lp"})
    add("ref.pool")
        .in<float>({1, 2, 4, 5}, ramp(40))
        .out<float>({1, 2, 2, 4})
        .attr("kind", kind)
        .ints("kernel", {3, 2})
        .ints("strides", {2, 1})
        .ints("dilations", {1, 1})
        .ints("pads", {1, 0, 0, 0})
        .attr("ceil_mode", 0)
        .attr("count_include_pad", 1)
        .attr("p", 3);
  add("ref.max_unpool")
      .in<float>({1, 1, 1, 2}, ramp(2))
      .in<std::int64_t>({1, 1, 1, 2}, {1, 6})
      .in<std::int64_t>({4}, {1, 1, 2, 5})
      .out<float>({1, 1, 2, 5})
      .ints("kernel", {2, 2})
      .ints("strides", {2, 2})
      .ints("pads", {0, 0, 0, 0});
  for (const char* mode : {"nearest", "linear", "cubic"})
    add("ref.resize")
        .in<float>({1, 3, 4}, ramp(12))
        .in<float>({6}, {0, 0, 0, 1, 1, 1})
        .out<float>({1, 6, 2})
        .attr("mode", mode)
        .attr("coordinate", "tf_crop_and_resize")
        .attr("antialias", 1)
        .attr("exclude_outside", 1)
        .attr("extrapolation", 2.0)
        .attr("cubic_coeff", -0.5)
        .reals("scales", {1, 2, 0.5});
  for (const char* padding : {"zeros", "border", "reflection"})
    add("ref.grid_sample")
        .in<float>({1, 2, 2, 3}, ramp(12))
        .in<float>({1, 1, 2, 2}, ramp(4))
        .out<float>({1, 2, 1, 2})
        .attr("mode", "cubic")
        .attr("padding", padding)
        .attr("align_corners", 1);
  add("ref.roi_align")
      .in<float>({1, 2, 3, 4}, ramp(24))
      .in<float>({2, 4}, ramp(8))
      .in<std::int64_t>({2}, {0, 0})
      .out<float>({2, 2, 2, 2})
      .attr("mode", "avg")
      .attr("output_height", 2)
      .attr("output_width", 2)
      .attr("sampling_ratio", 0)
      .attr("spatial_scale", 1.0)
      .attr("coordinate", "half_pixel");
  for (const auto& [kind, gates] :
       {std::pair<const char*, std::int64_t>{"lstm", 4}, {"gru", 3}, {"rnn", 1}}) {
    const auto g = static_cast<std::size_t>(gates);
    KernelCall& k = add("ref.rnn")
                        .in<float>({3, 2, 2}, ramp(12))
                        .in<float>({2, gates * 2, 2}, ramp(8 * g))
                        .in<float>({2, gates * 2, 2}, ramp(8 * g))
                        .in<float>({2, gates * 4}, ramp(8 * g))
                        .in<std::int32_t>({2}, {3, 1})
                        .in<float>({2, 2, 2}, ramp(8));
    k.out<float>({3, 2, 2, 2})
        .out<float>({2, 2, 2})
        .attr("kind", kind)
        .attr("direction", "bidirectional")
        .attr("hidden", 2)
        .attr("layout", 0)
        .attr("clip", 1.5)
        .attr("linear_before_reset", 0)
        .attr("input_forget", 0);
  }
  return s;
}

TEST(RefHostile, SeedsAreValid) {
  for (KernelCall& k : seeds()) EXPECT_EQ(k.run(), "");
}

TEST(RefHostile, ScrambledStepsAreRefusedOrHarmless) {
  std::mt19937 random(20);
  for (const KernelCall& seed : seeds()) {
    for (int round = 0; round < 400; ++round) {
      KernelCall k = seed;
      for (unsigned changes = 1 + random() % 3; changes > 0; --changes) k.scramble(random);
      const std::string answer = k.run();
      ASSERT_EQ(answer.find("wrote beside"), std::string::npos) << answer;
    }
  }
}

}  // namespace
}  // namespace frit::test
