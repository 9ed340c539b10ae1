// SPDX-License-Identifier: Apache-2.0
// Vector loops for the f32 rows of pointwise.def that networks use.
#include <cstring>

#include "kernels/cpu/fast/loops.h"
#include "kernels/cpu/fast/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fast/pointwise.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/fast/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace frit::kernels::fast::HWY_NAMESPACE {

/// Evaluates Op on vectors; the last, partial one goes through copies.
template <class Op, int kArity>
void loop(std::int64_t n, const void* const* src, void* dst, double v0, double v1) {
  const D d;
  constexpr std::int64_t kLanes = HWY_LANES(float);
  const float* in[kArity];
  for (int k = 0; k < kArity; ++k) in[k] = static_cast<const float*>(src[k]);
  auto* out = static_cast<float*>(dst);
  const V p0 = f(static_cast<float>(v0));
  const V p1 = f(static_cast<float>(v1));
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    hn::StoreU(Op::eval(hn::LoadU(d, in[0] + i), hn::LoadU(d, in[kArity - 1] + i), p0, p1), d,
               out + i);
  if (i == n) return;
  const auto bytes = static_cast<std::size_t>(n - i) * sizeof(float);
  HWY_ALIGN float last[3][HWY_LANES(float)] = {};
  for (int k = 0; k < kArity; ++k) std::memcpy(last[k], in[k] + i, bytes);
  hn::Store(Op::eval(hn::Load(d, last[0]), hn::Load(d, last[kArity - 1]), p0, p1), d, last[2]);
  std::memcpy(out + i, last[2], bytes);
}

#define FRIT_OP(name, expression)                                         \
  struct Op_##name {                                                      \
    static HWY_INLINE V eval(V a, V b, V p0, V p1) {                      \
      static_cast<void>(b), static_cast<void>(p0), static_cast<void>(p1); \
      return expression;                                                  \
    }                                                                     \
  };
#include "kernels/cpu/fast/pointwise_ops.def"
#undef FRIT_OP

/// Powers with one common exponent that is a small number need no logarithm.
void power(std::int64_t n, const void* const* src, void* dst, double v0, double v1) {
  const auto* b = static_cast<const float*>(src[1]);
  bool same = n > 0;
  for (std::int64_t i = 1; i < n; ++i) same &= b[i] == b[0];
  const float e = same ? b[0] : 0.0f;
  if (e == 2.0f) return loop<Op_square, 1>(n, src, dst, v0, v1);
  if (e == 3.0f) return loop<Op_cube, 1>(n, src, dst, v0, v1);
  if (e == 0.5f) return loop<Op_root, 1>(n, src, dst, v0, v1);
  if (e == -0.5f) return loop<Op_inverse_root, 1>(n, src, dst, v0, v1);
  if (e == -1.0f) return loop<Op_reciprocal, 1>(n, src, dst, v0, v1);
  ref::pointwise_loop(ref::kPw_pow, ref::Compute::f32)(n, src, dst, v0, v1);
}

/// The loop of a row, null for rows without one.
ref::PointwiseLoop find(int row) {
  switch (row) {
#define FRIT_ROW(name, arity) \
  case ref::kPw_##name:       \
    return &loop<Op_##name, arity>;
#include "kernels/cpu/fast/pointwise_ops.def"
#undef FRIT_ROW
    case ref::kPw_pow:
      return &power;
    default:
      return nullptr;
  }
}

}  // namespace frit::kernels::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace frit::kernels::fast {

ref::PointwiseLoop simd_loop(int row) noexcept {
#if defined(__x86_64__)
  if (isa() == Isa::avx2) return N_AVX2::find(row);
#endif
  return HWY_STATIC_DISPATCH(find)(row);
}

}  // namespace frit::kernels::fast
#endif
