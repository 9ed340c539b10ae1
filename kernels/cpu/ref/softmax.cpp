// SPDX-License-Identifier: Apache-2.0
// Ops that weigh each element against the others along one axis. All compute in f64.
#include <cmath>
#include <limits>

#include "kernels/common/pointwise_math.h"
#include "kernels/cpu/ref/reduce_plan.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Longest row that softmax keeps on the stack.
constexpr int64_t kShortRow = 2048;

/// What the three ops share: one float operand, a result of the same type and dims, an axis.
struct AlongAxis {
  DType dtype = DType::undefined;
  ReducePlan plan;

  void check(Checker& c) {
    if (!c.tensors(1, 1, 1, 1)) return;
    dtype = c.in(0).dtype;
    c.require(is_real(dtype) && bits(dtype) >= 8,
              "operand 0 has type %s; expected a float of 8 bits or more", dtype_name(dtype));
    c.dtype_out(0, dtype);
    const Dims d = c.dims_in(0);
    c.shape_out(0, d);
    c.require(d.rank > 0, "operand 0 is a scalar; expected an axis to work along");
    const auto axis = c.integer("axis", 0, d.rank - 1);
    if (!c.ok()) return;
    bool drop[kMaxRank] = {};
    drop[axis] = true;
    plan = ReducePlan(d, drop);
  }

  /// Calls f(tile, n) for the elements of a unit, then stores what it made of them.
  template <class F>
  void rewrite(const RunArgs& args, int64_t unit, double* tile, F&& f) const {
    plan.walk(unit, [&](int64_t offset, int64_t n) {
      load_run(dtype, args.in[0], offset, n, tile);
      f(n);
      store_run(dtype, tile, args.out[0], offset, n);
    });
  }
  template <class F>
  void read(const RunArgs& args, int64_t unit, double* tile, F&& f) const {
    plan.walk(unit, [&](int64_t offset, int64_t n) {
      load_run(dtype, args.in[0], offset, n, tile);
      f(n);
    });
  }
};

struct Softmax : AlongAxis {
  bool log = false;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "softmax");
    check(c);
    if (c.ok()) log = c.integer_or("log", 0, 1, 0) != 0;
    return c.error();
  }

  /// A row that fits on the stack takes one exponential per element.
  void short_row(const RunArgs& args, int64_t u) const {
    alignas(64) double row[kShortRow];
    const int64_t n = plan.members;
    load_run(dtype, args.in[0], u * n, n, row);
    double peak = -kInf;
    for (int64_t i = 0; i < n; ++i) peak = pw_max_nan(peak, row[i]);
    double sum = 0;
    if (log) {
      for (int64_t i = 0; i < n; ++i) sum += std::exp(row[i] - peak);
      sum = std::log(sum);
      for (int64_t i = 0; i < n; ++i) row[i] = row[i] - peak - sum;
    } else {
      for (int64_t i = 0; i < n; ++i) row[i] = std::exp(row[i] - peak);
      sum = sum_of(row, n);
      for (int64_t i = 0; i < n; ++i) row[i] /= sum;
    }
    store_run(dtype, row, args.out[0], u * n, n);
  }

  const char* run(const RunArgs& args) const {
    const bool contiguous = plan.inner_reduced && plan.reduced == 0;
    for_each_unit(plan, args.parallel, [&](int64_t u) {
      if (contiguous && plan.members <= kShortRow) return short_row(args, u);
      alignas(64) double tile[kTile];
      alignas(64) double peak[kTile];
      alignas(64) double sum[kTile];
      const int64_t width = plan.width(u);
      // Results of a unit are either one for all elements or one for each.
      const int64_t step = plan.inner_reduced ? 0 : 1;
      std::fill_n(peak, width, -kInf);
      std::fill_n(sum, width, 0.0);
      read(args, u, tile, [&](int64_t n) {
        for (int64_t i = 0; i < n; ++i) peak[i * step] = pw_max_nan(peak[i * step], tile[i]);
      });
      read(args, u, tile, [&](int64_t n) {
        for (int64_t i = 0; i < n; ++i) tile[i] = std::exp(tile[i] - peak[i * step]);
        if (step == 0)
          sum[0] += sum_of(tile, n);
        else
          for (int64_t i = 0; i < n; ++i) sum[i] += tile[i];
      });
      if (log)
        for (int64_t i = 0; i < width; ++i) sum[i] = std::log(sum[i]);
      rewrite(args, u, tile, [&](int64_t n) {
        if (log)
          for (int64_t i = 0; i < n; ++i) tile[i] = tile[i] - peak[i * step] - sum[i * step];
        else
          for (int64_t i = 0; i < n; ++i)
            tile[i] = std::exp(tile[i] - peak[i * step]) / sum[i * step];
      });
    });
    return nullptr;
  }
};

/// One at the first largest element along the axis, zero elsewhere. NaN counts as largest.
struct Hardmax : AlongAxis {
  const char* prepare(PrepareArgs& args) {
    Checker c(args, "hardmax");
    check(c);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    for_each_unit(plan, args.parallel, [&](int64_t u) {
      alignas(64) double tile[kTile];
      double peak[kTile];
      int64_t where[kTile];
      int64_t seen[kTile];
      const int64_t step = plan.inner_reduced ? 0 : 1;
      std::fill_n(where, plan.width(u), int64_t{0});
      std::fill_n(seen, plan.width(u), int64_t{0});
      read(args, u, tile, [&](int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          const int64_t r = i * step;
          const bool better =
              seen[r] == 0 || tile[i] > peak[r] || (std::isnan(tile[i]) && !std::isnan(peak[r]));
          if (better) {
            peak[r] = tile[i];
            where[r] = seen[r];
          }
          ++seen[r];
        }
      });
      std::fill_n(seen, plan.width(u), int64_t{0});
      rewrite(args, u, tile, [&](int64_t n) {
        for (int64_t i = 0; i < n; ++i) tile[i] = seen[i * step]++ == where[i * step] ? 1 : 0;
      });
    });
    return nullptr;
  }
};

/// x over its p-norm along the axis; where the norm is 0, so is the result.
struct LpNorm : AlongAxis {
  int64_t p = 2;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "lp_norm");
    check(c);
    if (c.ok()) p = c.integer("p", 1, 2);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    for_each_unit(plan, args.parallel, [&](int64_t u) {
      alignas(64) double tile[kTile];
      alignas(64) double norm[kTile];
      const int64_t step = plan.inner_reduced ? 0 : 1;
      std::fill_n(norm, plan.width(u), 0.0);
      read(args, u, tile, [&](int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          norm[i * step] += p == 1 ? std::fabs(tile[i]) : tile[i] * tile[i];
      });
      if (p == 2)
        for (int64_t i = 0; i < plan.width(u); ++i) norm[i] = std::sqrt(norm[i]);
      rewrite(args, u, tile, [&](int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          tile[i] = norm[i * step] == 0 ? 0 : tile[i] / norm[i * step];
      });
    });
    return nullptr;
  }
};

}  // namespace

const Kernel softmax_kernel = make_kernel<Softmax>("ref.softmax");
const Kernel hardmax_kernel = make_kernel<Hardmax>("ref.hardmax");
const Kernel lp_norm_kernel = make_kernel<LpNorm>("ref.lp_norm");

}  // namespace frit::kernels::ref
