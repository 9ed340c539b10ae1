// SPDX-License-Identifier: Apache-2.0
// Defines y = relu(2 x - 3) for four elements, builds it and writes the engine file.
#include <cstdio>

#include "frit/builder.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  frit::Network network("affine");
  const frit::NetTensor x = network.add_input("x", frit::DType::f32, {4});
  const frit::NetTensor scale = network.add_constant({1}, {2.0F});
  const frit::NetTensor shift = network.add_constant({1}, {3.0F});
  const frit::NetTensor scaled = network.add_elementwise("mul", x, scale);
  const frit::NetTensor shifted = network.add_elementwise("sub", scaled, shift);
  network.mark_output(network.add_unary("relu", shifted), "y");

  const auto image = frit::Builder().build(network);
  if (!image) {
    std::fprintf(stderr, "%s\n", image.error().text().c_str());
    return 1;
  }
  if (!image->report.verified()) {
    std::fprintf(stderr, "the engine differs from the reference\n");
    return 1;
  }
  if (const auto error = image->save(argv[1])) {
    std::fprintf(stderr, "%s\n", error->text().c_str());
    return 1;
  }
  return 0;
}
