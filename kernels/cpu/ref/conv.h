// SPDX-License-Identifier: Apache-2.0
// What the convolutions share: reading their geometry and running it as a matrix product.
#pragma once

#include <cstdint>

#include "kernels/cpu/ref/checker.h"
#include "kernels/cpu/ref/patches.h"

namespace frit::kernels::ref {

/// Dims of a grouped convolution. As a product: outputs x (channels · taps) times
/// (channels · taps) x positions, for each sample and group; channels and outputs are per group.
struct ConvShape {
  Window window;
  std::int64_t batch = 0;
  std::int64_t groups = 1;
  std::int64_t channels = 0;
  std::int64_t outputs = 0;

  std::int64_t taps() const { return window.kernel_volume(); }
  std::int64_t terms() const { return channels * taps(); }
  std::int64_t positions() const { return window.out_volume(); }
  std::int64_t products() const { return batch * groups; }
};

/// Reads strides, dilations, pads and kernel dims; `w` is [*, *, kernel…], x and y are [N, *, …].
bool read_window(Checker& c, const Dims& x, const Dims& w, const Dims& y, Window& window);

/// Reads a convolution of x [N, C, …] with w [M, C/g, …] to y [N, M, …], all dims checked.
bool read_conv(Checker& c, const Dims& x, const Dims& w, const Dims& y, ConvShape& shape);

/// Runs the convolution on whole arrays. `store(ctx, product, rows, columns, tile)` gets the sums
/// of product = sample * groups + group. `workspace` as for `gemm`.
template <class T>
void run_conv(const ConvShape& shape, const T* x, const T* w, const void* ctx,
              void (*store)(const void* ctx, std::int64_t product, Range i, Range j,
                            const typename GemmAcc<T>::Type* tile),
              void* workspace, const Parallel& parallel);

}  // namespace frit::kernels::ref
