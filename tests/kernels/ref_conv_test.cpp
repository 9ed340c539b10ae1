// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;

std::int64_t volume(const Ints& dims) {
  std::int64_t v = 1;
  for (std::int64_t d : dims) v *= d;
  return v;
}

template <class T = float>
std::vector<T> noise(const Ints& dims, unsigned seed) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<double> d(-1, 1);
  std::vector<T> v(static_cast<std::size_t>(volume(dims)));
  for (T& x : v) x = static_cast<T>(d(gen));
  return v;
}

/// A convolution case of any spatial rank, and its result by the definition.
struct ConvCase {
  Ints x, w, strides, dilations, pads;
  std::int64_t group = 1;
  bool bias = true;

  std::size_t rank() const { return x.size() - 2; }
  Ints y() const {
    Ints d{x[0], w[0]};
    for (std::size_t a = 0; a < rank(); ++a)
      d.push_back((x[a + 2] + pads[a] + pads[a + rank()] - dilations[a] * (w[a + 2] - 1) - 1) /
                      strides[a] +
                  1);
    return d;
  }

  template <class T>
  std::vector<double> expected(const std::vector<T>& xs, const std::vector<T>& ws,
                               const std::vector<T>& bs) const {
    const Ints yd = y();
    std::vector<double> out(static_cast<std::size_t>(volume(yd)));
    const std::int64_t per_group = w[0] / group;
    for (std::int64_t o = 0; o < volume(yd); ++o) {
      Ints at(yd.size());
      for (std::int64_t rest = o, a = static_cast<std::int64_t>(yd.size()) - 1; a >= 0; --a) {
        at[static_cast<std::size_t>(a)] = rest % yd[static_cast<std::size_t>(a)];
        rest /= yd[static_cast<std::size_t>(a)];
      }
      double sum = bias ? static_cast<double>(bs[static_cast<std::size_t>(at[1])]) : 0;
      const Ints kernel(w.begin() + 1, w.end());
      for (std::int64_t t = 0; t < volume(kernel); ++t) {
        Ints tap(kernel.size());
        for (std::int64_t rest = t, a = static_cast<std::int64_t>(kernel.size()) - 1; a >= 0; --a) {
          tap[static_cast<std::size_t>(a)] = rest % kernel[static_cast<std::size_t>(a)];
          rest /= kernel[static_cast<std::size_t>(a)];
        }
        std::int64_t in = at[0] * x[1] + at[1] / per_group * w[1] + tap[0];
        bool inside = true;
        for (std::size_t a = 0; a < rank(); ++a) {
          const std::int64_t p = at[a + 2] * strides[a] - pads[a] + tap[a + 1] * dilations[a];
          inside = inside && p >= 0 && p < x[a + 2];
          in = in * x[a + 2] + p;
        }
        if (inside)
          sum += static_cast<double>(xs[static_cast<std::size_t>(in)]) *
                 static_cast<double>(ws[static_cast<std::size_t>(at[1] * volume(kernel) + t)]);
      }
      out[static_cast<std::size_t>(o)] = sum;
    }
    return out;
  }
};

const std::vector<ConvCase>& conv_cases() {
  static const std::vector<ConvCase> cases = {
      {{2, 3, 7}, {4, 3, 3}, {2}, {1}, {1, 0}},
      {{1, 4, 9, 8}, {6, 2, 3, 2}, {1, 1}, {1, 1}, {1, 0, 1, 1}, 2},
      {{1, 4, 13, 11}, {4, 1, 3, 3}, {2, 1}, {2, 3}, {2, 3, 1, 4}, 4},
      {{2, 5, 6, 7}, {7, 5, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 3}, {2, 1, 2}, {1, 2, 1}, {1, 2, 0, 0, 1, 2}},
      {{1, 40, 9, 31}, {98, 40, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {{1, 2, 8}, {3, 2, 3}, {1}, {1}, {-1, -2}}};
  return cases;
}

KernelCall conv_call(const ConvCase& t, const char* kernel) {
  KernelCall k(kernel);
  k.ints("strides", t.strides).ints("dilations", t.dilations).ints("pads", t.pads);
  k.attr("group", t.group);
  return k;
}

TEST(RefConv, MatchesTheDefinition) {
  for (const ConvCase& t : conv_cases()) {
    const auto x = noise(t.x, 1);
    const auto w = noise(t.w, 2);
    const auto b = noise({t.w[0]}, 3);
    KernelCall k = conv_call(t, "ref.conv");
    k.in<float>(t.x, x).in<float>(t.w, w).out<float>(t.y());
    t.bias ? k.in<float>({t.w[0]}, b) : k.in_absent();
    ASSERT_EQ(k.run(), "");
    const auto y = k.result<float>(0);
    const auto want = t.expected(x, w, b);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], want[i], 4e-6 * (1 + std::abs(want[i]))) << i;
  }
}

