// SPDX-License-Identifier: Apache-2.0
// Normalizations over scattered elements: across neighbouring channels, and over any set of axes.
#include <cmath>

#include "kernels/cpu/ref/reduce_plan.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// Checks one float operand and a result of the same type and dims.
bool check_same(Checker& c) {
  if (!c.tensors(1, 1, 1, 1)) return false;
  const DType t = c.in(0).dtype;
  c.require(is_real(t) && bits(t) >= 8, "operand 0 has type %s; expected a float of 8 bits or more",
            dtype_name(t));
  c.dtype_out(0, t);
  return c.shape_out(0, c.dims_in(0));
}

/// y = x / (bias + alpha / size * sum of x² over `size` neighbouring channels)^beta.
struct Lrn {
  DType dtype = DType::undefined;
  int64_t batch = 0, channels = 0, area = 0;
  int64_t before = 0, after = 0;
  double factor = 0, beta = 0, bias = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "lrn");
    if (!check_same(c)) return c.error();
    dtype = c.in(0).dtype;
    const Dims d = c.dims_in(0);
    c.require(d.rank >= 2, "operand 0 has rank %d; expected 2 or more", d.rank);
    const int64_t size = c.integer("size", 1, int64_t{1} << 31);
    factor = c.real("alpha") / static_cast<double>(size);
    beta = c.real("beta");
    bias = c.real("bias");
    if (!c.ok()) return c.error();
    batch = d[0];
    channels = d[1];
    area = d.product(2, d.rank);
    before = std::min((size - 1) / 2, channels);
    after = std::min(size / 2, channels);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    const int64_t chunks = (area + kTile - 1) / kTile;
    args.parallel(batch * channels * chunks, 1, [&](int64_t begin, int64_t end, int) {
      alignas(64) double sum[kTile];
      alignas(64) double tile[kTile];
      for (int64_t u = begin; u < end; ++u) {
        const int64_t at = u % chunks * kTile;
        const int64_t n = std::min(kTile, area - at);
        const int64_t channel = u / chunks % channels;
        const int64_t first = u / chunks / channels * channels;
        std::fill_n(sum, n, 0.0);
        const int64_t last = std::min(channel + after, channels - 1);
        for (int64_t k = std::max<int64_t>(channel - before, 0); k <= last; ++k) {
          load_run(dtype, args.in[0], (first + k) * area + at, n, tile);
          for (int64_t i = 0; i < n; ++i) sum[i] += tile[i] * tile[i];
        }
        const int64_t offset = (first + channel) * area + at;
        load_run(dtype, args.in[0], offset, n, tile);
        for (int64_t i = 0; i < n; ++i) tile[i] /= std::pow(bias + factor * sum[i], beta);
        store_run(dtype, tile, args.out[0], offset, n);
      }
    });
    return nullptr;
  }
};

/// y = (x - mean) / (deviation + 1e-9) over a set of axes, the constant being ONNX's.
struct Mvn {
  DType dtype = DType::undefined;
  ReducePlan plan;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "mvn");
    if (!check_same(c)) return c.error();
    dtype = c.in(0).dtype;
    const Dims d = c.dims_in(0);
    const Attr* axes = args.find("axes");
    int64_t list[kMaxRank] = {};
    if (!c.require(axes != nullptr && axes->count >= 0 && axes->count <= d.rank,
                   "attribute 'axes' is missing or longer than the rank %d", d.rank) ||
        !c.integers("axes", axes->count, 0, d.rank - 1, list))
      return c.error();
    bool drop[kMaxRank] = {};
    for (int i = 0; i < axes->count; ++i) drop[list[i]] = true;
    plan = ReducePlan(d, drop);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    for_each_unit(plan, args.parallel, [&](int64_t u) {
      alignas(64) double tile[kTile];
      double mean[kTile];
      double square[kTile];
      const int64_t width = plan.width(u);
      const int64_t step = plan.inner_reduced ? 0 : 1;
      const auto members = static_cast<double>(plan.members);
      std::fill_n(mean, width, 0.0);
      std::fill_n(square, width, 0.0);
      plan.walk(u, [&](int64_t offset, int64_t n) {
        load_run(dtype, args.in[0], offset, n, tile);
        for (int64_t i = 0; i < n; ++i) mean[i * step] += tile[i];
      });
      for (int64_t i = 0; i < width; ++i) mean[i] /= members;
      plan.walk(u, [&](int64_t offset, int64_t n) {
        load_run(dtype, args.in[0], offset, n, tile);
        for (int64_t i = 0; i < n; ++i) {
          const double d = tile[i] - mean[i * step];
          square[i * step] += d * d;
        }
      });
      for (int64_t i = 0; i < width; ++i) square[i] = std::sqrt(square[i] / members) + 1e-9;
      plan.walk(u, [&](int64_t offset, int64_t n) {
        load_run(dtype, args.in[0], offset, n, tile);
        for (int64_t i = 0; i < n; ++i) tile[i] = (tile[i] - mean[i * step]) / square[i * step];
        store_run(dtype, tile, args.out[0], offset, n);
      });
    });
    return nullptr;
  }
};

}  // namespace

const Kernel lrn_kernel = make_kernel<Lrn>("ref.lrn");
const Kernel mvn_kernel = make_kernel<Mvn>("ref.mvn");

}  // namespace frit::kernels::ref
