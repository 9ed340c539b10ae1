// SPDX-License-Identifier: Apache-2.0
// Builds a loop per row of pointwise.def and compute type. Included by one source per pair of
// compute types, which keeps each of them quick to compile.
#pragma once

#include <type_traits>

#include "kernels/common/pointwise_math.h"
#include "kernels/cpu/ref/pointwise.h"

namespace frit::kernels::ref {

// The expressions are shared with generated code and use C's casts; comparisons with 0 are idle for
// unsigned operands.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define FRIT_PW(name, arity, group, attr0, attr1, expression) \
  struct Eval_##name {                                        \
    template <class A, class T>                               \
    static auto eval(A a, T b, T c, T p0, T p1) {             \
      return expression;                                      \
    }                                                         \
  };
#include "kernels/common/pointwise.def"
#undef FRIT_PW

#pragma GCC diagnostic pop

/// Whether rows of a class have operands computed in T.
template <class T>
constexpr bool has_loop(char group) {
  switch (group) {
    case 'F':
    case 'P':
      return std::is_floating_point_v<T>;
    case 'I':
      return std::is_integral_v<T>;
    case 'L':
      return std::is_same_v<T, std::uint64_t>;
    default:
      return true;
  }
}

template <class T>
T parameter(double v) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return to_i64(v);
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return to_u64(v);
  else
    return static_cast<T>(v);
}

template <class Eval, int kArity, char kGroup, class T>
void pointwise_tile(std::int64_t n, const void* const* src, void* dst, double v0, double v1) {
  using A = std::conditional_t<kGroup == 'W', std::uint64_t, T>;
  constexpr bool kToBool = kGroup == 'C' || kGroup == 'P' || kGroup == 'L';
  using R = std::conditional_t<kToBool, std::uint64_t, T>;
  const T p0 = parameter<T>(v0);
  const T p1 = parameter<T>(v1);
  const A* a = static_cast<const A*>(src[0]);
  R* out = static_cast<R*>(dst);
  if constexpr (kArity == 1) {
    for (std::int64_t i = 0; i < n; ++i)
      out[i] = static_cast<R>(Eval::eval(a[i], T{}, T{}, p0, p1));
  } else {
    const T* b = static_cast<const T*>(src[1]);
    if constexpr (kArity == 2) {
      for (std::int64_t i = 0; i < n; ++i)
        out[i] = static_cast<R>(Eval::eval(a[i], b[i], T{}, p0, p1));
    } else {
      const T* c = static_cast<const T*>(src[2]);
      for (std::int64_t i = 0; i < n; ++i)
        out[i] = static_cast<R>(Eval::eval(a[i], b[i], c[i], p0, p1));
    }
  }
}

template <class Eval, int kArity, char kGroup, class T>
constexpr PointwiseLoop loop_or_null() {
  if constexpr (has_loop<T>(kGroup))
    return &pointwise_tile<Eval, kArity, kGroup, T>;
  else
    return nullptr;
}

/// The loops of all rows for T.
template <class T>
inline constexpr PointwiseLoop kPointwiseLoops[kPointwiseRows] = {
#define FRIT_PW(name, arity, group, attr0, attr1, expression) \
  loop_or_null<Eval_##name, arity, #group[0], T>(),
#include "kernels/common/pointwise.def"
#undef FRIT_PW
};

}  // namespace frit::kernels::ref
