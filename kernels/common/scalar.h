// SPDX-License-Identifier: Apache-2.0
// Single elements of every type: how they are encoded, read and written. Conversions follow ONNX
// Cast: round to nearest even, infinities and NaN kept where the target has them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "frit/types.h"

namespace frit::kernels {

/// Bits of one element as stored; 0 for undefined, string and unknown codes.
constexpr int bits(DType t) noexcept {
  switch (t) {
    case DType::u2:
    case DType::i2:
      return 2;
    case DType::u4:
    case DType::i4:
    case DType::f4e2m1:
      return 4;
    case DType::u8:
    case DType::i8:
    case DType::boolean:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
      return 8;
    case DType::u16:
    case DType::i16:
    case DType::f16:
    case DType::bf16:
      return 16;
    case DType::u32:
    case DType::i32:
    case DType::f32:
      return 32;
    case DType::u64:
    case DType::i64:
    case DType::f64:
    case DType::c64:
      return 64;
    case DType::c128:
      return 128;
    default:
      return 0;
  }
}

/// Bytes that n elements occupy; types below 8 bits are packed.
constexpr std::uint64_t storage_bytes(DType t, std::int64_t n) noexcept {
  return (static_cast<std::uint64_t>(n) * static_cast<unsigned>(bits(t)) + 7) / 8;
}

/// What happens to values beyond the largest finite one of a small float.
enum class Overflow : std::uint8_t {
  natural,   ///< infinity where the type has one, else NaN (types without either: largest value)
  saturate,  ///< the largest finite value, for infinities too
};

/// Layout of a binary float of at most 16 bits.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint16_t largest;   ///< code of the largest finite value
  std::uint16_t overflow;  ///< code for what lies beyond it: infinity, or NaN
  std::uint16_t nan;
  bool signed_zero;  ///< false for the fnuz types, whose negative zero is NaN
};

/// Layout of a small float type (not f8e8m0, which has no mantissa or sign).
constexpr SmallFloat small_float(DType t) noexcept {
  switch (t) {
    case DType::f16:
      return {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, true};
    case DType::bf16:
      return {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true};
    case DType::f8e4m3fn:
      return {4, 3, 7, 0x7e, 0x7f, 0x7f, true};
    case DType::f8e4m3fnuz:
      return {4, 3, 8, 0x7f, 0x80, 0x80, false};
    case DType::f8e5m2:
      return {5, 2, 15, 0x7b, 0x7c, 0x7e, true};
    case DType::f8e5m2fnuz:
      return {5, 2, 16, 0x7f, 0x80, 0x80, false};
    default:  // f4e2m1 has no NaN: it becomes negative zero
      return {2, 1, 1, 0x7, 0x7, 0x8, true};
  }
}

/// Code of `x` in the format `f`, rounded once from f64.
constexpr std::uint16_t encode_small(double x, const SmallFloat& f,
                                     Overflow mode = Overflow::natural) noexcept {
  const auto raw = std::bit_cast<std::uint64_t>(x);
  const int width = f.exponent_bits + f.mantissa_bits;
  const auto sign = static_cast<std::uint16_t>((raw >> 63) << width);
  const std::uint64_t magnitude = raw & ~(std::uint64_t{1} << 63);
  constexpr std::uint64_t kInfinity = std::uint64_t{0x7ff} << 52;
  if (magnitude > kInfinity)
    return f.signed_zero && f.nan != 0x8 ? static_cast<std::uint16_t>(sign | f.nan) : f.nan;
  std::uint64_t code = std::uint64_t{f.largest} + 1;
  if (magnitude != kInfinity) {
    const int exponent = static_cast<int>(magnitude >> 52) - 1023 + f.bias;
    if (exponent < (1 << f.exponent_bits)) {
      std::uint64_t significand = magnitude & ((std::uint64_t{1} << 52) - 1);
      int drop = 52 - f.mantissa_bits;
      if (exponent >= 1) {
        significand |= static_cast<std::uint64_t>(exponent) << 52;
      } else {
        significand |= std::uint64_t{1} << 52;
        drop = drop + 1 - exponent > 62 ? 62 : drop + 1 - exponent;
      }
      const std::uint64_t half = std::uint64_t{1} << (drop - 1);
      const std::uint64_t odd = (significand >> drop) & 1;
      code = (significand + half - 1 + odd) >> drop;
    }
  }
  if (code > f.largest) {
    if (mode == Overflow::saturate) return static_cast<std::uint16_t>(sign | f.largest);
    return f.signed_zero ? static_cast<std::uint16_t>(sign | f.overflow) : f.overflow;
  }
  if (code == 0 && !f.signed_zero) return 0;
  return static_cast<std::uint16_t>(sign | code);
}

