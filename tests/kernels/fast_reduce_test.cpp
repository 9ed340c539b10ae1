// SPDX-License-Identifier: Apache-2.0
// Fast softmax, normalizations and reductions against the reference.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/support/kernel_runner.h"

namespace frit::test {
namespace {

using Floats = std::vector<float>;
using Dims = std::vector<std::int64_t>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::size_t volume(const Dims& d) {
  std::size_t n = 1;
  for (const auto x : d) n *= static_cast<std::size_t>(x);
  return n;
}

Floats numbers(const Dims& d, unsigned seed, float offset = 0) {
  Floats v(volume(d));
  for (float& x : v) {
    seed = seed * 1664525u + 1013904223u;
    x = offset + static_cast<float>(static_cast<int>(seed >> 8) - (1 << 23)) / (1 << 21);
  }
  return v;
}

Floats with(Floats v, std::size_t at, float value) {
  if (at < v.size()) v[at] = value;
  return v;
}

/// Runs cpu.<op> and ref.<op>, set up alike, and compares all f32 results.
void compare(const std::string& op, const std::function<void(KernelCall&)>& set_up,
             std::size_t results = 1, float tolerance = 1e-5f) {
  KernelCall fast("cpu." + op);
  KernelCall reference("ref." + op);
  set_up(fast);
  set_up(reference);
  ASSERT_EQ(fast.run(), "");
  ASSERT_EQ(reference.run(), "");
  for (std::size_t r = 0; r < results; ++r) {
    const Floats got = fast.result<float>(r);
    const Floats want = reference.result<float>(r);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::isnan(want[i]) || std::isinf(want[i]))
        ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i])
            << op << " " << i << ": " << got[i] << ", not " << want[i];
      else
        ASSERT_NEAR(got[i], want[i], tolerance * std::max(0.1f, std::fabs(want[i])))
            << op << " " << i;
    }
  }
}

TEST(FastSoftmax, FollowsTheReference) {
  for (const Dims& d : {Dims{3, 1, 1}, Dims{7, 13, 5}, Dims{2, 3, 1003}, Dims{2, 41, 530},
                        Dims{1, 3, 3000}, Dims{0, 3, 4}, Dims{2, 0, 3}})
    for (int axis = 0; axis < 3; ++axis)
      for (int log = 0; log < 2; ++log) {
        const Floats x = numbers(d, 3);
        for (const Floats& v : {x, with(x, 2, kNan), with(x, 0, kInf), with(x, 4, -kInf)})
          compare("softmax", [&](KernelCall& k) {
            k.in<float>(d, v).out<float>(d).attr("axis", axis).attr("log", log);
          });
      }
  compare("softmax", [&](KernelCall& k) {  // everything masked
    k.in<float>({1, 20}, Floats(20, -kInf)).out<float>({1, 20}).attr("axis", 1);
  });
}

TEST(FastNorm, LayerAndRmsNorm) {
  for (const Dims& d : {Dims{5, 1}, Dims{4, 7}, Dims{3, 768}, Dims{2, 1999}, Dims{0, 8}}) {
    const Dims row{d[1]}, statistic{d[0], 1};
    for (const float offset : {0.0f, 1000.0f}) {
      const Floats x = numbers(d, 7, offset);
      for (const Floats& v : {x, with(x, 1, kNan), with(x, 1, kInf), with(x, 1, 1e30f)}) {
        compare(
            "layer_norm",
            [&](KernelCall& k) {
              k.in<float>(d, v).in<float>(row, numbers(row, 1)).in<float>(row, numbers(row, 2));
              k.out<float>(d).out<float>(statistic).out<float>(statistic);
              k.attr("axis", 1).attr("epsilon", 1e-3);
            },
            3);
        compare("rms_norm", [&](KernelCall& k) {
          k.in<float>(d, v).in<float>(row, numbers(row, 1)).out<float>(d);
          k.attr("axis", 1).attr("epsilon", 1e-5);
        });
      }
    }
  }
}

