// SPDX-License-Identifier: Apache-2.0
// Ops whose results follow from dims, positions or a few scalars.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/strided_copy.h"
#include "kernels/cpu/ref/tile.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;
using std::uint64_t;

/// Farthest diagonal that is told apart; dims are below it.
constexpr int64_t kFar = int64_t{1} << 50;

struct Shape {
  Dims dims;
  int64_t start = 0, end = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "shape");
    if (!c.tensors(1, 1, 1, 1)) return c.error();
    dims = c.dims_in(0);
    start = c.integer_or("start", 0, dims.rank, 0);
    end = c.integer_or("end", start, dims.rank, dims.rank);
    c.dtype_out(0, DType::i64);
    Dims result;
    result.rank = 1;
    result[0] = end - start;
    c.shape_out(0, result);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    if (end > start)
      std::memcpy(args.out[0], dims.d + start, static_cast<std::size_t>(end - start) * 8);
    return nullptr;
  }
};

/// start, start + delta, … before limit; the length must be the one planned.
struct Range {
  DType dtype = DType::undefined;
  int64_t count = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "range");
    if (!c.tensors(3, 3, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    c.require(compute_of(dtype) != Compute::none && dtype != DType::boolean && bits(dtype) >= 8,
              "operand 0 has type %s; expected a number of 8 bits or more", dtype_name(dtype));
    for (int i = 0; i < 3; ++i) {
      c.dtype_in(i, dtype);
      c.require(c.dims_in(i).volume() == 1, "operand %d has %lld elements; expected one", i,
                static_cast<long long>(c.dims_in(i).volume()));
    }
    c.dtype_out(0, dtype);
    c.require(c.dims_out(0).rank == 1, "the result has rank %d; expected a vector",
              c.dims_out(0).rank);
    count = c.dims_out(0).volume();
    return c.error();
  }

  /// ceil((limit - start) / delta), at least 0; -1 if there is no such number.
  static int64_t count_reals(DType t, double start, double limit, double delta) {
    double span = limit - start;
    if (t == DType::f32) span = static_cast<float>(span);
    const double n = std::ceil(span / delta);
    if (delta == 0 || !std::isfinite(n)) return -1;
    return n <= 0 ? 0 : to_i64(n);
  }

  /// The same for integers, given |limit - start| and |delta| as unsigned numbers.
  template <class T>
  static int64_t count_integers(T start, T limit, T delta) {
    if (delta == 0) return -1;
    const bool up = delta > 0;
    if (up ? limit <= start : limit >= start) return 0;
    const auto s = static_cast<uint64_t>(start);
    const auto l = static_cast<uint64_t>(limit);
    const uint64_t span = up ? l - s : s - l;
    const uint64_t step = up ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
    const uint64_t n = span / step + (span % step != 0 ? 1 : 0);
    return n > static_cast<uint64_t>(kFar) ? kFar : static_cast<int64_t>(n);
  }

  const char* run(const RunArgs& args) const {
    int64_t n = 0;
    if (is_real(dtype)) {
      n = count_reals(dtype, load_f64(dtype, args.in[0], 0), load_f64(dtype, args.in[1], 0),
                      load_f64(dtype, args.in[2], 0));
    } else {
      const int64_t v[3] = {load_i64(dtype, args.in[0], 0), load_i64(dtype, args.in[1], 0),
                            load_i64(dtype, args.in[2], 0)};
      n = is_signed_integer(dtype)
              ? count_integers(v[0], v[1], v[2])
              : count_integers(static_cast<uint64_t>(v[0]), static_cast<uint64_t>(v[1]),
                               static_cast<uint64_t>(v[2]));
    }
    if (n < 0) return "range: delta is 0 or not a number; check what the model computes for it";
    if (n != count)
      return "range: start, limit and delta give another length than this engine was built for; "
             "rebuild it for them";
    const double first = load_f64(dtype, args.in[0], 0);
    const double step = load_f64(dtype, args.in[2], 0);
    const auto from = static_cast<uint64_t>(load_i64(dtype, args.in[0], 0));
    const auto by = static_cast<uint64_t>(load_i64(dtype, args.in[2], 0));
    for (int64_t i = 0; i < count; ++i) {
      if (is_real(dtype))
        store_f64(dtype, args.out[0], i, first + static_cast<double>(i) * step);
      else
        store_bits(dtype, args.out[0], i, from + by * static_cast<uint64_t>(i));
    }
    return nullptr;
  }
};

