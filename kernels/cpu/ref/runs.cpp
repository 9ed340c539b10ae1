// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/runs.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/common/scalar.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// A 16-bit float of type `t`, rounded once from whatever T is.
template <DType t, class T>
std::uint16_t narrow(T v) {
  if constexpr (std::is_same_v<T, float>) return t == DType::f16 ? f32_to_f16(v) : f32_to_bf16(v);
  return encode_small(static_cast<double>(v), small_float(t));
}

/// One value of type T as E under the rules of write_run.
template <class E, class T>
E convert(T v) {
  if constexpr (std::is_floating_point_v<E> || !std::is_floating_point_v<T>) {
    return static_cast<E>(v);
  } else {
    const double r = std::nearbyint(static_cast<double>(v));
    if (!(r > static_cast<double>(std::numeric_limits<E>::min())))
      return std::isnan(r) ? E{0} : std::numeric_limits<E>::min();
    if (r >= static_cast<double>(std::numeric_limits<E>::max()))
      return std::numeric_limits<E>::max();
    return static_cast<E>(r);
  }
}

}  // namespace

bool is_wide_float(DType t) noexcept {
  return t == DType::f16 || t == DType::bf16 || t == DType::f32 || t == DType::f64;
}

bool is_convertible(DType t) noexcept {
  return is_wide_float(t) || t == DType::boolean || (is_integer(t) && dtype_bits(t) >= 8);
}

template <>
bool is_native<float>(DType t) noexcept {
  return t == DType::f32;
}
template <>
bool is_native<double>(DType t) noexcept {
  return t == DType::f64;
}
template <>
bool is_native<std::uint32_t>(DType t) noexcept {
  return t == DType::i32 || t == DType::u32;
}
template <>
bool is_native<std::uint64_t>(DType t) noexcept {
  return t == DType::i64 || t == DType::u64;
}

template <class T>
void read_run(DType t, const void* src, int64_t offset, int64_t count, T* dst) {
  const bool number = visit_dtype(t, [&](auto e) {
    const auto* s = static_cast<const decltype(e)*>(src) + offset;
    if constexpr (std::is_floating_point_v<T> || !std::is_floating_point_v<decltype(e)>)
      for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<T>(s[i]);
  });
  if (number) return;
  const auto* s = static_cast<const std::uint16_t*>(src) + offset;
  if (t == DType::f16)
    for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<T>(f16_to_f32(s[i]));
  if (t == DType::bf16)
    for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<T>(bf16_to_f32(s[i]));
}

template <class T>
void write_run(DType t, const T* src, int64_t count, void* dst, int64_t offset) {
  const bool number = visit_dtype(t, [&](auto e) {
    auto* d = static_cast<decltype(e)*>(dst) + offset;
    for (int64_t i = 0; i < count; ++i) d[i] = convert<decltype(e)>(src[i]);
  });
  if (number) return;
  auto* d = static_cast<std::uint16_t*>(dst) + offset;
  if (t == DType::f16) {
    for (int64_t i = 0; i < count; ++i) d[i] = narrow<DType::f16>(src[i]);
  } else if (t == DType::bf16) {
    for (int64_t i = 0; i < count; ++i) d[i] = narrow<DType::bf16>(src[i]);
  }
}

#define FRIT_RUNS(T)                                                   \
  template void read_run<T>(DType, const void*, int64_t, int64_t, T*); \
  template void write_run<T>(DType, const T*, int64_t, void*, int64_t);
FRIT_RUNS(float)
FRIT_RUNS(double)
FRIT_RUNS(std::uint32_t)
FRIT_RUNS(std::uint64_t)
#undef FRIT_RUNS

}  // namespace frit::kernels::ref
