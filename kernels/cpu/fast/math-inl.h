// SPDX-License-Identifier: Apache-2.0
// Vector functions that follow pointwise_math.h for every input, infinities and NaN included.
// Compiled once per instruction set.
#if defined(FRIT_FAST_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef FRIT_FAST_MATH_INL_H
#undef FRIT_FAST_MATH_INL_H
#else
#define FRIT_FAST_MATH_INL_H
#endif

#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace frit::kernels::fast::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

HWY_INLINE V f(float v) {
  return hn::Set(D(), v);
}
HWY_INLINE V inf() {
  return f(std::numeric_limits<float>::infinity());
}
/// y where x is a number, x where it is NaN.
HWY_INLINE V keep_nan(V x, V y) {
  return hn::IfThenElse(hn::IsNaN(x), x, y);
}
/// std::min(a, b) and std::max(a, b): a where either is NaN.
HWY_INLINE V least(V a, V b) {
  return hn::IfThenElse(hn::Lt(b, a), b, a);
}
HWY_INLINE V most(V a, V b) {
  return hn::IfThenElse(hn::Lt(a, b), b, a);
}

/// Highway's Exp is good within these limits only; beyond them the result is 0 or infinite anyway.
HWY_INLINE V exp(V x) {
  return keep_nan(x, hn::Exp(D(), hn::Min(hn::Max(x, f(-110.0f)), f(89.0f))));
}
HWY_INLINE V expm1(V x) {
  return keep_nan(x, hn::Expm1(D(), hn::Min(hn::Max(x, f(-50.0f)), f(89.0f))));
}
HWY_INLINE V log(V x) {
  const V y = hn::Log(D(), x);
  const V at_zero = hn::IfThenElse(hn::Eq(x, f(0)), hn::Neg(inf()), y);
  const V nan = f(std::numeric_limits<float>::quiet_NaN());
  const V below = hn::IfThenElse(hn::Lt(x, f(0)), nan, at_zero);
  return keep_nan(x, hn::IfThenElse(hn::Eq(x, inf()), x, below));
}
HWY_INLINE V log1p(V x) {
  return keep_nan(x, hn::IfThenElse(hn::Eq(x, inf()), x, hn::Log1p(D(), x)));
}
/// Beyond 10 the result is +-1 to the last bit.
HWY_INLINE V tanh(V x) {
  return keep_nan(x, hn::Tanh(D(), hn::Min(hn::Max(x, f(-10.0f)), f(10.0f))));
}
HWY_INLINE V sigmoid(V x) {
  return hn::Div(f(1), hn::Add(f(1), exp(hn::Neg(x))));
}
HWY_INLINE V softplus(V x) {
  return hn::Add(most(x, f(0)), log1p(exp(hn::Neg(hn::Abs(x)))));
}

/// Below 1 an odd polynomial, above it 1 - exp(-x^2) t P(t) with t = 1 / (1 + |x| / 2). Both were
/// fitted on Chebyshev nodes and are good to 1e-9 before rounding.
HWY_INLINE V erf(V x) {
  const V a = hn::Abs(x);
  const V u = hn::Mul(x, x);
  V s = f(-9.673590029e-06f);
  for (const float c : {1.126825362e-04f, -8.484396512e-04f, 5.221053410e-03f, -2.686543831e-02f,
                        1.128378262e-01f, -3.761263848e-01f, 1.128379167e+00f})
    s = hn::MulAdd(s, u, f(c));
  const V t = hn::Div(f(1), hn::MulAdd(a, f(0.5f), f(1)));
  V p = f(5.934810684e-02f);
  for (const float c : {-1.136947069e-01f, -7.444245496e-02f, 1.808188451e-01f, 1.246538668e-01f,
                        2.614292263e-01f, 2.799214494e-01f, 2.822295602e-01f})
    p = hn::MulAdd(p, t, f(c));
  const V tail = hn::Sub(f(1), hn::Mul(exp(hn::Neg(u)), hn::Mul(t, p)));
  const V y = hn::IfThenElse(hn::Lt(a, f(1)), hn::Mul(x, s), hn::CopySign(tail, x));
  return keep_nan(x, y);
}

}  // namespace frit::kernels::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