TEST(RefConv, DoubleMatchesTheDefinition) {
  const ConvCase& t = conv_cases()[2];
  const auto x = noise<double>(t.x, 1);
  const auto w = noise<double>(t.w, 2);
  const auto b = noise<double>({t.w[0]}, 3);
  KernelCall k = conv_call(t, "ref.conv");
  k.in<double>(t.x, x).in<double>(t.w, w).in<double>({t.w[0]}, b).out<double>(t.y());
  ASSERT_EQ(k.run(), "");
  const auto y = k.result<double>(0);
  const auto want = t.expected(x, w, b);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want[i], 1e-14);
}

TEST(RefConv, SixteenBitFloats) {
  // 1.5 * 2 + -0.5 * 4 = 1 and 1.5 * 4 + -0.5 * 8 = 2, as f16 and as bf16.
  const std::vector<std::uint16_t> x16{0x4000, 0x4400, 0x4800};
  KernelCall h("ref.conv");
  h.in({1, 1, 3}, x16, DType::f16)
      .in<std::uint16_t>({1, 1, 2}, {0x3e00, 0xb800}, DType::f16)
      .out(DType::f16, {1, 1, 2});
  EXPECT_EQ(h.run(), "");
  EXPECT_EQ(h.result<std::uint16_t>(0), (std::vector<std::uint16_t>{0x3c00, 0x4000}));
  KernelCall b("ref.conv");
  b.in<std::uint16_t>({1, 1, 3}, {0x4000, 0x4080, 0x4100}, DType::bf16)
      .in<std::uint16_t>({1, 1, 2}, {0x3fc0, 0xbf00}, DType::bf16)
      .out(DType::bf16, {1, 1, 2});
  EXPECT_EQ(b.run(), "");
  EXPECT_EQ(b.result<std::uint16_t>(0), (std::vector<std::uint16_t>{0x3f80, 0x4000}));
}

TEST(RefConv, EmptyBatchAndNoChannels) {
  KernelCall none("ref.conv");
  none.in<float>({0, 1, 3}, {}).in<float>({1, 1, 2}, {1, 1}).out<float>({0, 1, 2});
  EXPECT_EQ(none.run(), "");
  KernelCall bias("ref.conv");
  bias.in<float>({1, 0, 3}, {}).in<float>({1, 0, 2}, {}).in<float>({1}, {5}).out<float>({1, 1, 2});
  EXPECT_EQ(bias.run(), "");
  EXPECT_EQ(bias.result<float>(0), (Floats{5, 5}));
}

TEST(RefConv, RefusesWhatDoesNotFit) {
  const auto call = [](Ints x, Ints w, Ints y) {
    KernelCall k("ref.conv");
    k.in<float>(x, noise(x, 1)).in<float>(w, noise(w, 1)).out<float>(y);
    return k;
  };
  EXPECT_NE(call({1, 2, 5}, {2, 2, 3}, {1, 2, 4}).run().find("expected 3"), std::string::npos);
  EXPECT_NE(call({1, 2, 5}, {2, 1, 3}, {1, 2, 3}).run().find("channels"), std::string::npos);
  EXPECT_NE(call({2, 5}, {2, 5}, {2, 2}).run().find("rank"), std::string::npos);
  EXPECT_NE(call({1, 2, 5}, {2, 2, 3}, {1, 2, 3}).ints("strides", {0}).run().find("strides"),
            std::string::npos);
  EXPECT_NE(call({1, 2, 5}, {2, 2, 3}, {1, 2, 3}).ints("pads", {0}).run().find("pads"),
            std::string::npos);
  EXPECT_NE(call({1, 2, 5}, {2, 2, 3}, {1, 2, 3}).attr("group", 3).run(), "");
  EXPECT_NE(call({1, 2, 5}, {2, 2, 3}, {1, 2, 3}).attr("group", 0).run(), "");
  EXPECT_NE(call({1, 2, 5}, {2, 2, 3}, {1, 2, 3}).ints("dilations", {INT64_MAX}).run(), "");
  KernelCall type("ref.conv");
  type.in<std::int32_t>({1, 1, 2}, {1, 2}).in<std::int32_t>({1, 1, 1}, {1});
  EXPECT_NE(type.out<std::int32_t>({1, 1, 2}).run().find("type"), std::string::npos);
}

