// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/tile.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

bool is_quantized(DType t) {
  return bits(t) != 0 && ((is_integer(t) && bits(t) <= 32) || (is_real(t) && bits(t) <= 8));
}

/// Where the scale and zero point of each element lie: one for all, one per slice of an axis, or
/// one per block along an axis.
struct Parameters {
  DType scale = DType::undefined;
  DType zero = DType::undefined;
  int64_t n = 1;       ///< elements on the axis
  int64_t inner = 1;   ///< elements below it
  int64_t block = 1;   ///< elements on the axis that share parameters
  int64_t blocks = 1;  ///< parameters along the axis
  bool per_inner = false;
  bool single = true;

  /// Reads operands 1 and 2, the latter of type `zero_type`.
  void plan(Checker& c, DType zero_type) {
    const Dims d = c.dims_in(0);
    const Dims s = c.dims_in(1);
    scale = c.in(1).dtype;
    zero = c.in(2).dtype;
    c.require(is_real(scale), "operand 1 (scale) has type %s; expected a float", dtype_name(scale));
    if (c.in(2).present()) {
      c.dtype_in(2, zero_type);
      c.require(c.dims_in(2).volume() == s.volume(),
                "operand 2 (zero point) has %lld elements and the scale %lld",
                static_cast<long long>(c.dims_in(2).volume()), static_cast<long long>(s.volume()));
    }
    const int64_t size = c.integer_or("block", 0, int64_t{1} << 40, 0);
    single = size == 0 && (s.rank == 0 || (s.rank == 1 && s[0] == 1));
    if (single || !c.ok()) return;
    c.require(d.rank > 0, "operand 0 is a scalar; expected a scalar scale");
    const int axis = static_cast<int>(c.integer("axis", 0, std::max(d.rank - 1, 0)));
    if (!c.ok()) return;
    n = d[axis];
    inner = d.stride(axis);
    Dims expected;
    if (size == 0) {
      expected.rank = 1;
      expected[0] = n;
      blocks = n;
    } else {
      per_inner = true;
      block = size;
      blocks = n / size + (n % size != 0 ? 1 : 0);
      expected = d;
      expected[axis] = blocks;
    }
    c.require(s == expected,
              "operand 1 (scale) has rank %d and %lld elements; axis %d of operand 0 needs rank %d "
              "and %lld elements",
              s.rank, static_cast<long long>(s.volume()), axis, expected.rank,
              static_cast<long long>(expected.volume()));
  }

  /// Scales and zero points (0 where absent) of elements [begin, begin + count).
  void read(const RunArgs& args, int64_t begin, int64_t count, double* scales,
            double* zeros) const {
    int64_t below = begin % inner;
    int64_t along = begin / inner % n;
    int64_t outer = begin / inner / n;
    int64_t last = -1;
    for (int64_t i = 0; i < count; ++i) {
      int64_t index = along / block;
      if (per_inner) index = (outer * blocks + index) * inner + below;
      if (index == last) {
        scales[i] = scales[i - 1];
        zeros[i] = zeros[i - 1];
      } else {
        scales[i] = load_f64(scale, args.in[1], index);
        zeros[i] = zero == DType::undefined ? 0 : load_f64(zero, args.in[2], index);
        last = index;
      }
      if (++below < inner) continue;
      below = 0;
      if (++along < n) continue;
      along = 0;
      ++outer;
    }
  }

  /// Calls f(begin, count, scales, zeros) for all tiles of `total` elements.
  template <class F>
  void for_tiles(const RunArgs& args, int64_t total, F&& f) const {
    args.parallel((total + kTile - 1) / kTile, 16, [&](int64_t first, int64_t end, int) {
      alignas(64) double scales[kTile];
      alignas(64) double zeros[kTile];
      if (single) {
        std::fill_n(scales, kTile, load_f64(scale, args.in[1], 0));
        std::fill_n(zeros, kTile, zero == DType::undefined ? 0 : load_f64(zero, args.in[2], 0));
      }
      for (int64_t t = first; t < end; ++t) {
        const int64_t begin = t * kTile;
        const int64_t count = std::min(kTile, total - begin);
        if (!single) read(args, begin, count, scales, zeros);
        f(begin, count, scales, zeros);
      }
    });
  }
};