TEST(FastNorm, GroupNorm) {
  for (const Dims& d : {Dims{2, 6, 5, 7}, Dims{1, 6, 33, 19}, Dims{2, 6, 0, 3}})
    for (const int groups : {1, 3, 6})
      compare("group_norm", [&](KernelCall& k) {
        k.in<float>(d, numbers(d, 5, 3)).in<float>({6}, numbers({6}, 1));
        k.in<float>({6}, numbers({6}, 2)).out<float>(d);
        k.attr("groups", groups).attr("epsilon", 1e-5);
      });
}

TEST(FastReduce, AnyAxes) {
  const Dims d{5, 9, 67, 33};
  for (const char* kind : {"sum", "mean", "max", "min"})
    for (int set = 0; set < 16; ++set) {
      Dims axes, y;
      for (int a = 0; a < 4; ++a) {
        const auto at = static_cast<std::size_t>(a);
        if ((set >> a & 1) != 0) axes.push_back(a);
        y.push_back((set >> a & 1) != 0 ? 1 : d[at]);
      }
      const Floats x = numbers(d, 11, 2);
      for (const Floats& v : {x, with(x, 1000, kNan), with(x, 77, kInf), with(x, 5, -kInf)})
        compare("reduce", [&](KernelCall& k) {
          k.in<float>(d, v).out<float>(y).attr("kind", kind).ints("axes", axes);
          k.attr("keepdims", 1);
        });
    }
}

TEST(FastReduce, Empty) {
  for (const char* kind : {"sum", "max", "min"}) {
    compare("reduce", [&](KernelCall& k) {
      k.in<float>({3, 0}, {}).out<float>({3}).attr("kind", kind).ints("axes", {1});
      k.attr("keepdims", 0);
    });
    compare("reduce", [&](KernelCall& k) {
      k.in<float>({0, 3}, {}).out<float>({3}).attr("kind", kind).ints("axes", {0});
      k.attr("keepdims", 0);
    });
  }
}

TEST(FastKernels, RefuseWhatTheyDoNotCover) {
  const auto reduce = [](const char* kind, std::int64_t axis) {
    KernelCall k("cpu.reduce");
    k.in<float>({2, 2}, {1, 2, 3, 4}).out<float>({2}).attr("kind", kind).ints("axes", {axis});
    return k.attr("keepdims", 0).run();
  };
  EXPECT_EQ(reduce("sum", 1), "");
  EXPECT_NE(reduce("prod", 1), "");
  EXPECT_NE(reduce("sum", 2), "");
  EXPECT_NE(KernelCall("cpu.softmax").in<float>({2}, {1, 2}).out<float>({3}).attr("axis", 0).run(),
            "");
  EXPECT_NE(
      KernelCall("cpu.softmax").in<double>({2}, {1, 2}).out<double>({2}).attr("axis", 0).run(), "");
  KernelCall broadcast("cpu.layer_norm");
  broadcast.in<float>({1, 2}, {1, 2}).in<float>({1}, {3}).out<float>({1, 2});
  EXPECT_NE(broadcast.attr("axis", 1).attr("epsilon", 0.0).run(), "");
}

/// Bent calls are refused or run within their storage; KernelCall watches the bounds.
TEST(FastKernels, SurviveBentCalls) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    KernelCall softmax("cpu.softmax");
    softmax.in<float>({3, 5}, Floats(15, 1)).out<float>({3, 5}).attr("axis", 1);
    softmax.scramble(random).run();
    KernelCall norm("cpu.layer_norm");
    norm.in<float>({3, 5}, Floats(15, 1)).in<float>({5}, Floats(5, 1)).in<float>({5}, Floats(5, 1));
    norm.out<float>({3, 5}).out<float>({3, 1}).attr("axis", 1).attr("epsilon", 1e-5);
    norm.scramble(random).run();
    KernelCall group("cpu.group_norm");
    group.in<float>({2, 4, 3}, Floats(24, 1)).in<float>({4}, Floats(4, 1));
    group.in<float>({4}, Floats(4, 1)).out<float>({2, 4, 3});
    group.attr("groups", 2).attr("epsilon", 1e-5).scramble(random).run();
    KernelCall reduce("cpu.reduce");
    reduce.in<float>({3, 5}, Floats(15, 1)).out<float>({5}).attr("kind", "mean");
    reduce.ints("axes", {0}).attr("keepdims", 0).scramble(random).run();
  }
}

}  // namespace
}  // namespace frit::test
