// SPDX-License-Identifier: Apache-2.0
// The functions that the expressions of pointwise.def use, for float, double and integers.
//
// Integers wrap, division by zero and pow with an undefined result give 0, shifts by the width or
// more give what shifting one bit at a time would. Comparisons with NaN follow from IEEE 754;
// pw_min and pw_max keep a NaN in their first operand, pw_min_nan and pw_max_nan in either.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace frit::kernels {

/// A parameter that takes its type from the others, so that expressions may pass plain literals.
template <class T>
using Same = std::type_identity_t<T>;

template <class T>
constexpr bool kIsReal = std::is_floating_point_v<T>;

/// The unsigned type integers are computed in, at least 32 bits so that promotion changes nothing.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) > 4), std::uint64_t, std::uint32_t>;

template <class T>
T pw_add(T a, T b) {
  if constexpr (kIsReal<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
T pw_sub(T a, T b) {
  if constexpr (kIsReal<T>)
    return a - b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T>
T pw_mul(T a, T b) {
  if constexpr (kIsReal<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}
template <class T>
T pw_neg(T a) {
  if constexpr (kIsReal<T>)
    return -a;
  else
    return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
}
/// Integers round towards zero.
template <class T>
T pw_div(T a, T b) {
  if constexpr (kIsReal<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return pw_neg(a);
    return static_cast<T>(a / b);
  }
}
template <class T>
T pw_abs(T a) {
  if constexpr (kIsReal<T>)
    return std::fabs(a);
  else if constexpr (std::is_signed_v<T>)
    return a < 0 ? pw_neg(a) : a;
  else
    return a;
}
/// -1, 0 or 1; zeros and NaN stay.
template <class T>
T pw_sign(T a) {
  if constexpr (kIsReal<T>)
    return a > 0 ? T(1) : a < 0 ? T(-1) : a;
  else if constexpr (std::is_signed_v<T>)
    return static_cast<T>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0));
  else
    return a > 0 ? 1 : 0;
}
template <class T>
T pw_relu(T a) {
  if constexpr (std::is_unsigned_v<T>)
    return a;
  else
    return a < 0 ? T(0) : a;
}

template <class T>
T pw_min(T a, Same<T> b) {
  return b < a ? b : a;
}
template <class T>
T pw_max(T a, Same<T> b) {
  return a < b ? b : a;
}
template <class T>
T pw_min_nan(T a, T b) {
  return b < a || b != b ? b : a;
}
template <class T>
T pw_max_nan(T a, T b) {
  return a < b || b != b ? b : a;
}
/// The upper limit wins where the limits cross.
template <class T>
T pw_clamp(T a, T low, T high) {
  return pw_min(pw_max(a, low), high);
}

template <class T>
T pw_pow(T a, T b) {
  if constexpr (kIsReal<T>) {
    return std::pow(a, b);
  } else {
    if constexpr (std::is_signed_v<T>)
      if (b < 0) return a == 1 ? T(1) : a == -1 ? (b % 2 != 0 ? T(-1) : T(1)) : T(0);
    T result = 1;
    for (auto e = static_cast<std::make_unsigned_t<T>>(b); e != 0;
         e = static_cast<decltype(e)>(e >> 1)) {
      if ((e & 1) != 0) result = pw_mul(result, a);
      a = pw_mul(a, a);
    }
    return result;
  }
}
/// The remainder with the sign of the dividend, as C has it.
template <class T>
T pw_fmod(T a, T b) {
  if constexpr (kIsReal<T>) {
    return std::fmod(a, b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
}
/// The remainder with the sign of the divisor, as Python has it.
template <class T>
T pw_mod(T a, T b) {
  const T r = pw_fmod(a, b);
  if constexpr (std::is_unsigned_v<T>)
    return r;
  else
    return r != 0 && (r < 0) != (b < 0) ? pw_add(r, b) : r;
}
/// Moves towards zero by `bias` outside [-lambd, lambd], gives 0 inside.
template <class T>
T pw_shrink(T a, T lambd, T bias) {
  if constexpr (std::is_unsigned_v<T>)
    return a > lambd ? pw_sub(a, bias) : T(0);
  else
    return a < pw_neg(lambd) ? pw_add(a, bias) : a > lambd ? pw_sub(a, bias) : T(0);
}

template <class T>
T pw_bit_not(T a) {
  return static_cast<T>(~static_cast<Wrapping<T>>(a));
}
template <class T>
T pw_bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
T pw_bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
T pw_bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
/// A negative count is a large unsigned one.
template <class T>
T pw_shift_left(T a, T b) {
  const auto n = static_cast<std::make_unsigned_t<T>>(b);
  return n < sizeof(T) * 8 ? static_cast<T>(static_cast<Wrapping<T>>(a) << n) : T(0);
}
/// Arithmetic for signed types, logical for unsigned ones.
template <class T>
T pw_shift_right(T a, T b) {
  const auto n = static_cast<std::make_unsigned_t<T>>(b);
  if (n < sizeof(T) * 8) return static_cast<T>(a >> n);
  if constexpr (std::is_signed_v<T>)
    return a < 0 ? T(-1) : T(0);
  else
    return 0;
}

template <class T>
bool pw_is_nan(T a) {
  return a != a;
}
/// Whether `a` is an infinity of one of the signs asked for.
template <class T>
bool pw_is_inf(T a, T negative, T positive) {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  return (a == kInf && positive != 0) || (a == -kInf && negative != 0);
}

template <class T>
T pw_ceil(T a) {
  return std::ceil(a);
}
template <class T>
T pw_floor(T a) {
  return std::floor(a);
}
template <class T>
T pw_trunc(T a) {
  return std::trunc(a);
}
/// To the nearest integer, halves to the even one, in the default rounding mode.
template <class T>
T pw_round_even(T a) {
  return std::nearbyint(a);
}
template <class T>
T pw_exp(T a) {
  return std::exp(a);
}
template <class T>
T pw_expm1(T a) {
  return std::expm1(a);
}
template <class T>
T pw_log(T a) {
  return std::log(a);
}
template <class T>
T pw_sqrt(T a) {
  return std::sqrt(a);
}
template <class T>
T pw_sin(T a) {
  return std::sin(a);
}
template <class T>
T pw_cos(T a) {
  return std::cos(a);
}
template <class T>
T pw_tan(T a) {
  return std::tan(a);
}
template <class T>
T pw_asin(T a) {
  return std::asin(a);
}
template <class T>
T pw_acos(T a) {
  return std::acos(a);
}
template <class T>
T pw_atan(T a) {
  return std::atan(a);
}
template <class T>
T pw_atan2(T a, T b) {
  return std::atan2(a, b);
}
template <class T>
T pw_sinh(T a) {
  return std::sinh(a);
}
template <class T>
T pw_cosh(T a) {
  return std::cosh(a);
}
template <class T>
T pw_tanh(T a) {
  if constexpr (std::is_same_v<T, float>) {
    // In f64 the plain formula is exact enough for f32, and faster than the library's tanh.
    const double x = static_cast<double>(a);
    if (std::fabs(x) < 1e-3) return static_cast<float>(x - x * x * x / 3);
    return static_cast<float>(1 - 2 / (std::exp(2 * x) + 1));
  } else {
    return std::tanh(a);
  }
}
template <class T>
T pw_asinh(T a) {
  return std::asinh(a);
}
template <class T>
T pw_acosh(T a) {
  return std::acosh(a);
}
template <class T>
T pw_atanh(T a) {
  return std::atanh(a);
}
template <class T>
T pw_erf(T a) {
  return std::erf(a);
}
template <class T>
T pw_sigmoid(T a) {
  return 1 / (1 + std::exp(-a));
}
/// ln(1 + e^a) without overflow for large a.
template <class T>
T pw_softplus(T a) {
  return pw_max(a, 0) + std::log1p(std::exp(-std::fabs(a)));
}

}  // namespace frit::kernels
