// SPDX-License-Identifier: Apache-2.0
// A small network with convolution, pooling, matrix product, norm, softmax and fusible chains.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "frit/builder.h"

namespace frit::test {

inline constexpr std::size_t kInputElements = 2 * 3 * 8 * 8;
inline constexpr std::size_t kOutputElements = 2 * 10;

/// Input "x" f32[2,3,8,8], output "y" f32[2,10].
Network small_network();

/// Threads 1, kernels built in only, verified unless said otherwise.
BuildConfig plain_config(Verify verify = Verify::quick);

/// The engine of `small_network`; a failure is reported to gtest and leaves it empty.
std::vector<std::byte> small_engine();

/// A model with about the same nodes as ONNX bytes.
std::string small_model();

}  // namespace frit::test
