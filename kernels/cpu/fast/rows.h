// SPDX-License-Identifier: Apache-2.0
// Building blocks of reductions over f32, one set per instruction set.
#pragma once

#include <cstdint>

namespace frit::kernels::fast {

/// Functions over n neighbouring numbers. Results may overwrite x; `row` functions treat x as one
/// row, `each` functions keep a number per element in acc.
struct RowLoops {
  /// Largest and smallest number and `start`; NaN if there is one.
  float (*row_max)(const float* x, std::int64_t n, float start);
  float (*row_min)(const float* x, std::int64_t n, float start);
  /// Sum of x - shift.
  double (*row_sum)(const float* x, std::int64_t n, float shift);
  /// Sum of (x - center - rest)^2.
  double (*row_squares)(const float* x, std::int64_t n, float center, float rest);
  /// y = exp(x - peak), or nothing where y is null; returns the sum.
  double (*row_exp)(const float* x, std::int64_t n, float peak, float* y);
  /// y = (x - center - rest) * factor + offset, times scale and plus bias where these are given.
  void (*row_affine)(const float* x, std::int64_t n, float center, float rest, float factor,
                     float offset, const float* scale, const float* bias, float* y);
  void (*each_max)(float* acc, const float* x, std::int64_t n);
  void (*each_min)(float* acc, const float* x, std::int64_t n);
  void (*each_add)(float* acc, const float* x, std::int64_t n);
  /// y = exp(x - peak), acc += y.
  void (*each_exp)(float* acc, const float* x, const float* peak, std::int64_t n, float* y);
};

/// The set for this machine.
const RowLoops& row_loops() noexcept;

}  // namespace frit::kernels::fast
