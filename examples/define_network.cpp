// SPDX-License-Identifier: Apache-2.0
// Defines a small convolutional network by calls, builds it, and runs the engine from memory:
//   example_define_network [ENGINE]     also writes the engine to a file
#include <cstdio>
#include <vector>

#include "frit/builder.h"
#include "frit/runtime.h"

namespace {

// Weights for the example: small, different, and the same every time.
std::vector<float> weights(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = 0.1F * static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  return values;
}

// Convolution, ReLU, mean over the image, a linear layer, softmax.
frit::Network define() {
  frit::Network network("small");
  const frit::NetTensor image = network.add_input("image", frit::DType::f32, {1, 3, 8, 8});
  const frit::NetTensor kernel = network.add_constant({4, 3, 3, 3}, weights(4 * 3 * 3 * 3));
  const frit::NetTensor bias = network.add_constant({4}, {0.1F, -0.2F, 0.3F, 0.0F});
  frit::Window window;
  window.strides = {2, 2};
  window.pads = {1, 1, 1, 1};
  const frit::NetTensor features =
      network.add_unary("relu", network.add_convolution(image, kernel, bias, window));
  const frit::NetTensor pooled = network.add_reduce(features, "mean", {2, 3}, false);
  const frit::NetTensor matrix = network.add_constant({4, 5}, weights(4 * 5));
  const frit::NetTensor scores = network.add_matmul(pooled, matrix);
  network.mark_output(network.add_softmax(scores, 1), "probabilities");
  return network;
}

int report(const char* doing, const char* message) {
  std::fprintf(stderr, "%s: %s\n", doing, message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  // No call above needs a check of its own: build reports the first that failed.
  const frit::Network network = define();
  frit::BuildConfig config;
  config.verify = frit::Verify::full;
  const auto built = frit::Builder().build(network, config);
  if (!built) return report("build", built.error().text().c_str());
  for (const frit::VerifyRow& row : built->report.verification)
    std::printf("%s: largest error %.2g against the reference, %s\n", row.output.c_str(),
                row.max_abs_error, row.passed ? "passed" : "FAILED");
  if (!built->report.verified()) return 1;
  if (argc > 1)
    if (const auto error = built->save(argv[1])) return report("save", error->text().c_str());

  frit::RuntimeEngine engine;
  if (const auto status = engine.load(built->bytes); !status)
    return report("load", status.message().c_str());
  frit::RuntimeContext context;
  if (const auto status = context.create(engine); !status)
    return report("context", status.message().c_str());
  std::vector<float> image = weights(3 * 8 * 8);
  std::vector<float> probabilities(5);
  for (const auto& [name, memory] :
       {std::pair("image", std::span(image)), std::pair("probabilities", std::span(probabilities))})
    if (const auto status = context.set_address(engine.find_binding(name), memory); !status)
      return report(name, status.message().c_str());
  if (const auto status = context.enqueue(); !status)
    return report("run", status.message().c_str());

  float sum = 0;
  for (const float p : probabilities) {
    std::printf("%.4f ", static_cast<double>(p));
    sum += p;
  }
  std::printf("sum %.4f\n", static_cast<double>(sum));
  return sum > 0.999F && sum < 1.001F ? 0 : 1;
}
