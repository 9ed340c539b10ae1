// SPDX-License-Identifier: Apache-2.0
// Every CPU tactic against the reference evaluator: one-op networks, built with full verification.
#include <gtest/gtest.h>

#include <random>

#include "frit/builder.h"

namespace frit {
namespace {

using Dims = std::vector<std::int64_t>;

std::vector<float> noise(const Dims& dims, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::int64_t count = 1;
  for (std::int64_t d : dims) count *= d;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

NetTensor weights(Network& net, const Dims& dims, unsigned seed) {
  return net.add_constant(dims, noise(dims, seed));
}

// Builds with every source and with the reference alone; returns the tactic of the first step.
std::string build_and_verify(const Network& net) {
  BuildConfig config;
  config.verify = Verify::full;
  config.cpu_threads = 2;
  const auto image = Builder().build(net, config);
  EXPECT_TRUE(image.ok()) << image.error().text();
  if (!image.ok()) return {};
  EXPECT_FALSE(image->report.verification.empty());
  for (const VerifyRow& row : image->report.verification)
    EXPECT_TRUE(row.passed) << row.output << " differs by " << row.max_rel_error;
  return image->report.steps.front().tactic;
}

struct ConvCase {
  Dims x, w;
  Window window;
  std::int64_t groups;
  bool bias;
};

TEST(Tactics, ConvolutionsOfEveryKind) {
  const ConvCase cases[] = {
      {{1, 3, 17, 13}, {5, 3, 3, 3}, {{2, 1}, {1, 1}, {1, 0, 1, 2}}, 1, true},
      {{2, 8, 9, 9}, {16, 8, 1, 1}, {}, 1, true},
      {{1, 16, 7, 7}, {16, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1, 1, 1}}, 16, false},
      {{1, 12, 10, 11}, {6, 4, 3, 2}, {{1, 2}, {2, 1}, {2, 0, 2, 1}}, 3, true},
      {{1, 4, 31}, {7, 4, 5}, {{3}, {2}, {4, 4}}, 1, true},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 3}, {{1, 2, 1}, {1, 1, 1}, {0, 1, 1, 1, 1, 1}}, 1, false},
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {}, 1, true},
  };
  for (const ConvCase& c : cases) {
    Network net;
    NetTensor x = net.add_input("x", DType::f32, c.x);
    NetTensor y =
        net.add_convolution(x, weights(net, c.w, 1),
                            c.bias ? weights(net, {c.w[0]}, 2) : NetTensor(), c.window, c.groups);
    net.mark_output(y, "y");
    ASSERT_FALSE(net.status()) << net.status()->text();
    build_and_verify(net);
  }
}

TEST(Tactics, EpiloguesOfConvolutions) {
  for (const char* activation : {"relu", "sigmoid", "silu", "tanh", "gelu", "hard_swish", "exp"}) {
    for (const Dims& other : {Dims{}, Dims{1}, Dims{6, 1, 1}, Dims{1, 6, 8, 8}, Dims{8}}) {
      Network net;
      NetTensor x = net.add_input("x", DType::f32, {1, 4, 8, 8});
      NetTensor y = net.add_convolution(x, weights(net, {6, 4, 3, 3}, 3), weights(net, {6}, 4),
                                        {{1, 1}, {1, 1}, {1, 1, 1, 1}});
      NetTensor r = net.add_input("r", DType::f32, other);
      y = net.add_elementwise("sub", r, y);
      net.mark_output(net.add_unary(activation, y), "y");
      ASSERT_FALSE(net.status()) << net.status()->text();
      build_and_verify(net);
    }
  }
}

struct MatmulCase {
  Dims a, b;
  bool trans_a, trans_b, constant;
};