TEST(RefConvTranspose, IsTheAdjointOfConv) {
  // <conv(x, w), z> == <x, conv_transpose(z, w)> for all x and z defines the op.
  for (const ConvCase& t : conv_cases()) {
    if (t.pads[0] < 0) continue;
    const Ints yd = t.y();
    const auto x = noise<double>(t.x, 1);
    const auto w = noise<double>(t.w, 2);
    const auto z = noise<double>(yd, 3);
    ConvCase plain = t;
    plain.bias = false;
    const auto y = plain.expected(x, w, std::vector<double>{});
    double left = 0;
    for (std::size_t i = 0; i < y.size(); ++i) left += y[i] * z[i];
    KernelCall k = conv_call(t, "ref.conv_transpose");
    Ints extra;
    for (std::size_t a = 0; a < t.rank(); ++a)
      extra.push_back(t.x[a + 2] -
                      ((yd[a + 2] - 1) * t.strides[a] + t.dilations[a] * (t.w[a + 2] - 1) + 1 -
                       t.pads[a] - t.pads[a + t.rank()]));
    k.ints("output_padding", extra);
    k.in<double>(yd, z).in<double>(t.w, w).out<double>(t.x);
    ASSERT_EQ(k.run(), "");
    double right = 0;
    const auto back = k.result<double>(0);
    for (std::size_t i = 0; i < back.size(); ++i) right += back[i] * x[i];
    EXPECT_NEAR(left, right, 1e-11 * (1 + std::abs(left)));
  }
}

TEST(RefConvTranspose, Literal) {
  KernelCall k("ref.conv_transpose");
  k.in<float>({1, 1, 2}, {1, 2}).in<float>({1, 1, 3}, {1, 10, 100}).in<float>({1}, {0.5f});
  k.out<float>({1, 1, 6}).ints("strides", {2}).ints("output_padding", {1});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<float>(0), (Floats{1.5f, 10.5f, 102.5f, 20.5f, 200.5f, 0.5f}));
  KernelCall bad("ref.conv_transpose");
  bad.in<float>({1, 1, 2}, {1, 2}).in<float>({1, 1, 3}, {1, 10, 100}).out<float>({1, 1, 9});
  EXPECT_NE(bad.run().find("expected 4"), std::string::npos);
}

TEST(RefConvInteger, TakesOffZeroPoints) {
  KernelCall k("ref.conv_integer");
  k.in<std::uint8_t>({1, 1, 3}, {2, 3, 255})
      .in<std::int8_t>({2, 1, 2}, {1, -1, 127, -128})
      .in<std::uint8_t>({}, {1})
      .in<std::int8_t>({2}, {0, -1})
      .out<std::int32_t>({1, 2, 4})
      .ints("pads", {1, 1});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::int32_t>(0),
            (std::vector<std::int32_t>{-1, 1 - 2, 2 - 254, 254,  //
                                       -127, 128 - 254, 256 - 127 * 254, 254 * 128}));
}

TEST(RefQLinearConv, RoundsToEvenAndSaturates) {
  KernelCall k("ref.qlinear_conv");
  k.in<std::uint8_t>({1, 1, 4}, {1, 3, 5, 255})
      .in<float>({}, {0.5f})
      .in<std::uint8_t>({}, {0})
      .in<std::int8_t>({1, 1, 1}, {2})
      .in<float>({1}, {0.5f})
      .in<std::int8_t>({1}, {0})
      .in<float>({}, {1.0f})
      .in<std::uint8_t>({}, {10})
      .in<std::int32_t>({1}, {2})
      .out<std::uint8_t>({1, 1, 4});
  EXPECT_EQ(k.run(), "");
  EXPECT_EQ(k.result<std::uint8_t>(0), (std::vector<std::uint8_t>{11, 12, 13, 138}));
}

}  // namespace
}  // namespace frit::test
