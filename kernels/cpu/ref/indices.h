// SPDX-License-Identifier: Apache-2.0
// What the gathering and scattering kernels share: checked indices and where they point.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/cpu/ref/checker.h"
#include "kernels/cpu/ref/shape_operand.h"

namespace frit::kernels::ref {

/// One error out of several threads.
class FirstError {
 public:
  void set(const char* error) {
    if (error != nullptr) error_.store(error, std::memory_order_relaxed);
  }
  const char* get() const { return error_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const char*> error_{nullptr};
};

/// The index within [0, dim) that `v` means, negative ones counting from the end; -1 if outside.
inline std::int64_t normalized(std::int64_t v, std::int64_t dim) {
  if (v < 0) v += dim;
  return v >= 0 && v < dim ? v : -1;
}

/// Requires i32 or i64 of operand i and returns its type.
inline DType check_indices(Checker& c, int i) {
  c.require(c.in(i).dtype == DType::i32 || c.in(i).dtype == DType::i64,
            "operand %d has type %s; indices are i32 or i64", i, dtype_name(c.in(i).dtype));
  return c.in(i).dtype;
}

/// Requires that `part` (operand i) fits into `whole` on all axes but `axis`.
inline void check_inside(Checker& c, const Dims& whole, const Dims& part, int axis, int i) {
  for (int a = 0; c.ok() && a < whole.rank; ++a)
    c.require(a == axis || part[a] <= whole[a],
              "operand %d has dim %lld on axis %d, more than the %lld of operand 0", i,
              static_cast<long long>(part[a]), a, static_cast<long long>(whole[a]));
}

/// Offset in `whole` of element `i` of `part` with its coordinate on `axis` replaced by `at`.
inline std::int64_t element_offset(const Dims& whole, const Dims& part, int axis, std::int64_t i,
                                   std::int64_t at) {
  std::int64_t offset = 0;
  std::int64_t stride = 1;
  for (int a = whole.rank - 1; a >= 0; --a) {
    offset += (a == axis ? at : i % part[a]) * stride;
    stride *= whole[a];
    i /= part[a];
  }
  return offset;
}

/// Index tuples of gather_nd and scatter_nd: the last axis of the indices names a slice of x.
struct IndexTuples {
  DType dtype = DType::undefined;
  Dims x;
  int batch_dims = 0;
  int width = 0;               ///< axes that a tuple names
  std::int64_t count = 0;      ///< tuples
  std::int64_t per_batch = 1;  ///< tuples of one batch
  std::int64_t inner = 1;      ///< elements of a slice

  /// Reads operand `i` as tuples into `data`; *slices gets the dims of all slices together.
  bool read(Checker& c, const Dims& data, int i, int batch, Dims* slices) {
    dtype = check_indices(c, i);
    x = data;
    batch_dims = batch;
    const Dims at = c.dims_in(i);
    if (!c.require(at.rank >= 1 && x.rank >= 1 && batch < at.rank && batch < x.rank,
                   "ranks %d and %d do not allow %d batch dims", x.rank, at.rank, batch))
      return false;
    for (int a = 0; a < batch; ++a)
      c.require(at[a] == x[a], "batch dim %d is %lld in operand 0 and %lld in operand %d", a,
                static_cast<long long>(x[a]), static_cast<long long>(at[a]), i);
    const std::int64_t last = at[at.rank - 1];
    if (!c.require(last <= x.rank - batch, "tuples have %lld indices for %d axes",
                   static_cast<long long>(last), x.rank - batch))
      return false;
    width = static_cast<int>(last);
    const int tail = x.rank - batch - width;
    if (!c.require(at.rank - 1 + tail <= kMaxRank,
                   "the slices together have rank %d; the limit is %d", at.rank - 1 + tail,
                   kMaxRank))
      return false;
    count = at.product(0, at.rank - 1);
    per_batch = at.product(batch, at.rank - 1);
    inner = x.product(batch + width, x.rank);
    for (int a = 0; a < at.rank - 1; ++a) (*slices)[slices->rank++] = at[a];
    for (int a = batch + width; a < x.rank; ++a) (*slices)[slices->rank++] = x[a];
    return c.ok();
  }

  /// Element offset of the slice that tuple t names; -1 if an index is outside.
  std::int64_t offset(const void* indices, std::int64_t t) const {
    std::int64_t at = t / per_batch;
    for (int a = 0; a < width; ++a) {
      const std::int64_t dim = x[batch_dims + a];
      const std::int64_t v = normalized(index_at(dtype, indices, t * width + a), dim);
      if (v < 0) return -1;
      at = at * dim + v;
    }
    return at * inner;
  }
};

}  // namespace frit::kernels::ref
