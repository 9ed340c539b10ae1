// SPDX-License-Identifier: Apache-2.0
// Kernel windows of convolutions and pools: defaults, padding rules, checks.
#pragma once

#include <cstdint>

#include "compiler/onnx/context.h"

namespace frit::importer {

/// Attributes of a sliding window over the spatial axes, one entry per axis; pads are begins then
/// ends.
struct WindowAttrs {
  Ints kernel, strides, dilations, pads;
};

/// Reads kernel_shape (or takes `kernel` if not empty and checks that the attribute agrees),
/// strides, dilations, pads and auto_pad for an operand x [N, C, spatial…]. Padding for the SAME
/// modes needs known spatial dims unless the stride is 1.
WindowAttrs read_window(const NodeContext& c, const Value& x, Ints kernel);

/// The spatial part of static dims; refuses symbolic ones.
Ints spatial_numbers(const NodeContext& c, const Shape& dims, std::string_view what);

}  // namespace frit::importer
