// SPDX-License-Identifier: Apache-2.0
// Reading the integer operands (shapes, pads, axes, indices) that kernels get at run time.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cpu/ref/checker.h"

namespace frit::kernels::ref {

/// Element `i` of an i32 or i64 buffer.
inline std::int64_t index_at(DType t, const void* data, std::int64_t i) {
  if (t == DType::i32) {
    std::int32_t v;
    std::memcpy(&v, static_cast<const char*>(data) + i * 4, sizeof(v));
    return v;
  }
  std::int64_t v;
  std::memcpy(&v, static_cast<const char*>(data) + i * 8, sizeof(v));
  return v;
}

/// Requires that operand i is a vector of i32 or i64 with `low` to `high` elements.
bool check_index_vector(Checker& c, int i, std::int64_t low, std::int64_t high);

/// An optional vector of integers among the operands: its type and length as known at prepare time.
struct IndexVector {
  DType dtype = DType::undefined;
  std::int64_t count = 0;

  bool present() const { return dtype != DType::undefined; }
  std::int64_t at(const void* data, std::int64_t i) const { return index_at(dtype, data, i); }
};

/// Reads the desc of operand i, which may be absent, as a vector of `low` to `high` integers.
IndexVector index_vector(Checker& c, int i, std::int64_t low, std::int64_t high);

/// Fills axes[0..count) from an operand (or 0, 1, … if it is absent), normalized below `rank`; null
/// on success, an error text on an axis that is out of range or repeated.
const char* read_axes(const IndexVector& v, const void* data, int count, int rank, int* axes);

}  // namespace frit::kernels::ref
