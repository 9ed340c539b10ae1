// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "compiler/ir/tensor.h"

namespace frit::tools {

/// How two tensors differ.
struct Difference {
  bool passed = true;
  double max_abs = 0;        ///< largest |found - expected|; infinite where only one side is finite
  double max_rel = 0;        ///< largest |found - expected| / |expected|, over expected != 0
  std::int64_t failing = 0;  ///< elements beyond the tolerance
  std::string reason;        ///< one sentence when !passed
};

/// Passes if types and dims agree and every element has |found - expected| <= atol +
/// rtol*|expected|; NaN matches NaN, infinities match themselves.
Difference compare(const ir::Tensor& found, const ir::Tensor& expected, double rtol, double atol);

}  // namespace frit::tools
