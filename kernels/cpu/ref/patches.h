// SPDX-License-Identifier: Apache-2.0
// Geometry of sliding windows of any spatial rank, and im2col packing over it.
#pragma once

#include <cstdint>

#include "kernels/cpu/ref/gemm.h"

namespace frit::kernels::ref {

/// Windows sliding over an image of `rank` spatial axes; `pad` is what precedes the first element.
struct Window {
  static constexpr int kMaxAxes = kMaxRank - 2;
  int rank = 0;
  std::int64_t in[kMaxAxes] = {};
  std::int64_t out[kMaxAxes] = {};
  std::int64_t kernel[kMaxAxes] = {};
  std::int64_t stride[kMaxAxes] = {};
  std::int64_t dilation[kMaxAxes] = {};
  std::int64_t pad[kMaxAxes] = {};

  std::int64_t in_volume() const { return volume(in); }
  std::int64_t out_volume() const { return volume(out); }
  std::int64_t kernel_volume() const { return volume(kernel); }

  /// True when every window is one element and windows map to elements one to one.
  bool pointwise() const;

  /// Splits a flat index over `dims` into coordinates.
  void unravel(const std::int64_t* dims, std::int64_t index, std::int64_t* at) const {
    for (int a = rank - 1; a >= 0; --a) {
      at[a] = index % dims[a];
      index /= dims[a];
    }
  }

  /// Steps coordinates to the next element in row-major order.
  void advance(const std::int64_t* dims, std::int64_t* at) const {
    for (int a = rank - 1; a >= 0 && ++at[a] == dims[a]; --a) at[a] = 0;
  }

 private:
  std::int64_t volume(const std::int64_t* dims) const {
    std::int64_t v = 1;
    for (int a = 0; a < rank; ++a) v *= dims[a];
    return v;
  }
};

/// Packs B of a convolution as `gemm` wants it: term (channel, kernel element), column (output
/// element). `image` holds the channels of one group of one sample; outside counts as zero.
template <class T>
void pack_patches(const Window& window, const T* image, Range j, Range k, T* dst);

/// The same for a transposed convolution: window.in is x, window.out is y, and a term reads the x
/// element that the kernel element spreads to the output element, if there is one.
template <class T>
void pack_spread(const Window& window, const T* image, Range j, Range k, T* dst);

}  // namespace frit::kernels::ref
