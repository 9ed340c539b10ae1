// SPDX-License-Identifier: Apache-2.0
// Copying a box of elements between two strided places: the one loop under all movement kernels.
#pragma once

#include <cstdint>

#include "kernels/common/kernel.h"

namespace frit::kernels::ref {

/// A box of elements with a stride per axis on either side. All numbers count elements; the builder
/// is responsible for staying inside both tensors. Strides may be zero or negative.
struct StridedCopy {
  static constexpr int kMaxAxes = 2 * kMaxRank;
  int axes = 0;
  std::int64_t dims[kMaxAxes] = {};
  std::int64_t src_stride[kMaxAxes] = {};
  std::int64_t dst_stride[kMaxAxes] = {};
  std::int64_t src_offset = 0;
  std::int64_t dst_offset = 0;

  /// Appends an inner axis; merges it with the previous one where both sides allow. Axes of size 1
  /// vanish.
  void add(std::int64_t dim, std::int64_t src, std::int64_t dst);

  /// Copies elements of `bits` bits (2, 4, 8, 16, 32, 64 or 128). Types below 8 bits run serially
  /// and keep the neighbours that share a byte.
  void run(int bits, const void* src, void* dst, const Parallel& parallel) const;
};

/// Copies `count` elements of `bits` bits between element offsets of two buffers.
void copy_run(int bits, const void* src, std::int64_t src_offset, void* dst,
              std::int64_t dst_offset, std::int64_t count);

/// Sets `count` elements of `bits` bits from element `dst_offset` on to element `src_offset` of
/// `src`.
void fill_run(int bits, const void* src, std::int64_t src_offset, void* dst,
              std::int64_t dst_offset, std::int64_t count);

}  // namespace frit::kernels::ref
