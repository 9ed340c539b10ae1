// SPDX-License-Identifier: Apache-2.0
// Sliding windows: what convolution and pooling share.
#pragma once

#include "compiler/ops/infer.h"

namespace frit::ir {

/// Checked window attributes, one entry per spatial axis (pads: begins then ends).
struct Window {
  Shape kernel;
  const Ints* strides = nullptr;
  const Ints* dilations = nullptr;  ///< null = all 1
  const Ints* pads = nullptr;
  int rank() const { return static_cast<int>(kernel.size()); }
  std::int64_t stride(int i) const { return (*strides)[static_cast<std::size_t>(i)]; }
  std::int64_t pad_begin(int i) const { return (*pads)[static_cast<std::size_t>(i)]; }
  std::int64_t pad_end(int i) const { return (*pads)[static_cast<std::size_t>(i + rank())]; }
  /// Elements from the first to the last a window touches: (kernel - 1) * dilation + 1.
  Dim extent(int i) const;
};

/// Reads `strides`, `dilations` (where the schema has them) and `pads` for windows of that kernel.
/// Refuses wrong lengths, strides and dilations below 1, negative pads, kernel sizes below 1.
Window read_window(const Inference& in, Shape kernel);
/// Output size of spatial axis i for input size d, rounding down. Refuses a window that cannot fit.
Dim window_count(const Inference& in, const Window& window, int i, const Dim& d);
/// Like window_count rounding up, without windows that would start in the padding at the end.
Dim window_count_ceil(const Inference& in, const Window& window, int i, const Dim& d);

/// Result dims of a convolution of x (operand `xi`) with weights w (operand `wi`); checks channels
/// and `group`.
Shape conv_dims(const Inference& in, int xi, int wi);

}  // namespace frit::ir
