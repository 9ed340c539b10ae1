// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "kernels/cpu/fast/checked.h"
#include "kernels/cpu/fast/rows.h"
#include "kernels/cpu/ref/reduce_plan.h"

namespace frit::kernels::fast {
namespace {

using std::int64_t;

constexpr float kInf = std::numeric_limits<float>::infinity();
/// Numbers added in f32 before they go into an f64 sum.
constexpr int kFlush = 64;

/// Sum, mean, max and min of f32 over axes that are attributes.
struct Reduce {
  enum Kind { kSum, kMean, kMax, kMin };
  int kind = kSum;
  ref::ReducePlan plan;
  const RowLoops* loops = nullptr;

  const char* prepare(PrepareArgs& args) {
    if (args.in.size() > 1 && args.in[1].present())
      return "axes as an operand are not covered here; use the reference kernel";
    if (const char* error = check_step(ref::reduce_kernel, args)) return error;
    ref::Checker c(args, "reduce");
    kind = c.choice("kind", {"sum", "mean", "max", "min", "prod", "l1", "l2", "sum_square",
                             "log_sum", "log_sum_exp"});
    c.require(kind <= kMin,
              "only sum, mean, max and min are covered here; use the reference "
              "kernel for others");
    if (!c.ok()) return c.error();
    const ref::Dims d = c.dims_in(0);
    const Attr* axes = args.find("axes");
    bool drop[kMaxRank] = {};
    for (int i = 0; i < axes->count; ++i) drop[axes->ints[i]] = true;
    plan = ref::ReducePlan(d, drop);
    loops = &row_loops();
    return nullptr;
  }

  float finish(double sum) const {
    return static_cast<float>(kind == kMean ? sum / static_cast<double>(plan.members) : sum);
  }

  /// One result, whose elements come in long runs.
  void row(const float* x, float* y, int64_t u) const {
    double sum = 0;
    float limit = kind == kMax ? -kInf : kInf;
    plan.walk(u, [&](int64_t at, int64_t n) {
      if (kind == kMax)
        limit = loops->row_max(x + at, n, limit);
      else if (kind == kMin)
        limit = loops->row_min(x + at, n, limit);
      else
        sum += loops->row_sum(x + at, n, 0);
    });
    y[plan.first_result(u)] = kind >= kMax ? limit : finish(sum);
  }

  /// Neighbouring results, whose elements are neighbours too.
  void columns(const float* x, float* y, int64_t u) const {
    alignas(64) float acc[ref::kTile];
    alignas(64) double sum[ref::kTile];
    const int64_t width = plan.width(u);
    float* to = y + plan.first_result(u);
    if (kind >= kMax) {
      const auto fold = kind == kMax ? loops->each_max : loops->each_min;
      std::fill_n(acc, width, kind == kMax ? -kInf : kInf);
      plan.walk(u, [&](int64_t at, int64_t n) { fold(acc, x + at, n); });
      std::copy_n(acc, width, to);
      return;
    }
    std::fill_n(acc, width, 0.0f);
    std::fill_n(sum, width, 0.0);
    int pending = 0;
    const auto flush = [&] {
      for (int64_t i = 0; i < width; ++i) sum[i] += static_cast<double>(acc[i]);
      std::fill_n(acc, width, 0.0f);
      pending = 0;
    };
    plan.walk(u, [&](int64_t at, int64_t n) {
      loops->each_add(acc, x + at, n);
      if (++pending == kFlush) flush();
    });
    flush();
    for (int64_t i = 0; i < width; ++i) to[i] = finish(sum[i]);
  }

  const char* run(const RunArgs& args) const {
    const auto* x = static_cast<const float*>(args.in[0]);
    auto* y = static_cast<float*>(args.out[0]);
    ref::for_each_unit(plan, args.parallel, [&](int64_t u) {
      if (plan.inner_reduced)
        row(x, y, u);
      else
        columns(x, y, u);
    });
    return nullptr;
  }
};

}  // namespace

const Kernel reduce_kernel = ref::make_kernel<Reduce>("cpu.reduce");

}  // namespace frit::kernels::fast
