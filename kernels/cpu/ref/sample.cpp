// SPDX-License-Identifier: Apache-2.0
// Sampling images at computed places: grid_sample and roi_align, in f64.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/ref/indices.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

enum SampleMode { kLinear, kNearest, kCubic };
enum Padding { kZeros, kBorder, kReflection };

constexpr int kSpatial = 3;  // most spatial axes of a grid

/// The elements of one axis that a sample mixes. `index` is -1 where an element counts as zero.
struct Taps {
  int count = 0;
  int64_t index[4] = {};
  double weight[4] = {};
};

/// The weights of Keys' cubic convolution with a = -0.75, as ONNX fixes it.
double cubic_weight(double d) {
  constexpr double kA = -0.75;
  d = std::fabs(d);
  if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
  return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA;
}

/// Operands: x [N, C, in…], grid [N, out…, axes], the coordinates of the last axis first.
struct GridSample {
  Dims x, y;
  int axes = 0;
  SampleMode mode = kLinear;
  Padding padding = kZeros;
  bool align_corners = false;
  DType dtype = DType::undefined;
  Converted<double> source, grid;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "grid_sample");
    if (!c.tensors(2, 2, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    c.require(is_convertible(dtype), "operand 0 has type %s, which cannot be sampled",
              dtype_name(dtype));
    c.require(is_wide_float(c.in(1).dtype), "operand 1 has type %s; expected a float",
              dtype_name(c.in(1).dtype));
    c.dtype_out(0, dtype);
    mode = static_cast<SampleMode>(c.choice_or("mode", {"linear", "nearest", "cubic"}, kLinear));
    padding =
        static_cast<Padding>(c.choice_or("padding", {"zeros", "border", "reflection"}, kZeros));
    align_corners = c.integer_or("align_corners", 0, 1, 0) != 0;
    x = c.dims_in(0);
    y = c.dims_out(0);
    const Dims g = c.dims_in(1);
    axes = x.rank - 2;
    if (!c.require(axes >= 1 && axes <= kSpatial && g.rank == x.rank && y.rank == x.rank,
                   "x has rank %d, the grid %d and y %d; expected one rank of 3 to 5", x.rank,
                   g.rank, y.rank))
      return c.error();
    c.require(g[g.rank - 1] == axes, "the grid has %lld coordinates per point; expected %d",
              static_cast<long long>(g[g.rank - 1]), axes);
    c.require(g[0] == x[0], "x has batch %lld and the grid %lld", static_cast<long long>(x[0]),
              static_cast<long long>(g[0]));
    Dims want = x;
    for (int a = 0; a < axes; ++a) {
      want[a + 2] = g[a + 1];
      c.require(x[a + 2] > 0 || y.volume() == 0, "x is empty on axis %d", a + 2);
    }
    c.shape_out(0, want);
    source.plan(c, c.in(0));
    grid.plan(c, c.in(1));
    return c.error();
  }

  double reflect(double p, double low, double high) const {
    const double range = high - low;
    if (range <= 0) return low;
    if (p >= low && p <= high) return p;
    const double beyond = p < low ? low - p : p - high;
    const double turns = std::floor(beyond / range);
    const double rest = beyond - turns * range;
    const bool even = std::fmod(turns, 2) == 0;
    return (p < low) == even ? low + rest : high - rest;
  }

  /// What element `i` of an axis of `dim` stands for under the padding.
  int64_t element(double i, int64_t dim) const {
    const double last = static_cast<double>(dim - 1);
    if (i >= 0 && i <= last) return static_cast<int64_t>(i);
    if (padding == kZeros) return -1;
    if (padding == kReflection)
      i = align_corners ? reflect(i, 0, last) : reflect(i, -0.5, last + 0.5);
    return static_cast<int64_t>(std::clamp(i, 0.0, last));
  }

  Taps taps(double n, int64_t dim) const {
    const double size = static_cast<double>(dim);
    double p = align_corners ? (n + 1) / 2 * (size - 1) : ((n + 1) * size - 1) / 2;
    // NaN reads as outside; the limits keep the conversions to integers defined.
    p = std::isnan(p) ? -1e15 : std::clamp(p, -1e15, 1e15);
    if (mode == kNearest) p = std::nearbyint(p);
    const double low = align_corners ? 0 : -0.5;
    const double high = align_corners ? size - 1 : size - 0.5;
    if (p < low || p > high) {
      if (padding == kBorder) p = std::clamp(p, 0.0, size - 1);
      if (padding == kReflection) p = reflect(p, low, high);
    }
    Taps t;
    if (mode == kNearest) {
      t.count = 1;
      t.index[0] = element(std::trunc(p), dim);
      t.weight[0] = 1;
      return t;
    }
    const double below = std::floor(p);
    const int first = mode == kCubic ? -1 : 0;
    t.count = mode == kCubic ? 4 : 2;
    for (int k = 0; k < t.count; ++k) {
      const double i = below + first + k;
      t.index[k] = element(i, dim);
      t.weight[k] = mode == kCubic ? cubic_weight(p - i) : 1 - std::fabs(p - i);
    }
    return t;
  }

  static double mix(const Taps* t, int count, const int64_t* strides, const double* image) {
    double sum = 0;
    for (int k = 0; k < t->count; ++k) {
      if (t->index[k] < 0) continue;
      const double* part = image + t->index[k] * *strides;
      sum += t->weight[k] * (count == 1 ? *part : mix(t + 1, count - 1, strides + 1, part));
    }
    return sum;
  }

  const char* run(const RunArgs& args) const {
    const double* px = source.load(args, 0);
    const double* pg = grid.load(args, 1);
    const int64_t points = y.product(2, y.rank);
    const int64_t image = x.product(2, x.rank);
    int64_t strides[kSpatial] = {};
    for (int a = 0; a < axes; ++a) strides[a] = x.stride(a + 2);
    args.parallel(y[0] * points, 256, [&](int64_t begin, int64_t end, int) {
      for (int64_t at = begin; at < end; ++at) {
        Taps t[kSpatial];
        for (int a = 0; a < axes; ++a) t[a] = taps(pg[at * axes + axes - 1 - a], x[a + 2]);
        const int64_t sample = at / points;
        for (int64_t c = 0; c < x[1]; ++c) {
          const int64_t plane = sample * x[1] + c;
          const double v = mix(t, axes, strides, px + plane * image);
          write_run<double>(dtype, &v, 1, args.out[0], plane * points + at % points);
        }
      }
    });
    return nullptr;
  }
};

