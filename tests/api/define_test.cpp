// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tests/api/support.h"

namespace frit::test {
namespace {

using Dims = std::vector<std::int64_t>;

std::map<std::string, Floats> build_and_run(const Network& network,
                                            const std::map<std::string, Floats>& inputs) {
  BuildConfig config;
  config.verify = Verify::full;
  const auto image = Builder().build(network, config);
  EXPECT_TRUE(image) << image.error().text();
  if (!image) return {};
  EXPECT_TRUE(image->report.verified());
  EXPECT_EQ(image->report.verification.size(), network.outputs().size());
  return run(*image, inputs);
}

TEST(Define, FrequentOpsComputeWhatTheyShould) {
  Network network;
  const NetTensor x = network.add_input("x", DType::f32, {1, 1, 2, 2});
  const NetTensor ones = network.add_constant({1, 1, 2, 2}, Floats(4, 1.0F));
  Window window;
  window.pads = {1, 1, 0, 0};
  network.mark_output(network.add_convolution(x, ones, network.add_constant({1}, {0.5F}), window),
                      "convolution");
  network.mark_output(network.add_pooling(x, "max", {2, 2}), "max");
  network.mark_output(network.add_pooling(x, "average", {2, 2}), "average");
  const NetTensor matrix = network.add_reshape(x, {2, 2});
  EXPECT_EQ(matrix.dims(), (Dims{2, 2}));
  network.mark_output(network.add_matmul(matrix, matrix, false, true), "product");
  network.mark_output(network.add_transpose(matrix, {1, 0}), "transposed");
  network.mark_output(network.add_concatenation({matrix, matrix}, 1), "twice");
  network.mark_output(network.add_slice(matrix, {1, 0}, {1, 2}, {1, 1}), "row");
  network.mark_output(network.add_reduce(matrix, "sum", {0}, false), "sum");
  const std::int64_t picked[] = {1, 0};
  network.mark_output(
      network.add_gather(matrix, network.add_constant(DType::i64, {2}, picked, sizeof picked), 0),
      "swapped");
  network.mark_output(network.add_elementwise("mul", matrix, network.add_constant({}, {2.0F})),
                      "doubled");
  network.mark_output(network.add_cast(network.add_cast(matrix, DType::i32), DType::f32), "whole");
  ASSERT_FALSE(network.status()) << network.status()->text();

  const auto out = build_and_run(network, {{"x", {1.5F, 2, 3, 4}}});
  const std::map<std::string, Floats> expected = {{"convolution", {2, 4, 5, 11}},
                                                  {"max", {4}},
                                                  {"average", {2.625F}},
                                                  {"product", {6.25F, 12.5F, 12.5F, 25}},
                                                  {"transposed", {1.5F, 3, 2, 4}},
                                                  {"twice", {1.5F, 2, 1.5F, 2, 3, 4, 3, 4}},
                                                  {"row", {3, 4}},
                                                  {"sum", {4.5F, 6}},
                                                  {"swapped", {3, 4, 1.5F, 2}},
                                                  {"doubled", {3, 4, 6, 8}},
                                                  {"whole", {1, 2, 3, 4}}};
  EXPECT_EQ(out, expected);
}

TEST(Define, NormsAndActivations) {
  Network network;
  const NetTensor x = network.add_input("x", DType::f32, {1, 2});
  network.mark_output(network.add_softmax(x, 1), "softmax");
  network.mark_output(network.add_unary("sigmoid", x), "sigmoid");
  network.mark_output(network.add_layer_norm(x, network.add_constant({2}, {1, 1}),
                                             network.add_constant({2}, {0, 10}), 1, 0.0),
                      "norm");
  ASSERT_FALSE(network.status()) << network.status()->text();
  const auto out = build_and_run(network, {{"x", {0, 2}}});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_NEAR(out.at("softmax")[0], 1 / (1 + std::exp(2.0)), 1e-6);
  EXPECT_NEAR(out.at("sigmoid")[1], 1 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_NEAR(out.at("norm")[0], -1, 1e-5);
  EXPECT_NEAR(out.at("norm")[1], 11, 1e-5);
}

// Inputs, constants and values that are outputs already can be outputs too; names never change.
TEST(Define, EveryOutputKeepsItsName) {
  Network network;
  const NetTensor x = network.add_input("x", DType::f32, {2});
  network.mark_output(x, "copy");
  network.mark_output(network.add_constant({1}, {7.0F}), "seven");
  const NetTensor y = network.add_unary("neg", x);
  network.mark_output(y, "y");
  network.mark_output(y, "y_again");
  ASSERT_FALSE(network.status()) << network.status()->text();
  EXPECT_EQ(network.inputs()[0].name, "x");
  const auto out = build_and_run(network, {{"x", {1, -2}}});
  const std::map<std::string, Floats> expected = {
      {"copy", {1, -2}}, {"seven", {7}}, {"y", {-1, 2}}, {"y_again", {-1, 2}}};
  EXPECT_EQ(out, expected);
}

// Rewrites replace the very values that outputs are: by an input, by an inner value, by another
// output, by something with a different producer.
TEST(Define, RewritesKeepTheNamesOfOutputs) {
  Network network;
  const NetTensor x = network.add_input("x", DType::f32, {2, 2});
  const auto twice_turned = [&](NetTensor t) {
    return network.add_transpose(network.add_transpose(t, {1, 0}), {1, 0});
  };
  network.mark_output(twice_turned(x), "of_input");
  const NetTensor negative = network.add_unary("neg", x);
  network.mark_output(twice_turned(negative), "of_inner");
  const NetTensor absolute = network.add_unary("abs", x);
  network.mark_output(absolute, "absolute");
  network.mark_output(twice_turned(absolute), "of_output");
  network.mark_output(network.add_elementwise("mul", x, network.add_constant({}, {1.0F})),
                      "times_one");
  network.mark_output(network.add_unary("relu", network.add_unary("relu", x)), "relu");
  ASSERT_FALSE(network.status()) << network.status()->text();
  const auto out = build_and_run(network, {{"x", {1, -2, 3, -4}}});
  const std::map<std::string, Floats> expected = {
      {"of_input", {1, -2, 3, -4}}, {"of_inner", {-1, 2, -3, 4}},  {"absolute", {1, 2, 3, 4}},
      {"of_output", {1, 2, 3, 4}},  {"times_one", {1, -2, 3, -4}}, {"relu", {1, 0, 3, 0}}};
  EXPECT_EQ(out, expected);
}

TEST(Define, TheFirstErrorStays) {
  Network network;
  const NetTensor x = network.add_input("x", DType::f32, {2, 3});
  const NetTensor bad = network.add_matmul(x, x);
  EXPECT_FALSE(bad.valid());
  EXPECT_EQ(bad.dtype(), DType::undefined);
  EXPECT_TRUE(bad.dims().empty());
  ASSERT_TRUE(network.status());
  const std::string first = network.status()->text();
  EXPECT_EQ(network.status()->code, Code::invalid_model) << first;

  EXPECT_FALSE(network.add_unary("relu", bad).valid());
  EXPECT_FALSE(network.add_unary("relu", x).valid());  // right, but too late
  network.mark_output(bad, "y");
  EXPECT_TRUE(network.outputs().empty());
  EXPECT_EQ(network.status()->text(), first);
  const auto image = Builder().build(network);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().text(), first);
}

// Every entry makes one wrong call on a network that has the input x of dims [2,3].
TEST(Define, RefusesWrongCalls) {
  const float data[2] = {1, 2};
  const std::vector<std::pair<const char*, std::function<void(Network&, NetTensor)>>> calls = {
      {"name twice", [](Network& n, NetTensor) { n.add_input("x", DType::f32, {1}); }},
      {"no name", [](Network& n, NetTensor) { n.add_input("", DType::f32, {1}); }},
      {"negative dim", [](Network& n, NetTensor) { n.add_input("y", DType::f32, {-1}); }},
      {"too many elements",
       [](Network& n, NetTensor) {
         n.add_input("y", DType::f32, {std::int64_t{1} << 40, std::int64_t{1} << 40});
       }},
      {"text input", [](Network& n, NetTensor) { n.add_input("y", DType::string, {1}); }},
      {"too little data",
       [&](Network& n, NetTensor) { n.add_constant(DType::f32, {3}, data, sizeof data); }},
      {"constant of a petabyte",
       [&](Network& n, NetTensor) {
         n.add_constant(DType::f32, {std::int64_t{1} << 48}, data, sizeof data);
       }},
      {"constant from null",
       [](Network& n, NetTensor) { n.add_constant(DType::f32, {1}, nullptr, 4); }},
      {"negative constant",
       [&](Network& n, NetTensor) { n.add_constant(DType::f32, {-2}, data, sizeof data); }},
      {"no such op", [](Network& n, NetTensor x) { n.add("no_such_op", {x}); }},
      {"terminator", [](Network& n, NetTensor x) { n.add("return", {x}); }},
      {"no operands", [](Network& n, NetTensor) { n.add("relu", {}); }},
      {"absent operand", [](Network& n, NetTensor) { n.add("relu", {NetTensor()}); }},
      {"too many operands",
       [](Network& n, NetTensor x) {
         n.add("relu", {x, x});
       }},
      {"missing attribute", [](Network& n, NetTensor x) { n.add("softmax", {x}); }},
      {"unknown attribute",
       [](Network& n, NetTensor x) {
         n.add("relu", {x}, {{"colour", std::string("red")}});
       }},
      {"attribute of the wrong kind",
       [](Network& n, NetTensor x) {
         n.add("transpose", {x}, {{"perm", std::string("10")}});
       }},
      {"no results", [](Network& n, NetTensor x) { n.add_multi("relu", {x}, {}, 0); }},
      {"negative results", [](Network& n, NetTensor x) { n.add_multi("relu", {x}, {}, -1); }},
      {"too many results",
       [](Network& n, NetTensor x) { n.add_multi("split", {x}, {}, 2'000'000'000); }},
      {"axis out of range", [](Network& n, NetTensor x) { n.add_softmax(x, 2); }},
      {"dims that do not broadcast",
       [](Network& n, NetTensor x) {
         n.add_elementwise("add", x, n.add_constant({2}, {1, 2}));
       }},
      {"reshape to other size", [](Network& n, NetTensor x) { n.add_reshape(x, {7}); }},
      {"slice past the end",
       [](Network& n, NetTensor x) {
         n.add_slice(x, {0, 1}, {2, 3}, {1, 1});
       }},
      {"pool of unknown kind", [](Network& n, NetTensor x) { n.add_pooling(x, "median", {2}); }},
      {"concatenation of nothing", [](Network& n, NetTensor) { n.add_concatenation({}, 0); }},
      {"output that is no tensor", [](Network& n, NetTensor) { n.mark_output({}, "y"); }},
      {"output without a name", [](Network& n, NetTensor x) { n.mark_output(x, ""); }},
      {"output name twice",
       [](Network& n, NetTensor x) {
         n.mark_output(x, "y");
         n.mark_output(n.add_unary("relu", x), "y");
       }},
      {"tensor of another network",
       [](Network& n, NetTensor) {
         Network other;
         n.add_unary("relu", other.add_input("z", DType::f32, {1}));
       }},
  };
  for (const auto& [what, call] : calls) {
    Network network;
    const NetTensor x = network.add_input("x", DType::f32, {2, 3});
    call(network, x);
    ASSERT_TRUE(network.status()) << what << " was accepted";
    EXPECT_NE(network.status()->code, Code::internal) << what << ": " << network.status()->text();
    EXPECT_NE(network.status()->code, Code::out_of_memory)
        << what << ": " << network.status()->text();
    EXPECT_FALSE(network.status()->message.empty()) << what;
  }
}

TEST(Define, OpsWithSeveralResults) {
  Network network;
  const NetTensor x = network.add_input("x", DType::f32, {4});
  const std::int64_t k = 2;
  const auto top = network.add_multi(
      "topk", {x, network.add_constant(DType::i64, {1}, &k, sizeof k)},
      {{"axis", std::int64_t{0}}, {"largest", std::int64_t{1}}, {"sorted", std::int64_t{1}}}, 2);
  ASSERT_FALSE(network.status()) << network.status()->text();
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[1].dtype(), DType::i64);
  network.mark_output(top[0], "values");
  const auto out = build_and_run(network, {{"x", {3, 1, 4, 1}}});
  EXPECT_EQ(out, (std::map<std::string, Floats>{{"values", {4, 3}}}));
}

TEST(Define, NegativeAxesCountFromTheEnd) {
  Network net;
  const NetTensor x = net.add_input("x", DType::f32, {2, 3, 4});
  EXPECT_EQ(net.add_reduce(x, "sum", {-1, 0}, false).dims(), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(net.add_concatenation({x, x}, -2).dims(), (std::vector<std::int64_t>{2, 6, 4}));
  EXPECT_TRUE(net.add_softmax(x, -3).valid());
  EXPECT_FALSE(net.add_softmax(x, -4).valid());
}

TEST(Define, ImpossibleConfigurationsAreRefused) {
  Network net;
  net.mark_output(net.add_unary("relu", net.add_input("x", DType::f32, {2})), "y");
  BuildConfig config;
  config.cpu_threads = -3;
  EXPECT_EQ(Builder().build(net, config).error().code, Code::invalid_argument);
  config.cpu_threads = 1;
  config.disabled_sources = {"bogus"};
  EXPECT_EQ(Builder().build(net, config).error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace frit::test