/// Ones on diagonal k (above the main one for k > 0), zeros elsewhere.
struct EyeLike {
  DType to = DType::undefined;
  int64_t rows = 0, cols = 0, k = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "eye_like");
    if (!c.tensors(1, 1, 1, 1)) return c.error();
    const Dims d = c.dims_in(0);
    to = c.out(0).dtype;
    c.require(d.rank == 2, "operand 0 has rank %d; expected a matrix", d.rank);
    c.require(compute_of(to) != Compute::none, "the result has type %s; expected a number or bool",
              dtype_name(to));
    c.shape_out(0, d);
    const int64_t code = c.integer_or("to", 0, kDTypeCount - 1, static_cast<int64_t>(to));
    c.require(code == static_cast<int64_t>(to), "attribute 'to' is %lld; the result has type %s",
              static_cast<long long>(code), dtype_name(to));
    k = std::clamp(c.integer_or("k", INT64_MIN, INT64_MAX, 0), -kFar, kFar);
    rows = d[0];
    cols = d[1];
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    if (rows * cols == 0) return nullptr;
    std::memset(args.out[0], 0, storage_bytes(to, rows * cols));
    // f8e8m0 has no zero; its least value stands for it.
    for (int64_t r = std::max<int64_t>(0, -k); r < rows && r + k < cols; ++r)
      store_i64(to, args.out[0], r * cols + r + k, 1);
    return nullptr;
  }
};

/// Keeps one triangle of the innermost matrices and zeroes the rest.
struct Trilu {
  int width = 0;
  int64_t matrices = 0, rows = 0, cols = 0, k = 0;
  bool upper = true;
  IndexVector operand;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "trilu");
    if (!c.tensors(1, 2, 1, 1)) return c.error();
    const Dims d = c.dims_in(0);
    c.require(d.rank >= 2, "operand 0 has rank %d; expected 2 or more", d.rank);
    c.dtype_out(0, c.in(0).dtype);
    c.shape_out(0, d);
    upper = c.integer("upper", 0, 1) != 0;
    k = std::clamp(c.integer_or("k", INT64_MIN, INT64_MAX, 0), -kFar, kFar);
    if (c.in(1).present()) {
      const DType t = c.in(1).dtype;
      c.require((t == DType::i32 || t == DType::i64) && c.dims_in(1).volume() == 1,
                "operand 1 (k) must be one i32 or i64");
      operand = {t, 1};
    }
    if (!c.ok()) return c.error();
    width = bits(c.in(0).dtype);
    matrices = d.product(0, d.rank - 2);
    rows = d[d.rank - 2];
    cols = d[d.rank - 1];
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    static constexpr char kZero[16] = {};
    const int64_t diagonal =
        operand.present() ? std::clamp(operand.at(args.in[1], 0), -kFar, kFar) : k;
    const auto body = [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) {
        // The upper triangle begins at `split`, the lower one ends before it.
        const int64_t split = std::clamp<int64_t>(r % rows + diagonal + (upper ? 0 : 1), 0, cols);
        const int64_t first = upper ? split : 0;
        const int64_t kept = upper ? cols - split : split;
        fill_run(width, kZero, 0, args.out[0], r * cols + (upper ? 0 : split), cols - kept);
        if (args.in[0] != args.out[0])
          copy_run(width, args.in[0], r * cols + first, args.out[0], r * cols + first, kept);
      }
    };
    if (matrices * rows * cols == 0) return nullptr;
    if (width < 8)
      body(0, matrices * rows, 0);  // neighbours share bytes
    else
      args.parallel(matrices * rows, std::max<int64_t>(1, 16384 / cols), body);
    return nullptr;
  }
};

}  // namespace

const Kernel shape_kernel = make_kernel<Shape>("ref.shape");
const Kernel range_kernel = make_kernel<Range>("ref.range");
const Kernel eye_like_kernel = make_kernel<EyeLike>("ref.eye_like");
const Kernel trilu_kernel = make_kernel<Trilu>("ref.trilu");

}  // namespace frit::kernels::ref
