// SPDX-License-Identifier: Apache-2.0
// Converting runs of elements between their stored type and a compute type.
#pragma once

#include <cstdint>

#include "kernels/cpu/ref/checker.h"

namespace frit::kernels::ref {

/// Reads `count` elements from element `offset` on. T is float or double (any number type of at
/// least 8 bits, except 8-bit floats), or std::uint32_t / std::uint64_t (integers and bool, sign
/// extended and wrapped).
template <class T>
void read_run(DType t, const void* src, std::int64_t offset, std::int64_t count, T* dst);

/// Writes `count` elements from element `offset` on: floats round to nearest even, from float or
/// double to integers the value is rounded and saturated, from unsigned integers it wraps.
template <class T>
void write_run(DType t, const T* src, std::int64_t count, void* dst, std::int64_t offset);

/// Types that `read_run<float>` and `write_run` convert.
bool is_convertible(DType t) noexcept;
/// f16, bf16, f32, f64.
bool is_wide_float(DType t) noexcept;

/// True if an array of `t` can be used as an array of T as it is.
template <class T>
bool is_native(DType t) noexcept;

/// A whole operand as an array of T: in place where the types allow, else converted to scratch.
template <class T>
struct Converted {
  DType dtype = DType::undefined;
  std::int64_t count = 0;
  std::uint64_t scratch = 0;

  bool present() const { return dtype != DType::undefined; }

  /// Reserves what `load` needs for this operand, which may be absent.
  void plan(Checker& c, const TensorDesc& t) {
    dtype = t.dtype;
    count = t.present() ? Checker::dims_of(t).volume() : 0;
    if (present() && !is_native<T>(dtype))
      scratch = c.scratch(static_cast<std::uint64_t>(count) * sizeof(T));
  }

  /// The operand's elements, or null if it is absent.
  const T* load(const RunArgs& args, int operand) const {
    if (!present()) return nullptr;
    if (is_native<T>(dtype)) return static_cast<const T*>(args.in[operand]);
    T* to = reinterpret_cast<T*>(static_cast<char*>(args.workspace) + scratch);
    args.parallel(count, 32768, [&](std::int64_t b, std::int64_t e, int) {
      read_run<T>(dtype, args.in[operand], b, e - b, to + b);
    });
    return to;
  }
};

}  // namespace frit::kernels::ref
