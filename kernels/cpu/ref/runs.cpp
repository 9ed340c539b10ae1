// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/runs.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace frit::kernels::ref {
namespace {

using std::int64_t;

float half_to_float(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t exponent = (h >> 10) & 31u;
  const std::uint32_t mantissa = h & 1023u;
  if (exponent == 0) {
    const float v = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -v : v;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

float bfloat_to_float(std::uint16_t h) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
}

/// Rounds to a 16-bit float with M mantissa bits, to nearest even; NaN stays quiet NaN.
template <int M>
std::uint16_t narrow(double value) {
  constexpr int kBias = (1 << (14 - M)) - 1;
  constexpr std::uint64_t kInfinity = std::uint64_t{2 * kBias + 1} << M;
  std::uint64_t u = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(u >> 63 << 15);
  u &= ~std::uint64_t{0} >> 1;
  const double magnitude = std::bit_cast<double>(u);
  std::uint64_t bits = 0;
  if (u > 0x7ff0000000000000u) {
    bits = kInfinity | (std::uint64_t{1} << (M - 1));
  } else if (magnitude < std::ldexp(1.0, 1 - kBias)) {
    bits = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, kBias - 1 + M)));
  } else {
    u += ((std::uint64_t{1} << (51 - M)) - 1) + ((u >> (52 - M)) & 1);
    bits = (u >> (52 - M)) - (std::uint64_t{1023 - kBias} << M);
    if (bits > kInfinity) bits = kInfinity;
  }
  return static_cast<std::uint16_t>(sign | bits);
}

/// Calls f(E{}) with the C++ type that stores `t`, for types that are plain numbers in C++.
template <class F>
bool with_number(DType t, F&& f) {
  switch (t) {
    case DType::f32:
      return f(float{}), true;
    case DType::f64:
      return f(double{}), true;
    case DType::u8:
    case DType::boolean:
      return f(std::uint8_t{}), true;
    case DType::i8:
      return f(std::int8_t{}), true;
    case DType::u16:
      return f(std::uint16_t{}), true;
    case DType::i16:
      return f(std::int16_t{}), true;
    case DType::u32:
      return f(std::uint32_t{}), true;
    case DType::i32:
      return f(std::int32_t{}), true;
    case DType::u64:
      return f(std::uint64_t{}), true;
    case DType::i64:
      return f(std::int64_t{}), true;
    default:
      return false;
  }
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
  const bool number = with_number(t, [&](auto e) {
    const auto* s = static_cast<const decltype(e)*>(src) + offset;
    if constexpr (std::is_floating_point_v<T> || !std::is_floating_point_v<decltype(e)>)
      for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<T>(s[i]);
  });
  if (number) return;
  const auto* s = static_cast<const std::uint16_t*>(src) + offset;
  if (t == DType::f16)
    for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<T>(half_to_float(s[i]));
  if (t == DType::bf16)
    for (int64_t i = 0; i < count; ++i) dst[i] = static_cast<T>(bfloat_to_float(s[i]));
}

template <class T>
void write_run(DType t, const T* src, int64_t count, void* dst, int64_t offset) {
  const bool number = with_number(t, [&](auto e) {
    auto* d = static_cast<decltype(e)*>(dst) + offset;
    for (int64_t i = 0; i < count; ++i) d[i] = convert<decltype(e)>(src[i]);
  });
  if (number) return;
  auto* d = static_cast<std::uint16_t*>(dst) + offset;
  if (t == DType::f16)
    for (int64_t i = 0; i < count; ++i) d[i] = narrow<10>(static_cast<double>(src[i]));
  if (t == DType::bf16)
    for (int64_t i = 0; i < count; ++i) d[i] = narrow<7>(static_cast<double>(src[i]));
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
