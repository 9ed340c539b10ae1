// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor are visited when some of its axes are reduced.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/ref/tile.h"

namespace frit::kernels::ref {

/// Splits the work by results. Axes merge where neighbours are both kept or both reduced; if the
/// innermost one is reduced, a unit of work is one result and its elements come in long runs, else
/// a unit is up to kTile neighbouring results and each run holds one element for each of them.
struct ReducePlan {
  int kept = 0;     ///< axes outside the innermost that stay
  int reduced = 0;  ///< axes outside the innermost that vanish
  std::int64_t kept_dim[kMaxRank] = {};
  std::int64_t kept_stride[kMaxRank] = {};
  std::int64_t reduced_dim[kMaxRank] = {};
  std::int64_t reduced_stride[kMaxRank] = {};
  std::int64_t inner = 1;
  bool inner_reduced = true;
  std::int64_t results = 1;
  std::int64_t members = 1;  ///< elements that make one result

  ReducePlan() = default;
  /// `drop[a]` says that axis a is reduced.
  ReducePlan(const Dims& x, const bool* drop);

  std::int64_t chunks() const { return inner_reduced ? 1 : (inner + kTile - 1) / kTile; }
  std::int64_t units() const {
    return inner_reduced ? results : inner == 0 ? 0 : results / inner * chunks();
  }
  /// First result of a unit, and how many it has.
  std::int64_t first_result(std::int64_t unit) const {
    return inner_reduced ? unit : unit / chunks() * inner + unit % chunks() * kTile;
  }
  std::int64_t width(std::int64_t unit) const {
    return inner_reduced ? 1 : std::min(kTile, inner - unit % chunks() * kTile);
  }
  /// Units that are worth giving to a thread.
  std::int64_t grain() const {
    const std::int64_t width = inner_reduced ? 1 : std::clamp<std::int64_t>(inner, 1, kTile);
    return std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, members) / width);
  }

  /// Calls f(offset, n) for every run of elements of a unit, n <= kTile.
  template <class F>
  void walk(std::int64_t unit, F&& f) const {
    std::int64_t base = 0;
    std::int64_t row = unit / chunks();
    for (int a = kept - 1; a >= 0; --a) {
      base += row % kept_dim[a] * kept_stride[a];
      row /= kept_dim[a];
    }
    if (members == 0) return;
    if (!inner_reduced) base += unit % chunks() * kTile;
    std::int64_t index[kMaxRank] = {};
    for (;;) {
      if (inner_reduced)
        for (std::int64_t i = 0; i < inner; i += kTile) f(base + i, std::min(kTile, inner - i));
      else
        f(base, width(unit));
      int a = reduced - 1;
      for (; a >= 0; --a) {
        base += reduced_stride[a];
        if (++index[a] < reduced_dim[a]) break;
        base -= reduced_stride[a] * reduced_dim[a];
        index[a] = 0;
      }
      if (a < 0) return;
    }
  }
};

/// Sum of n numbers, in eight interleaved parts so that it vectorises.
double sum_of(const double* x, std::int64_t n);

/// Calls f(unit) for all units of the plan on the threads of the pool.
template <class F>
void for_each_unit(const ReducePlan& plan, const Parallel& parallel, F&& f) {
  parallel(plan.units(), plan.grain(), [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t u = begin; u < end; ++u) f(u);
  });
}

}  // namespace frit::kernels::ref
