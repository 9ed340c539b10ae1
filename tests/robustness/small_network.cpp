// SPDX-License-Identifier: Apache-2.0
#include "tests/robustness/small_network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/onnx/model_maker.h"

namespace frit::test {
namespace {

// Values between -0.5 and 0.5 that repeat only after 997 elements.
std::vector<float> weights(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>((i * 379 + 17) % 997) / 997.0F - 0.5F;
  return values;
}

NetTensor constant(Network& network, const std::vector<std::int64_t>& dims) {
  std::size_t n = 1;
  for (const std::int64_t d : dims) n *= static_cast<std::size_t>(d);
  return network.add_constant(dims, weights(n));
}

}  // namespace

Network small_network() {
  Network net("small");
  Window same;
  same.pads = {1, 1, 1, 1};
  Window halving;
  halving.strides = {2, 2};
  const NetTensor x = net.add_input("x", DType::f32, {2, 3, 8, 8});
  NetTensor v = net.add_convolution(x, constant(net, {8, 3, 3, 3}), constant(net, {8}), same);
  v = net.add_unary("relu", v);
  const NetTensor skip = net.add_pooling(v, "max", {2, 2}, halving);
  v = net.add_convolution(skip, constant(net, {8, 8, 3, 3}), constant(net, {8}), same);
  v = net.add_elementwise("add", v, skip);
  v = net.add_elementwise("mul", net.add_unary("sigmoid", v), net.add_unary("tanh", v));
  v = net.add_transpose(net.add_reshape(v, {2, 8, 16}), {0, 2, 1});
  v = net.add_layer_norm(v, constant(net, {8}), constant(net, {8}), 2, 1e-5);
  const NetTensor scores = net.add_matmul(v, v, false, true);
  v = net.add_matmul(net.add_softmax(scores, 2), v);
  v = net.add_reduce(v, "mean", {1}, false);
  v = net.add_matmul(v, constant(net, {8, 10}));
  v = net.add_elementwise("add", v, constant(net, {10}));
  net.mark_output(net.add_softmax(v, 1), "y");
  return net;
}

BuildConfig plain_config(Verify verify) {
  BuildConfig config;
  config.cpu_threads = 1;
  config.disabled_sources = {"onednn"};
  config.verify = verify;
  return config;
}

std::vector<std::byte> small_engine() {
  const Network network = small_network();
  Expected<EngineImage> image = Builder().build(network, plain_config());
  if (!image.ok()) {
    ADD_FAILURE() << image.error().text();
    return {};
  }
  EXPECT_TRUE(image->report.verified());
  return std::move(image->bytes);
}

std::string small_model() {
  ModelMaker m(17);
  m.input("x", {2, 3, 8, 8}).output("y", {2, 10});
  m.constant_f32("w1", {8, 3, 3, 3}, weights(216)).constant_f32("b1", {8}, weights(8));
  m.constant_f32("w2", {128, 10}, weights(1280)).constant_f32("b2", {10}, weights(10));
  m.constant_f32("scale", {8}, weights(8)).constant("shape", {2, -1});
  m.node("Conv", {"x", "w1", "b1"}, {"c"}).ints("pads", {1, 1, 1, 1}).ints("kernel_shape", {3, 3});
  m.node("BatchNormalization", {"c", "scale", "b1", "b1", "scale"}, {"n"}).f("epsilon", 1.0F);
  m.node("Relu", {"n"}, {"r"});
  m.node("MaxPool", {"r"}, {"p"}).ints("kernel_shape", {2, 2}).ints("strides", {2, 2});
  m.node("Sigmoid", {"p"}, {"s"});
  m.node("Mul", {"p", "s"}, {"q"});
  m.node("Transpose", {"q"}, {"t"}).ints("perm", {0, 2, 3, 1});
  m.node("Reshape", {"t", "shape"}, {"f"});
  m.node("Gemm", {"f", "w2", "b2"}, {"g"}).f("alpha", 0.5F).i("transB", 0);
  m.node("Softmax", {"g"}, {"y"}).i("axis", -1);
  return m.bytes();
}

}  // namespace frit::test
