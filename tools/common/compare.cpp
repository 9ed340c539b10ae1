// SPDX-License-Identifier: Apache-2.0
#include "tools/common/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/dtypes.h"
#include "tools/common/session.h"

namespace frit::tools {
namespace {

// Integers of 64 bits do not fit a double; they must be equal.
bool exact_integers(const ir::Tensor& t) {
  return t.dtype() == DType::i64 || t.dtype() == DType::u64;
}

}  // namespace

Difference compare(const ir::Tensor& found, const ir::Tensor& expected, double rtol, double atol) {
  Difference d;
  if (found.dtype() != expected.dtype() || found.dims() != expected.dims()) {
    d.passed = false;
    d.reason = fmt::format("expected {}, found {}", type_text(expected), type_text(found));
    return d;
  }
  std::int64_t worst = -1;
  double worst_excess = 0;  // error in units of what is allowed there
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    if (exact_integers(expected) && found.i64_at(i) == expected.i64_at(i)) continue;
    const double e = expected.f64_at(i), f = found.f64_at(i);
    if (e == f && !exact_integers(expected)) continue;
    if (std::isnan(e) && std::isnan(f)) continue;
    double error = std::abs(f - e);
    if (!std::isfinite(error)) error = std::numeric_limits<double>::infinity();
    d.max_abs = std::max(d.max_abs, error);
    if (e != 0 && std::isfinite(e)) d.max_rel = std::max(d.max_rel, error / std::abs(e));
    const double allowed = std::isfinite(e) ? atol + rtol * std::abs(e) : 0;
    if (error <= allowed) continue;
    ++d.failing;
    const double excess = allowed > 0 ? error / allowed : std::numeric_limits<double>::infinity();
    if (worst < 0 || excess > worst_excess) {
      worst = i;
      worst_excess = excess;
    }
  }
  d.passed = d.failing == 0;
  if (!d.passed)
    d.reason =
        fmt::format("{} of {} elements differ, worst at {}: expected {}, found {}", d.failing,
                    expected.count(), worst, expected.f64_at(worst), found.f64_at(worst));
  return d;
}

}  // namespace frit::tools
