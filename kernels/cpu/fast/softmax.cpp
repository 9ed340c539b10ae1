// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/fast/checked.h"
#include "kernels/cpu/fast/rows.h"

namespace frit::kernels::fast {
namespace {

using std::int64_t;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int64_t kColumns = 512;

/// Softmax or its logarithm of f32 along any axis.
struct Softmax {
  bool log = false;
  int64_t outer = 0, members = 0, inner = 0;
  const RowLoops* loops = nullptr;

  const char* prepare(PrepareArgs& args) {
    if (const char* error = check_step(ref::softmax_kernel, args)) return error;
    ref::Checker c(args, "softmax");
    const ref::Dims d = c.dims_in(0);
    const int axis = static_cast<int>(c.integer("axis", 0, d.rank - 1));
    log = c.integer_or("log", 0, 1, 0) != 0;
    outer = d.product(0, axis);
    members = d[axis];
    inner = d.stride(axis);
    loops = &row_loops();
    return c.error();
  }

  void row(const float* x, float* y) const {
    const float peak = loops->row_max(x, members, -kInf);
    const double sum = loops->row_exp(x, members, peak, log ? nullptr : y);
    if (log)
      loops->row_affine(x, members, peak, static_cast<float>(std::log(sum)), 1, 0, nullptr, nullptr,
                        y);
    else
      loops->row_affine(y, members, 0, 0, static_cast<float>(1 / sum), 0, nullptr, nullptr, y);
  }

  /// n neighbouring columns, n <= kColumns.
  void columns(const float* x, float* y, int64_t n) const {
    alignas(64) float peak[kColumns];
    alignas(64) float sum[kColumns];
    std::fill_n(peak, n, -kInf);
    std::fill_n(sum, n, 0.0f);
    for (int64_t m = 0; m < members; ++m) loops->each_max(peak, x + m * inner, n);
    if (log) {
      alignas(64) float unused[kColumns];
      for (int64_t m = 0; m < members; ++m) loops->each_exp(sum, x + m * inner, peak, n, unused);
      for (int64_t i = 0; i < n; ++i) sum[i] = std::log(sum[i]);
      for (int64_t m = 0; m < members; ++m)
        for (int64_t i = 0; i < n; ++i) y[m * inner + i] = x[m * inner + i] - peak[i] - sum[i];
      return;
    }
    for (int64_t m = 0; m < members; ++m)
      loops->each_exp(sum, x + m * inner, peak, n, y + m * inner);
    for (int64_t i = 0; i < n; ++i) sum[i] = 1 / sum[i];
    for (int64_t m = 0; m < members; ++m)
      for (int64_t i = 0; i < n; ++i) y[m * inner + i] *= sum[i];
  }

  const char* run(const RunArgs& args) const {
    const auto* x = static_cast<const float*>(args.in[0]);
    auto* y = static_cast<float*>(args.out[0]);
    const int64_t chunks = (inner + kColumns - 1) / kColumns;
    const int64_t work = members * std::min(std::max<int64_t>(inner, 1), kColumns);
    const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(work, 1));
    args.parallel(members == 0 ? 0 : outer * chunks, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t u = begin; u < end; ++u) {
        if (inner == 1) {
          row(x + u * members, y + u * members);
          continue;
        }
        const int64_t first = u % chunks * kColumns;
        const int64_t at = u / chunks * members * inner + first;
        columns(x + at, y + at, std::min(kColumns, inner - first));
      }
    });
    return nullptr;
  }
};

}  // namespace

const Kernel softmax_kernel = ref::make_kernel<Softmax>("cpu.softmax");

}  // namespace frit::kernels::fast
