// SPDX-License-Identifier: Apache-2.0
// Resampling, one axis after the other in f64; nearest copies elements of any type.
#include <algorithm>
#include <cmath>

#include "kernels/common/scalar.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/strided_copy.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

enum ResizeMode { kNearest, kLinear, kCubic };

enum Coordinate {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixel,
  kTfCrop,
};

enum NearestMode { kPreferFloor, kPreferCeil, kFloor, kCeil };

/// Source index that stands for "outside: take the extrapolation value".
constexpr int64_t kOutside = INT64_MIN;

/// How one axis is resampled.
struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1;
  double width = 1;       ///< scale * in, which need not be whole
  int64_t first_tap = 0;  ///< of a window, relative to the element left of the position
  int64_t taps = 1;
  std::uint64_t starts = 0, weights = 0;  ///< scratch: window starts [out], weights [out, taps]
};

struct Resize {
  int rank = 0;
  Dims x, y;
  ResizeAxis axes[kMaxRank];
  bool active[kMaxRank] = {};
  ResizeMode mode = kNearest;
  Coordinate coordinate = kHalfPixel;
  NearestMode nearest = kPreferFloor;
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
  DType dtype = DType::undefined, roi_type = DType::undefined;
  int bits = 0;
  Converted<double> source;
  std::uint64_t buffers[2] = {};

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "resize");
    if (!c.tensors(1, 2, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    bits = dtype_bits(dtype);
    c.dtype_out(0, dtype);
    x = c.dims_in(0);
    y = c.dims_out(0);
    rank = x.rank;
    mode = static_cast<ResizeMode>(c.choice("mode", {"nearest", "linear", "cubic"}));
    coordinate = static_cast<Coordinate>(
        c.choice_or("coordinate",
                    {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                     "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"},
                    kHalfPixel));
    nearest = static_cast<NearestMode>(c.choice_or(
        "nearest", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, kPreferFloor));
    cubic_a = c.real_or("cubic_coeff", -0.75);
    extrapolation = c.real_or("extrapolation", 0);
    exclude_outside = c.integer_or("exclude_outside", 0, 1, 0) != 0;
    antialias = c.integer_or("antialias", 0, 1, 0) != 0 && mode != kNearest;
    c.require(y.rank == rank, "operand has rank %d and result %d", rank, y.rank);
    c.require(mode == kNearest || is_convertible(dtype),
              "operand 0 has type %s, which only mode nearest takes", dtype_name(dtype));
    c.require(coordinate != kTfCrop || bits <= 64, "type %s cannot be extrapolated",
              dtype_name(dtype));
    read_roi(c);
    read_axes(c);
    if (c.ok() && mode != kNearest) plan_buffers(c);
    return c.error();
  }

  void read_roi(Checker& c) {
    if (coordinate != kTfCrop) return;
    c.require(c.in(1).present(), "coordinate tf_crop_and_resize needs operand 1 (roi)");
    if (!c.ok()) return;
    roi_type = c.in(1).dtype;
    c.require(is_wide_float(roi_type), "operand 1 has type %s; expected a float",
              dtype_name(roi_type));
    c.shape_in(1, {2 * static_cast<int64_t>(rank)});
  }

  void read_axes(Checker& c) {
    double scales[kMaxRank] = {};
    if (!c.reals("scales", rank, scales)) return;
    for (int a = 0; a < rank; ++a) {
      ResizeAxis& r = axes[a];
      r.in = x[a];
      r.out = y[a];
      r.scale = scales[a];
      if (!c.require(r.scale > 0 && r.scale < 1e15, "scale of axis %d is %g; expected more than 0",
                     a, r.scale) ||
          !c.require(r.in > 0 || r.out == 0, "axis %d cannot grow from 0 elements to %lld", a,
                     static_cast<long long>(r.out)))
        return;
      r.width = r.scale * static_cast<double>(r.in);
      // A scale of out / in does not give out back exactly; the special cases below compare with 1.
      if (std::fabs(r.width - static_cast<double>(r.out)) < 1e-5 * r.width)
        r.width = static_cast<double>(r.out);
      active[a] = coordinate == kTfCrop || r.in != r.out || std::fabs(r.scale - 1) > 1e-9;
      const double stretch = antialias ? std::min(r.scale, 1.0) : 1;
      const double support = mode == kCubic ? 2 : 1;
      const double first = std::floor(-support / stretch) + 1;
      if (!c.require(2 - 2 * first <= 4 * static_cast<double>(r.in) + 64,
                     "scale %g of axis %d is too small for its %lld elements", r.scale, a,
                     static_cast<long long>(r.in)))
        return;
      r.first_tap = static_cast<int64_t>(first);
      r.taps = mode == kNearest ? 1 : 2 - 2 * r.first_tap;
      if (!c.require(r.out <= (int64_t{1} << 44) / r.taps, "axis %d has too many elements", a))
        return;
      r.starts = c.scratch(static_cast<std::uint64_t>(r.out) * sizeof(int64_t));
      r.weights = c.scratch(static_cast<std::uint64_t>(r.out * r.taps) * sizeof(double));
    }
  }

  /// Two buffers that take turns as result of an axis.
  void plan_buffers(Checker& c) {
    source.plan(c, c.in(0));
    Dims now = x;
    int64_t largest[2] = {0, 0};
    int turn = 0;
    for (int a = 0; a < rank; ++a) {
      if (!active[a]) continue;
      now[a] = y[a];
      int64_t volume = 1;
      for (int i = 0; i < rank; ++i) {
        if (!c.require(std::max<int64_t>(now[i], 1) <= (int64_t{1} << 48) / volume,
                       "an intermediate result would be too large"))
          return;
        volume *= std::max<int64_t>(now[i], 1);
      }
      largest[turn] = std::max(largest[turn], volume);
      turn ^= 1;
    }
    for (int i = 0; i < 2; ++i)
      buffers[i] = c.scratch(static_cast<std::uint64_t>(largest[i]) * sizeof(double));
  }

  /// Position in the operand of result element `o`; NaN where the value is extrapolated.
  double position(const ResizeAxis& r, int64_t o, double roi_start, double roi_end) const {
    const double at = static_cast<double>(o);
    const double last = static_cast<double>(r.in - 1);
    switch (coordinate) {
      case kAlignCorners:
        return r.width == 1 ? 0 : at * last / (r.width - 1);
      case kAsymmetric:
        return at / r.scale;
      case kTfCrop: {
        const double p =
            roi_start * last + (r.width == 1 ? (roi_end - roi_start) * last / 2
                                             : at * (roi_end - roi_start) * last / (r.width - 1));
        return p >= 0 && p <= last ? p : std::nan("");
      }
      case kPytorchHalfPixel:
        return r.width == 1 ? -0.5 : (at + 0.5) / r.scale - 0.5;
      case kTfHalfPixel:
        return (at + 0.5) / r.scale;
      case kHalfPixelSymmetric: {
        const double adjustment = static_cast<double>(r.out) / r.width;
        const double offset = static_cast<double>(r.in) / 2 * (1 - adjustment);
        return offset + (at + 0.5) / r.scale - 0.5;
      }
      default:
        return (at + 0.5) / r.scale - 0.5;
    }
  }

  double kernel(double d) const {
    d = std::fabs(d);
    if (mode == kLinear) return std::max(1 - d, 0.0);
    if (d <= 1) return ((cubic_a + 2) * d - (cubic_a + 3)) * d * d + 1;
    return d < 2 ? ((cubic_a * d - 5 * cubic_a) * d + 8 * cubic_a) * d - 4 * cubic_a : 0;
  }

  int64_t nearest_element(double p) const {
    const double below = std::floor(p);
    const double ratio = p - below;
    bool up = false;
    if (ratio > 0) {
      if (nearest == kPreferFloor) up = ratio > 0.5;
      if (nearest == kPreferCeil) up = ratio >= 0.5;
      if (nearest == kCeil) up = true;
    }
    return static_cast<int64_t>(below) + (up ? 1 : 0);
  }

  /// Fills the window starts and weights of an axis.
  void fill_tables(const ResizeAxis& r, double roi_start, double roi_end, int64_t* starts,
                   double* weights) const {
    const double stretch = antialias ? std::min(r.scale, 1.0) : 1;
    for (int64_t o = 0; o < r.out; ++o, weights += r.taps) {
      double p = position(r, o, roi_start, roi_end);
      if (std::isnan(p)) {
        starts[o] = kOutside;
        continue;
      }
      // Far outside, every tap is an edge element; the clamp keeps the conversion defined.
      p = std::clamp(p, -4.0 * static_cast<double>(r.in) - 128,
                     5.0 * static_cast<double>(r.in) + 128);
      if (mode == kNearest) {
        starts[o] = std::clamp<int64_t>(nearest_element(p), 0, r.in - 1);
        continue;
      }
      // A position on an element counts as the right end of the interval before it.
      const double below = std::ceil(p) - 1;
      const double ratio = p - below;
      starts[o] = static_cast<int64_t>(below) + r.first_tap;
      double sum = 0;
      for (int64_t t = 0; t < r.taps; ++t) {
        const int64_t i = starts[o] + t;
        const bool skip = exclude_outside && (i < 0 || i >= r.in);
        weights[t] = skip ? 0 : kernel((static_cast<double>(r.first_tap + t) - ratio) * stretch);
        sum += weights[t];
      }
      if ((antialias || exclude_outside) && sum != 0)
        for (int64_t t = 0; t < r.taps; ++t) weights[t] /= sum;
    }
  }

  template <class T>
  static T* scratch(const RunArgs& args, std::uint64_t at) {
    return reinterpret_cast<T*>(static_cast<char*>(args.workspace) + at);
  }

  /// Resamples one axis of [outer, in, inner].
  void resample(const RunArgs& args, const ResizeAxis& r, int64_t outer, int64_t inner,
                const double* from, double* to) const {
    const int64_t* starts = scratch<int64_t>(args, r.starts);
    const double* weights = scratch<double>(args, r.weights);
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, inner * r.taps));
    args.parallel(outer * r.out, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t o = row % r.out;
        const double* image = from + row / r.out * r.in * inner;
        double* dst = to + row * inner;
        if (starts[o] == kOutside) {
          std::fill_n(dst, inner, extrapolation);
          continue;
        }
        std::fill_n(dst, inner, 0.0);
        for (int64_t t = 0; t < r.taps; ++t) {
          const double w = weights[o * r.taps + t];
          if (w == 0) continue;
          const double* src = image + std::clamp<int64_t>(starts[o] + t, 0, r.in - 1) * inner;
          for (int64_t i = 0; i < inner; ++i) dst[i] += w * src[i];
        }
      }
    });
  }

  void interpolate(const RunArgs& args) const {
    const double* now = source.load(args, 0);
    Dims dims = x;
    int turn = 0;
    for (int a = 0; a < rank; ++a) {
      if (!active[a]) continue;
      double* to = scratch<double>(args, buffers[turn]);
      resample(args, axes[a], dims.product(0, a), dims.product(a + 1, rank), now, to);
      dims[a] = y[a];
      now = to;
      turn ^= 1;
    }
    args.parallel(y.volume(), 32768, [&](int64_t b, int64_t e, int) {
      write_run<double>(dtype, now + b, e - b, args.out[0], b);
    });
  }

  void pick(const RunArgs& args) const {
    std::uint8_t outside[8] = {};
    if (bits <= 64) store_f64(dtype, outside, 0, extrapolation);
    const int last = rank - 1;
    const int64_t width = y[last];
    const auto body = [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t at = 0;
        int64_t rest = row;
        bool inside = true;
        for (int a = last - 1; a >= 0; --a) {
          const int64_t from = scratch<int64_t>(args, axes[a].starts)[rest % y[a]];
          rest /= y[a];
          inside = inside && from != kOutside;
          at += inside ? from * x.stride(a) : 0;
        }
        const int64_t* columns = scratch<int64_t>(args, axes[last].starts);
        if (!inside) {
          fill_run(bits, outside, 0, args.out[0], row * width, width);
          continue;
        }
        for (int64_t o = 0; o < width; ++o) {
          const bool in = columns[o] != kOutside;
          copy_run(bits, in ? args.in[0] : outside, in ? at + columns[o] : 0, args.out[0],
                   row * width + o, 1);
        }
      }
    };
    const int64_t rows = y.volume() / width;
    if (bits < 8)
      body(0, rows, 0);  // neighbours share bytes
    else
      args.parallel(rows, std::max<int64_t>(1, 16384 / width), body);
  }

  const char* run(const RunArgs& args) const {
    if (y.volume() == 0) return nullptr;
    if (rank == 0) {
      copy_run(bits, args.in[0], 0, args.out[0], 0, 1);
      return nullptr;
    }
    for (int a = 0; a < rank; ++a) {
      double start = 0;
      double end = 1;
      if (coordinate == kTfCrop) {
        start = load_f64(roi_type, args.in[1], a);
        end = load_f64(roi_type, args.in[1], rank + a);
        if (!std::isfinite(start) || !std::isfinite(end))
          return "resize: the roi operand holds a number that is not finite";
      }
      if (active[a]) {
        fill_tables(axes[a], start, end, scratch<int64_t>(args, axes[a].starts),
                    scratch<double>(args, axes[a].weights));
      } else {
        for (int64_t o = 0; o < y[a]; ++o) scratch<int64_t>(args, axes[a].starts)[o] = o;
      }
    }
    if (mode == kNearest)
      pick(args);
    else
      interpolate(args);
    return nullptr;
  }
};

}  // namespace

const Kernel resize_kernel = make_kernel<Resize>("ref.resize");

}  // namespace frit::kernels::ref
