// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/fast/rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/fast/loops.h"
#include "kernels/cpu/fast/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/fast/rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/fast/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace frit::kernels::fast::HWY_NAMESPACE {

using std::int64_t;

constexpr int64_t kLanes = HWY_LANES(float);
/// Numbers added in f32 before they go into an f64 sum, so that long rows lose no digits.
constexpr int64_t kBlock = 512;

/// The first n numbers of p, the rest of the vector `fill`.
HWY_INLINE V load(const float* p, int64_t n, float fill) {
  const D d;
  if (n >= kLanes) return hn::LoadU(d, p);
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(f(fill), d, lanes);
  std::memcpy(lanes, p, static_cast<std::size_t>(n) * sizeof(float));
  return hn::Load(d, lanes);
}

HWY_INLINE void store(V v, float* p, int64_t n) {
  const D d;
  if (n >= kLanes) return hn::StoreU(v, d, p);
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(v, d, lanes);
  std::memcpy(p, lanes, static_cast<std::size_t>(n) * sizeof(float));
}

/// The larger (smaller) one; NaN if either is NaN.
HWY_INLINE V max_nan(V a, V b) {
  return hn::IfThenElse(hn::IsNaN(b), b, most(a, b));
}
HWY_INLINE V min_nan(V a, V b) {
  return hn::IfThenElse(hn::IsNaN(b), b, least(a, b));
}

template <class Op>
float fold_row(const float* x, int64_t n, float start, Op op) {
  V acc[4] = {f(start), f(start), f(start), f(start)};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    for (int k = 0; k < 4; ++k) acc[k] = op(acc[k], hn::LoadU(D(), x + i + k * kLanes));
  for (; i < n; i += kLanes) acc[0] = op(acc[0], load(x + i, n - i, start));
  HWY_ALIGN float lanes[HWY_LANES(float)];
  hn::Store(op(op(acc[0], acc[1]), op(acc[2], acc[3])), D(), lanes);
  V result = f(start);
  for (const float lane : lanes) result = op(result, f(lane));
  return hn::GetLane(result);
}
float row_max(const float* x, int64_t n, float start) {
  return fold_row(x, n, start, [](V a, V b) HWY_ATTR { return max_nan(a, b); });
}
float row_min(const float* x, int64_t n, float start) {
  return fold_row(x, n, start, [](V a, V b) HWY_ATTR { return min_nan(a, b); });
}

/// Adds term(x) over a row.
template <class Term>
double sum_row(const float* x, int64_t n, Term term) {
  double total = 0;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t end = std::min(first + kBlock, n);
    V acc[4] = {f(0), f(0), f(0), f(0)};
    int64_t i = first;
    for (; i + 4 * kLanes <= end; i += 4 * kLanes)
      for (int k = 0; k < 4; ++k)
        acc[k] = hn::Add(acc[k], term(hn::LoadU(D(), x + i + k * kLanes)));
    for (; i < end; i += kLanes) {
      HWY_ALIGN float lanes[HWY_LANES(float)];
      hn::Store(term(load(x + i, end - i, 0)), D(), lanes);
      acc[0] = hn::Add(acc[0], load(lanes, end - i, 0));
    }
    const V all = hn::Add(hn::Add(acc[0], acc[1]), hn::Add(acc[2], acc[3]));
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(D(), all)));
  }
  return total;
}
double row_sum(const float* x, int64_t n, float shift) {
  return sum_row(x, n, [=](V v) HWY_ATTR { return hn::Sub(v, f(shift)); });
}
double row_squares(const float* x, int64_t n, float center, float rest) {
  return sum_row(x, n, [=](V v) HWY_ATTR {
    const V t = hn::Sub(hn::Sub(v, f(center)), f(rest));
    return hn::Mul(t, t);
  });
}

double row_exp(const float* x, int64_t n, float peak, float* y) {
  double total = 0;
  for (int64_t first = 0; first < n; first += kBlock) {
    const int64_t end = std::min(first + kBlock, n);
    V acc = f(0);
    for (int64_t i = first; i < end; i += kLanes) {
      // Beyond the end, exp(-inf) adds nothing.
      const V e =
          exp(hn::Sub(load(x + i, end - i, -std::numeric_limits<float>::infinity()), f(peak)));
      acc = hn::Add(acc, e);
      if (y != nullptr) store(e, y + i, end - i);
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(D(), acc)));
  }
  return total;
}

void row_affine(const float* x, int64_t n, float center, float rest, float factor, float offset,
                const float* scale, const float* bias, float* y) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const V t = hn::Sub(hn::Sub(load(x + i, n - i, 0), f(center)), f(rest));
    V v = hn::MulAdd(t, f(factor), f(offset));
    if (scale != nullptr) v = hn::Mul(v, load(scale + i, n - i, 0));
    if (bias != nullptr) v = hn::Add(v, load(bias + i, n - i, 0));
    store(v, y + i, n - i);
  }
}

template <class Op>
void fold_each(float* acc, const float* x, int64_t n, Op op) {
  for (int64_t i = 0; i < n; i += kLanes)
    store(op(load(acc + i, n - i, 0), load(x + i, n - i, 0)), acc + i, n - i);
}
void each_max(float* acc, const float* x, int64_t n) {
  fold_each(acc, x, n, [](V a, V b) HWY_ATTR { return max_nan(a, b); });
}
void each_min(float* acc, const float* x, int64_t n) {
  fold_each(acc, x, n, [](V a, V b) HWY_ATTR { return min_nan(a, b); });
}
void each_add(float* acc, const float* x, int64_t n) {
  fold_each(acc, x, n, [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
}
void each_exp(float* acc, const float* x, const float* peak, int64_t n, float* y) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const V e = exp(hn::Sub(load(x + i, n - i, 0), load(peak + i, n - i, 0)));
    store(hn::Add(load(acc + i, n - i, 0), e), acc + i, n - i);
    store(e, y + i, n - i);
  }
}

/// The functions of this instruction set.
const RowLoops& loops() {
  static constexpr RowLoops kLoops = {row_max,    row_min,  row_sum,  row_squares, row_exp,
                                      row_affine, each_max, each_min, each_add,    each_exp};
  return kLoops;
}

}  // namespace frit::kernels::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace frit::kernels::fast {

const RowLoops& row_loops() noexcept {
#if defined(__x86_64__)
  if (isa() == Isa::avx2) return N_AVX2::loops();
#endif
  return HWY_STATIC_DISPATCH(loops)();
}

}  // namespace frit::kernels::fast
#endif