/// Operands: x [N, C, H, W], rois [R, 4] (x1, y1, x2, y2), batch_indices [R].
struct RoiAlign {
  Dims x, y;
  bool max = false, half_pixel = true;
  int64_t ratio = 0;
  double spatial_scale = 1;
  DType dtype = DType::undefined, index_type = DType::undefined;
  Converted<double> source, rois;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "roi_align");
    if (!c.tensors(3, 3, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    c.require(is_wide_float(dtype), "operand 0 has type %s; expected f16, bf16, f32 or f64",
              dtype_name(dtype));
    c.dtype_in(1, dtype);
    c.dtype_out(0, dtype);
    index_type = check_indices(c, 2);
    max = c.choice_or("mode", {"avg", "max"}, 0) == 1;
    half_pixel = c.choice_or("coordinate", {"half_pixel", "output_half_pixel"}, 0) == 0;
    ratio = c.integer_or("sampling_ratio", 0, 1 << 12, 0);
    spatial_scale = c.real_or("spatial_scale", 1);
    x = c.dims_in(0);
    y = c.dims_out(0);
    if (!c.require(x.rank == 4 && y.rank == 4 && c.dims_in(1).rank == 2,
                   "ranks of x, rois and y are %d, %d and %d; expected 4, 2 and 4", x.rank,
                   c.dims_in(1).rank, y.rank))
      return c.error();
    const int64_t count = c.dims_in(1)[0];
    const int64_t height = c.integer_or("output_height", 1, int64_t{1} << 40, 1);
    const int64_t width = c.integer_or("output_width", 1, int64_t{1} << 40, 1);
    c.shape_in(1, {count, 4});
    c.shape_in(2, {count});
    c.shape_out(0, Dims{4, {count, x[1], height, width}});
    c.require((x[2] > 0 && x[3] > 0) || y.volume() == 0, "x is empty");
    source.plan(c, c.in(0));
    rois.plan(c, c.in(1));
    return c.error();
  }

  /// A roi in coordinates of x: origin, bin size and samples per bin, rows first.
  struct Region {
    double start[2], bin[2];
    int64_t samples[2];
  };

  /// False if the roi is not finite or so large that sampling it would take forever.
  bool read_region(const double* roi, Region& r) const {
    for (int a = 0; a < 2; ++a) {
      const double shift = half_pixel ? 0.5 : 0;
      const double start = roi[1 - a] * spatial_scale - shift;
      double extent = roi[3 - a] * spatial_scale - shift - start;
      if (!half_pixel) extent = std::max(extent, 1.0);
      const double bins = static_cast<double>(y[a + 2]);
      const double samples =
          ratio > 0 ? static_cast<double>(ratio) : std::max(std::ceil(extent / bins), 0.0);
      if (!std::isfinite(start) || !std::isfinite(extent) ||
          samples > 4096 + 4 * static_cast<double>(x[a + 2]))
        return false;
      r.start[a] = start;
      r.bin[a] = extent / bins;
      r.samples[a] = static_cast<int64_t>(samples);
    }
    return true;
  }

  /// Corners and weights of a position on one axis; false if it is outside.
  static bool corners(double p, int64_t dim, int64_t* low, int64_t* high, double* weight) {
    if (p < -1 || p > static_cast<double>(dim)) return false;
    p = std::max(p, 0.0);
    *low = std::min(static_cast<int64_t>(p), dim - 1);
    *high = std::min(*low + 1, dim - 1);
    *weight = *low == dim - 1 ? 0 : p - static_cast<double>(*low);
    return true;
  }

  double pool(const double* plane, const Region& r, int64_t row, int64_t col) const {
    double result = 0;
    bool first = true;
    for (int64_t sy = 0; sy < r.samples[0]; ++sy) {
      const double py =
          r.start[0] + static_cast<double>(row) * r.bin[0] +
          (static_cast<double>(sy) + 0.5) * r.bin[0] / static_cast<double>(r.samples[0]);
      for (int64_t sx = 0; sx < r.samples[1]; ++sx) {
        const double px =
            r.start[1] + static_cast<double>(col) * r.bin[1] +
            (static_cast<double>(sx) + 0.5) * r.bin[1] / static_cast<double>(r.samples[1]);
        int64_t y0 = 0, y1 = 0, x0 = 0, x1 = 0;
        double wy = 0;
        double wx = 0;
        double part[4] = {};
        if (corners(py, x[2], &y0, &y1, &wy) && corners(px, x[3], &x0, &x1, &wx)) {
          part[0] = (1 - wy) * (1 - wx) * plane[y0 * x[3] + x0];
          part[1] = (1 - wy) * wx * plane[y0 * x[3] + x1];
          part[2] = wy * (1 - wx) * plane[y1 * x[3] + x0];
          part[3] = wy * wx * plane[y1 * x[3] + x1];
        }
        if (max) {
          // ONNX takes the largest weighted corner, not the largest interpolated sample.
          const double v = *std::max_element(part, part + 4);
          result = first ? v : std::max(result, v);
          first = false;
        } else {
          result += part[0] + part[1] + part[2] + part[3];
        }
      }
    }
    const double count = static_cast<double>(std::max<int64_t>(r.samples[0] * r.samples[1], 1));
    return max ? result : result / count;
  }

  const char* run(const RunArgs& args) const {
    const double* px = source.load(args, 0);
    const double* pr = rois.load(args, 1);
    const int64_t cells = y[2] * y[3];
    if (y.volume() == 0) return nullptr;
    FirstError error;
    args.parallel(y[0] * y[1], 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t roi = t / y[1];
        const int64_t sample = index_at(index_type, args.in[2], roi);
        Region r{};
        if (sample < 0 || sample >= x[0])
          return error.set("roi_align: a batch index lies outside the batch; check batch_indices");
        if (!read_region(pr + roi * 4, r))
          return error.set("roi_align: a roi is not finite or far larger than x; check the rois");
        const double* plane = px + (sample * x[1] + t % y[1]) * x[2] * x[3];
        for (int64_t i = 0; i < cells; ++i) {
          const double v = pool(plane, r, i / y[3], i % y[3]);
          write_run<double>(dtype, &v, 1, args.out[0], t * cells + i);
        }
      }
    });
    return error.get();
  }
};

}  // namespace

const Kernel grid_sample_kernel = make_kernel<GridSample>("ref.grid_sample");
const Kernel roi_align_kernel = make_kernel<RoiAlign>("ref.roi_align");

}  // namespace frit::kernels::ref