/// Value of a code in the format `f`; every value of these formats is an f32.
constexpr float decode_small(std::uint16_t code, const SmallFloat& f) noexcept {
  const int width = f.exponent_bits + f.mantissa_bits;
  const unsigned sign = (code >> width) & 1u;
  const unsigned magnitude = code & ((1u << width) - 1);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  if (!f.signed_zero && sign != 0 && magnitude == 0) return kNan;
  if (magnitude > f.largest) {
    if (f.overflow != f.nan && magnitude == f.overflow)
      return sign != 0 ? -std::numeric_limits<float>::infinity()
                       : std::numeric_limits<float>::infinity();
    return sign != 0 ? -kNan : kNan;
  }
  const unsigned exponent = magnitude >> f.mantissa_bits;
  const unsigned mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  double v = mantissa;
  int scale = 1 - f.bias - f.mantissa_bits;
  if (exponent != 0) {
    v += static_cast<double>(1u << f.mantissa_bits);
    scale += static_cast<int>(exponent) - 1;
  }
  v *= std::bit_cast<double>(static_cast<std::uint64_t>(scale + 1023) << 52);
  return static_cast<float>(sign != 0 ? -v : v);
}

/// f16 to f32, without branches so that loops vectorise.
inline float f16_to_f32(std::uint16_t h) noexcept {
  const std::uint32_t magnitude = h & 0x7fffu;
  // Scaling by 2^112 rebases the exponent and normalizes subnormals in one multiplication.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  const std::uint32_t special = magnitude >= 0x7c00u ? 0x7f800000u | (magnitude << 13) : 0u;
  const std::uint32_t value = special != 0 ? special : std::bit_cast<std::uint32_t>(scaled);
  return std::bit_cast<float>(value | (static_cast<std::uint32_t>(h & 0x8000u) << 16));
}

/// f32 to f16, without branches so that loops vectorise.
inline std::uint16_t f32_to_f16(float x) noexcept {
  const auto raw = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (raw >> 16) & 0x8000u;
  const std::uint32_t magnitude = raw & 0x7fffffffu;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Adding 0.5 leaves the 10-bit subnormal, correctly rounded, in the low bits of the sum.
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  std::uint32_t code = magnitude < (113u << 23) ? subnormal : normal;
  code = magnitude >= 0x477ff000u ? 0x7c00u : code;
  code = magnitude > 0x7f800000u ? 0x7e00u : code;
  return static_cast<std::uint16_t>(sign | code);
}

inline float bf16_to_f32(std::uint16_t h) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
}

