// SPDX-License-Identifier: Apache-2.0
// Normalizations of f32 over elements that lie together.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/fast/checked.h"
#include "kernels/cpu/fast/rows.h"

namespace frit::kernels::fast {
namespace {

using std::int64_t;

/// The mean as a float and what rounding took from it, and the variance.
struct Moments {
  float mean = 0;
  float rest = 0;
  double variance = 0;
  double exact_mean() const { return static_cast<double>(mean) + static_cast<double>(rest); }
};

Moments split(double mean, double variance) {
  const auto rounded = static_cast<float>(mean);
  // An infinite mean has no rest: inf - inf would hide it.
  const double rest = std::isfinite(rounded) ? mean - static_cast<double>(rounded) : 0;
  return {rounded, static_cast<float>(rest), variance};
}

/// In f64: only for numbers whose squares leave the range of f32.
Moments wide_moments(const float* x, int64_t n, bool centered) {
  double mean = 0;
  for (int64_t i = 0; centered && i < n; ++i) mean += static_cast<double>(x[i]);
  mean /= static_cast<double>(n);
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(x[i]) - mean;
    squares += t * t;
  }
  return split(mean, squares / static_cast<double>(n));
}

/// Sums are taken relative to the first element, so that a large common offset costs no digits.
Moments moments_of(const RowLoops& loops, const float* x, int64_t n, bool centered) {
  Moments m;
  const auto count = static_cast<double>(n);
  if (centered) {
    const double sum = loops.row_sum(x, n, x[0]);
    m = split(static_cast<double>(x[0]) + sum / count, 0);
  }
  m.variance = loops.row_squares(x, n, m.mean, m.rest) / count;
  return std::isfinite(m.variance) ? m : wide_moments(x, n, centered);
}

/// layer_norm, and rms_norm without mean and bias.
template <bool kRms>
struct RowNorm {
  int64_t rows = 0, n = 0;
  double epsilon = 0;
  const RowLoops* loops = nullptr;

  const char* prepare(PrepareArgs& args) {
    const Kernel& reference = kRms ? ref::rms_norm_kernel : ref::layer_norm_kernel;
    if (const char* error = check_step(reference, args)) return error;
    ref::Checker c(args, kRms ? "rms_norm" : "layer_norm");
    const ref::Dims d = c.dims_in(0);
    const int axis = static_cast<int>(c.integer("axis", 0, d.rank - 1));
    epsilon = c.real("epsilon");
    rows = d.product(0, axis);
    n = d.product(axis, d.rank);
    for (int i = 1; i < c.in_count(); ++i)
      c.require(!c.in(i).present() || c.dims_in(i).volume() == n,
                "operand %d has %lld elements; expected one for each of the %lld of a row "
                "(use the reference kernel for broadcasting ones)",
                i, static_cast<long long>(c.dims_in(i).volume()), static_cast<long long>(n));
    in_count_ = c.in_count();
    has_mean_ = c.out(1).present();
    has_inverse_ = c.out(2).present();
    loops = &row_loops();
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    const auto operand = [&](int i) {
      return i < in_count_ ? static_cast<const float*>(args.in[i]) : nullptr;
    };
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n));
    if (n == 0) return empty(args);
    args.parallel(rows, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) {
        const float* x = operand(0) + r * n;
        const Moments m = moments_of(*loops, x, n, !kRms);
        const double inverse = 1 / std::sqrt(m.variance + epsilon);
        loops->row_affine(x, n, m.mean, m.rest, static_cast<float>(inverse), 0, operand(1),
                          operand(2), static_cast<float*>(args.out[0]) + r * n);
        statistics(args, r, static_cast<float>(m.exact_mean()), static_cast<float>(inverse));
      }
    });
    return nullptr;
  }

 private:
  int in_count_ = 0;
  bool has_mean_ = false, has_inverse_ = false;

  void statistics(const RunArgs& args, int64_t r, float mean, float inverse) const {
    if (has_mean_) static_cast<float*>(args.out[1])[r] = mean;
    if (has_inverse_) static_cast<float*>(args.out[2])[r] = inverse;
  }
  /// Rows of no elements have no moments.
  const char* empty(const RunArgs& args) const {
    for (int64_t r = 0; r < rows; ++r) statistics(args, r, std::nanf(""), std::nanf(""));
    return nullptr;
  }
};

struct GroupNorm {
  int64_t batch = 0, channels = 0, groups = 1, area = 0;
  double epsilon = 0;
  const RowLoops* loops = nullptr;

  const char* prepare(PrepareArgs& args) {
    if (const char* error = check_step(ref::group_norm_kernel, args)) return error;
    ref::Checker c(args, "group_norm");
    const ref::Dims d = c.dims_in(0);
    batch = d[0];
    channels = d[1];
    area = d.product(2, d.rank);
    groups = c.integer("groups", 1, std::max<int64_t>(channels, 1));
    epsilon = c.real("epsilon");
    loops = &row_loops();
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    const int64_t members = channels / groups;
    const int64_t n = members * area;
    if (n == 0) return nullptr;
    const auto* scale = static_cast<const float*>(args.in[1]);
    const auto* bias = static_cast<const float*>(args.in[2]);
    args.parallel(batch * groups, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t g = begin; g < end; ++g) {
        const float* x = static_cast<const float*>(args.in[0]) + g * n;
        float* y = static_cast<float*>(args.out[0]) + g * n;
        const Moments m = moments_of(*loops, x, n, true);
        const double inverse = 1 / std::sqrt(m.variance + epsilon);
        for (int64_t k = 0; k < members; ++k) {
          const int64_t channel = g % groups * members + k;
          loops->row_affine(x + k * area, area, m.mean, m.rest,
                            static_cast<float>(inverse * static_cast<double>(scale[channel])),
                            bias[channel], nullptr, nullptr, y + k * area);
        }
      }
    });
    return nullptr;
  }
};

}  // namespace

const Kernel layer_norm_kernel = ref::make_kernel<RowNorm<false>>("cpu.layer_norm");
const Kernel rms_norm_kernel = ref::make_kernel<RowNorm<true>>("cpu.rms_norm");
const Kernel group_norm_kernel = ref::make_kernel<GroupNorm>("cpu.group_norm");

}  // namespace frit::kernels::fast