/// y = saturate(round(x / scale) + zero); small floats are rounded by their own format instead.
struct Quantize {
  DType from = DType::undefined;
  DType to = DType::undefined;
  Overflow overflow = Overflow::saturate;
  double low = 0, high = 0;
  int64_t count = 0;
  Parameters parameters;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "quantize");
    if (!c.tensors(2, 3, 1, 1)) return c.error();
    from = c.in(0).dtype;
    to = c.out(0).dtype;
    c.require(is_real(from) || from == DType::i32, "operand 0 has type %s; expected a float or i32",
              dtype_name(from));
    c.require(is_quantized(to), "the result has type %s; expected an integer or a small float",
              dtype_name(to));
    const int64_t code = c.integer_or("to", 0, kDTypeCount - 1, static_cast<int64_t>(to));
    c.require(code == static_cast<int64_t>(to), "attribute 'to' is %lld; the result has type %s",
              static_cast<long long>(code), dtype_name(to));
    if (c.integer_or("saturate", 0, 1, 1) == 0) overflow = Overflow::natural;
    c.shape_out(0, c.dims_in(0));
    parameters.plan(c, to);
    if (!c.ok()) return c.error();
    count = c.dims_in(0).volume();
    const bool is_signed = is_signed_integer(to);
    low = is_signed ? -std::ldexp(1.0, bits(to) - 1) : 0;
    high = std::ldexp(1.0, is_signed ? bits(to) - 1 : bits(to)) - 1;
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    // Quotients are those of the operand's type: f32 unless it is f64 or an integer.
    const bool single_precision = compute_of(from) == Compute::f32;
    parameters.for_tiles(
        args, count, [&](int64_t begin, int64_t n, const double* scales, const double* zeros) {
          alignas(64) double tile[kTile];
          load_run(from, args.in[0], begin, n, tile);
          if (single_precision)
            for (int64_t i = 0; i < n; ++i)
              tile[i] =
                  static_cast<double>(static_cast<float>(tile[i]) / static_cast<float>(scales[i]));
          else
            for (int64_t i = 0; i < n; ++i) tile[i] /= scales[i];
          if (is_integer(to))
            for (int64_t i = 0; i < n; ++i)
              tile[i] = std::clamp(std::nearbyint(tile[i]) + zeros[i], low, high);
          else
            for (int64_t i = 0; i < n; ++i) tile[i] += zeros[i];
          store_run(to, tile, args.out[0], begin, n, overflow);
        });
    return nullptr;
  }
};

/// y = (x - zero) * scale, computed in f32 (f64 for a result of that type).
struct Dequantize {
  DType from = DType::undefined;
  DType to = DType::undefined;
  int64_t count = 0;
  Parameters parameters;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "dequantize");
    if (!c.tensors(2, 3, 1, 1)) return c.error();
    from = c.in(0).dtype;
    to = c.out(0).dtype;
    c.require(is_quantized(from), "operand 0 has type %s; expected an integer or a small float",
              dtype_name(from));
    c.require(is_real(to), "the result has type %s; expected a float", dtype_name(to));
    c.shape_out(0, c.dims_in(0));
    parameters.plan(c, from);
    count = c.dims_in(0).volume();
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    parameters.for_tiles(
        args, count, [&](int64_t begin, int64_t n, const double* scales, const double* zeros) {
          alignas(64) double tile[kTile];
          load_run(from, args.in[0], begin, n, tile);
          if (to == DType::f64)
            for (int64_t i = 0; i < n; ++i) tile[i] = (tile[i] - zeros[i]) * scales[i];
          else
            for (int64_t i = 0; i < n; ++i)
              tile[i] = static_cast<double>(static_cast<float>(tile[i] - zeros[i]) *
                                            static_cast<float>(scales[i]));
          store_run(to, tile, args.out[0], begin, n);
        });
    return nullptr;
  }
};

/// Quantizes to u8 with a scale and zero point taken from the range of x, which is made to hold 0.
struct DynamicQuantize {
  int64_t count = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "dynamic_quantize");
    if (!c.tensors(1, 1, 3, 3)) return c.error();
    c.dtype_in(0, DType::f32);
    c.dtype_out(0, DType::u8);
    c.dtype_out(1, DType::f32);
    c.dtype_out(2, DType::u8);
    c.shape_out(0, c.dims_in(0));
    c.shape_out(1, {});
    c.shape_out(2, {});
    count = c.dims_in(0).volume();
    return c.error();
  }

  static std::uint8_t limit(float v) {
    // The comparison sends NaN to 0.
    return v > 0 ? static_cast<std::uint8_t>(std::min(v, 255.0f)) : std::uint8_t{0};
  }

  const char* run(const RunArgs& args) const {
    const auto* x = static_cast<const float*>(args.in[0]);
    float low = 0;
    float high = 0;
    for (int64_t i = 0; i < count; ++i) {
      low = x[i] < low ? x[i] : low;
      high = x[i] > high ? x[i] : high;
    }
    const float scale = high == low ? 1.0f : (high - low) / 255.0f;
    const float zero = static_cast<float>(limit(std::nearbyint(-low / scale)));
    auto* y = static_cast<std::uint8_t*>(args.out[0]);
    args.parallel(count, 16384, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) y[i] = limit(std::nearbyint(x[i] / scale) + zero);
    });
    store_f32(DType::f32, args.out[1], 0, scale);
    store_i64(DType::u8, args.out[2], 0, static_cast<int64_t>(zero));
    return nullptr;
  }
};

}  // namespace

const Kernel quantize_kernel = make_kernel<Quantize>("ref.quantize");
const Kernel dequantize_kernel = make_kernel<Dequantize>("ref.dequantize");
const Kernel dynamic_quantize_kernel = make_kernel<DynamicQuantize>("ref.dynamic_quantize");

}  // namespace frit::kernels::ref