TEST(Tactics, ProductsOfEveryKind) {
  const MatmulCase cases[] = {
      {{7, 5}, {5, 3}, false, false, true},
      {{7, 5}, {3, 5}, false, true, true},
      {{5, 7}, {5, 3}, true, false, false},
      {{2, 3, 7, 5}, {5, 4}, false, false, true},
      {{2, 3, 7, 5}, {2, 3, 4, 5}, false, true, false},
      {{2, 1, 7, 5}, {3, 5, 4}, false, false, false},
      {{5}, {5, 3}, false, false, true},
      {{4, 7, 5}, {5}, false, false, false},
      {{5}, {5}, false, false, false},
      {{1, 1}, {1, 1}, false, false, true},
      {{3, 5, 7}, {5, 2}, true, false, true},
  };
  for (const MatmulCase& c : cases) {
    Network net;
    NetTensor a = net.add_input("a", DType::f32, c.a);
    NetTensor b = c.constant ? weights(net, c.b, 5) : net.add_input("b", DType::f32, c.b);
    net.mark_output(net.add_matmul(a, b, c.trans_a, c.trans_b), "y");
    ASSERT_FALSE(net.status()) << net.status()->text();
    build_and_verify(net);
  }
}

TEST(Tactics, EpiloguesOfProducts) {
  const Dims others[] = {{4}, {1}, {7, 4}, {2, 7, 4}, {7, 1}, {2, 1, 4}};
  for (const Dims& other : others) {
    Network net;
    NetTensor a = net.add_input("a", DType::f32, {2, 7, 5});
    NetTensor r = net.add_input("r", DType::f32, other);
    NetTensor y = net.add_matmul(a, weights(net, {5, 4}, 6));
    y = net.add_elementwise("add", y, weights(net, {4}, 7));
    y = net.add_elementwise("mul", net.add_unary("gelu", y), r);
    net.mark_output(y, "y");
    ASSERT_FALSE(net.status()) << net.status()->text();
    build_and_verify(net);
  }
}

TEST(Tactics, PoolingOfEveryKind) {
  for (const char* kind : {"max", "average"}) {
    for (const Dims& kernel : {Dims{2, 2}, Dims{3, 2}, Dims{5, 4}}) {
      Network net;
      NetTensor x = net.add_input("x", DType::f32, {2, 5, 9, 11});
      net.mark_output(net.add_pooling(x, kind, kernel, {{2, 1}, {1, 1}, {0, 1, 1, 0}}), "y");
      ASSERT_FALSE(net.status()) << net.status()->text();
      build_and_verify(net);
    }
  }
}

TEST(Tactics, DisabledSourcesLeaveTheReference) {
  Network net;
  NetTensor x = net.add_input("x", DType::f32, {1, 4, 8, 8});
  net.mark_output(net.add_convolution(x, weights(net, {6, 4, 3, 3}, 3)), "y");
  BuildConfig config;
  config.disabled_sources = {"onednn", "cpu"};
  const auto image = Builder().build(net, config);
  ASSERT_TRUE(image.ok()) << image.error().text();
  EXPECT_EQ(image->report.steps.front().tactic, "ref.conv");
  EXPECT_TRUE(image->report.verified());
}

TEST(Tactics, ReasonsOfThoseThatDeclined) {
  Network net;
  NetTensor x = net.add_input("x", DType::f64, {1, 4, 8, 8});
  const std::vector<double> values(6 * 4 * 9, 0.5);
  NetTensor w = net.add_constant(DType::f64, {6, 4, 3, 3}, values.data(), values.size() * 8);
  net.mark_output(net.add_convolution(x, w), "y");
  const auto image = Builder().build(net);
  ASSERT_TRUE(image.ok()) << image.error().text();
  const StepReport& step = image->report.steps.front();
  EXPECT_EQ(step.tactic, "ref.conv");
  for (const auto& [tactic, reason] : step.declined) {
    if (tactic.starts_with("onednn.")) {
      EXPECT_NE(reason.find("f32"), std::string::npos) << reason;
    }
  }
}

}  // namespace
}  // namespace frit