inline std::uint16_t f32_to_bf16(float x) noexcept {
  const auto raw = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (raw + 0x7fffu + ((raw >> 16) & 1u)) >> 16;
  const std::uint32_t nan = (raw >> 16 & 0x8000u) | 0x7fc0u;
  return static_cast<std::uint16_t>((raw & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/// How a value between two powers of two becomes an f8e8m0.
enum class Rounding : std::uint8_t { nearest = 0, up = 1, down = 2 };

/// Code of |x| in f8e8m0 (2^(code-127), 255 is NaN). Natural overflow gives NaN, also for zero.
inline std::uint8_t encode_e8m0(double x, Rounding rounding = Rounding::nearest,
                                Overflow mode = Overflow::natural) noexcept {
  const double magnitude = std::fabs(x);
  const bool saturate = mode == Overflow::saturate;
  if (std::isnan(x)) return 255;
  if (std::isinf(x)) return saturate ? 254 : 255;
  if (magnitude == 0) return saturate ? 0 : 255;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  int code = exponent - 1 + 127;
  // Halfway, 1.5 times a power of two, goes up.
  if (rounding == Rounding::nearest ? fraction >= 0.75 : rounding == Rounding::up && fraction > 0.5)
    ++code;
  if (code > 254) return saturate ? 254 : 255;
  if (code < 0) return saturate ? 0 : 255;
  return static_cast<std::uint8_t>(code);
}

inline float decode_e8m0(std::uint8_t code) noexcept {
  if (code == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(code == 0 ? 0x00400000u : static_cast<std::uint32_t>(code) << 23);
}

/// f64 to a 64-bit integer: towards zero, limited to the range, NaN to 0.
inline std::int64_t to_i64(double v) noexcept {
  if (v >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (v < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return v != v ? 0 : static_cast<std::int64_t>(v);
}

/// As to_i64, for the unsigned range; negative numbers wrap as their 64-bit pattern does.
inline std::uint64_t to_u64(double v) noexcept {
  if (v >= 0x1p64) return std::numeric_limits<std::uint64_t>::max();
  if (v >= 0x1p63) return static_cast<std::uint64_t>(v);
  return static_cast<std::uint64_t>(to_i64(v));
}

/// Sign-extends the low `width` bits, 1 <= width <= 64.
constexpr std::int64_t sign_extend(std::uint64_t v, int width) noexcept {
  return static_cast<std::int64_t>(v << (64 - width)) >> (64 - width);
}

/// The element's bits, zero-extended. T may be any type of at most 64 bits.
inline std::uint64_t load_bits(DType t, const void* data, std::int64_t i) noexcept {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  const int width = bits(t);
  switch (width) {
    case 2:
      return (bytes[i >> 2] >> (2 * (i & 3))) & 3u;
    case 4:
      return (bytes[i >> 1] >> (4 * (i & 1))) & 15u;
    case 8:
      return bytes[i];
    case 16: {
      std::uint16_t v;
      std::memcpy(&v, bytes + 2 * i, 2);
      return v;
    }
    case 32: {
      std::uint32_t v;
      std::memcpy(&v, bytes + 4 * i, 4);
      return v;
    }
    case 64: {
      std::uint64_t v;
      std::memcpy(&v, bytes + 8 * i, 8);
      return v;
    }
    default:
      return 0;
  }
}

/// Writes the low bits of `v`. Elements below 8 bits keep their neighbours, so two threads must not
/// write into one byte.
inline void store_bits(DType t, void* data, std::int64_t i, std::uint64_t v) noexcept {
  auto* bytes = static_cast<std::uint8_t*>(data);
  switch (bits(t)) {
    case 2: {
      const int shift = static_cast<int>(2 * (i & 3));
      bytes[i >> 2] = static_cast<std::uint8_t>((bytes[i >> 2] & ~(3 << shift)) |
                                                (static_cast<int>(v & 3) << shift));
      break;
    }
    case 4: {
      const int shift = static_cast<int>(4 * (i & 1));
      bytes[i >> 1] = static_cast<std::uint8_t>((bytes[i >> 1] & ~(15 << shift)) |
                                                (static_cast<int>(v & 15) << shift));
      break;
    }
    case 8:
      bytes[i] = static_cast<std::uint8_t>(v);
      break;
    case 16: {
      const auto w = static_cast<std::uint16_t>(v);
      std::memcpy(bytes + 2 * i, &w, 2);
      break;
    }
    case 32: {
      const auto w = static_cast<std::uint32_t>(v);
      std::memcpy(bytes + 4 * i, &w, 4);
      break;
    }
    case 64:
      std::memcpy(bytes + 8 * i, &v, 8);
      break;
    default:
      break;
  }
}

/// Element i as f64 (64-bit integers round). Complex types and strings read as 0.
inline double load_f64(DType t, const void* data, std::int64_t i) noexcept {
  const std::uint64_t raw = load_bits(t, data, i);
  switch (t) {
    case DType::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(raw));
    case DType::f64:
      return std::bit_cast<double>(raw);
    case DType::f16:
      return f16_to_f32(static_cast<std::uint16_t>(raw));
    case DType::bf16:
      return bf16_to_f32(static_cast<std::uint16_t>(raw));
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f4e2m1:
      return decode_small(static_cast<std::uint16_t>(raw), small_float(t));
    case DType::f8e8m0:
      return decode_e8m0(static_cast<std::uint8_t>(raw));
    case DType::boolean:
      return raw != 0 ? 1 : 0;
    case DType::i2:
    case DType::i4:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
      return static_cast<double>(sign_extend(raw, bits(t)));
    case DType::u2:
    case DType::u4:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return static_cast<double>(raw);
    default:
      return 0;
  }
}

inline float load_f32(DType t, const void* data, std::int64_t i) noexcept {
  return static_cast<float>(load_f64(t, data, i));
}

/// Element i as a 64-bit integer: integers and bool exactly (u64 as its bit pattern), floats
/// towards zero.
inline std::int64_t load_i64(DType t, const void* data, std::int64_t i) noexcept {
  switch (t) {
    case DType::i2:
    case DType::i4:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64:
      return sign_extend(load_bits(t, data, i), bits(t));
    case DType::u2:
    case DType::u4:
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return static_cast<std::int64_t>(load_bits(t, data, i));
    default:
      return to_i64(load_f64(t, data, i));
  }
}

/// Bits of `v` as an element of type t. Floats overflow by `mode` (only small floats look at it);
/// integers drop the fraction and, below 32 bits, the high bits; i32 and u32 limit to their range
/// first; bool is v != 0.
inline std::uint64_t encode(DType t, double v, Overflow mode = Overflow::natural) noexcept {
  switch (t) {
    case DType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(v));
    case DType::f64:
      return std::bit_cast<std::uint64_t>(v);
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f4e2m1:
      return encode_small(v, small_float(t), mode);
    case DType::f8e8m0:
      return encode_e8m0(v, Rounding::nearest, mode);
    case DType::boolean:
      return v != 0 ? 1 : 0;
    case DType::i32:
      return static_cast<std::uint64_t>(to_i64(v < -0x1p31      ? -0x1p31
                                               : v > 0x1p31 - 1 ? 0x1p31 - 1
                                                                : v));
    case DType::u32:
      return static_cast<std::uint64_t>(to_i64(v > 0x1p32 - 1 ? 0x1p32 - 1 : v));
    case DType::u64:
      return to_u64(v);
    default:
      return static_cast<std::uint64_t>(to_i64(v));
  }
}

inline void store_f64(DType t, void* data, std::int64_t i, double v,
                      Overflow mode = Overflow::natural) noexcept {
  store_bits(t, data, i, encode(t, v, mode));
}

inline void store_f32(DType t, void* data, std::int64_t i, float v,
                      Overflow mode = Overflow::natural) noexcept {
  store_f64(t, data, i, static_cast<double>(v), mode);
}

/// Stores an integer: integer targets keep the low bits, floats round.
inline void store_i64(DType t, void* data, std::int64_t i, std::int64_t v) noexcept {
  switch (t) {
    case DType::boolean:
      return store_bits(t, data, i, v != 0 ? 1 : 0);
    case DType::f32:
      return store_bits(t, data, i, std::bit_cast<std::uint32_t>(static_cast<float>(v)));
    case DType::f64:
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f4e2m1:
    case DType::f8e8m0:
      return store_f64(t, data, i, static_cast<double>(v));
    default:
      return store_bits(t, data, i, static_cast<std::uint64_t>(v));
  }
}

/// Calls f(T{}) with the C++ type that stores `t` if it is a native number (bool as its byte);
/// returns false, without a call, for every other type.
template <class F>
bool visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::f32:
      return f(float{}), true;
    case DType::f64:
      return f(double{}), true;
    case DType::boolean:
    case DType::u8:
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

}  // namespace frit::kernels
