// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/common/pointwise_math.h"
#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/tile.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;
using std::uint64_t;

/// Running sums or products along one axis. Floats accumulate in f64.
struct Scan {
  bool product = false;
  DType dtype = DType::undefined;
  Dims dims;
  int axis = 0;
  bool exclusive = false;
  bool reverse = false;
  IndexVector operand;  ///< the axis, if it is not known before running

  const char* prepare(Checker& c) {
    if (!c.tensors(1, 2, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    dims = c.dims_in(0);
    c.require(compute_of(dtype) != Compute::none && dtype != DType::boolean && bits(dtype) >= 8,
              "operand 0 has type %s; expected a number of 8 bits or more", dtype_name(dtype));
    c.dtype_out(0, dtype);
    c.shape_out(0, dims);
    c.require(dims.rank > 0, "operand 0 is a scalar; expected an axis to run along");
    exclusive = c.integer_or("exclusive", 0, 1, 0) != 0;
    reverse = c.integer_or("reverse", 0, 1, 0) != 0;
    c.require(c.in(1).present() != c.has("axis"),
              "expected either attribute 'axis' or operand 1 (axis)");
    if (!c.ok()) return c.error();
    if (!c.in(1).present()) {
      axis = static_cast<int>(c.integer("axis", 0, dims.rank - 1));
      return c.error();
    }
    const DType t = c.in(1).dtype;
    c.require((t == DType::i32 || t == DType::i64) && c.dims_in(1).volume() == 1,
              "operand 1 (axis) must be one i32 or i64");
    operand = {t, 1};
    return c.error();
  }

  /// Up to kTile lines that lie side by side, `inner` elements from one row to the next.
  template <class T>
  void line(const RunArgs& args, int64_t base, int64_t n, int64_t inner, int64_t width) const {
    alignas(64) T acc[kTile];
    alignas(64) T tile[kTile];
    alignas(64) T shown[kTile];
    std::fill_n(acc, width, static_cast<T>(product ? 1 : 0));
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = base + (reverse ? n - 1 - k : k) * inner;
      load_run(dtype, args.in[0], at, width, tile);
      if (exclusive) std::copy_n(acc, width, shown);
      for (int64_t i = 0; i < width; ++i)
        acc[i] = product ? pw_mul(acc[i], tile[i]) : pw_add(acc[i], tile[i]);
      store_run(dtype, exclusive ? shown : acc, args.out[0], at, width);
    }
  }

  /// A line whose elements are neighbours.
  template <class T>
  void row(const RunArgs& args, int64_t base, int64_t n) const {
    alignas(64) T tile[kTile];
    T acc = static_cast<T>(product ? 1 : 0);
    for (int64_t done = 0; done < n; done += kTile) {
      const int64_t count = std::min(kTile, n - done);
      const int64_t at = base + (reverse ? n - done - count : done);
      load_run(dtype, args.in[0], at, count, tile);
      for (int64_t j = 0; j < count; ++j) {
        T& v = tile[reverse ? count - 1 - j : j];
        const T before = acc;
        acc = product ? pw_mul(acc, v) : pw_add(acc, v);
        v = exclusive ? before : acc;
      }
      store_run(dtype, tile, args.out[0], at, count);
    }
  }

  template <class T>
  void scan(const RunArgs& args, int64_t base, int64_t n, int64_t inner, int64_t width) const {
    if (inner == 1)
      row<T>(args, base, n);
    else
      line<T>(args, base, n, inner, width);
  }

  const char* run(const RunArgs& args) const {
    int along = axis;
    if (operand.present()) {
      int64_t a = operand.at(args.in[1], 0);
      if (a < 0) a += dims.rank;
      if (a < 0 || a >= dims.rank)
        return "the axis operand of a scan lies outside the tensor; check the axis the model "
               "computes";
      along = static_cast<int>(a);
    }
    if (dims.volume() == 0) return nullptr;
    const int64_t inner = dims.stride(along);
    const int64_t n = dims[along];
    const int64_t chunks = (inner + kTile - 1) / kTile;
    const Compute compute = is_real(dtype) ? Compute::f64 : compute_of(dtype);
    args.parallel(dims.product(0, along) * chunks, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t u = begin; u < end; ++u) {
        const int64_t at = u % chunks * kTile;
        const int64_t base = u / chunks * n * inner + at;
        const int64_t width = std::min(kTile, inner - at);
        if (compute == Compute::f64)
          scan<double>(args, base, n, inner, width);
        else if (compute == Compute::i64)
          scan<int64_t>(args, base, n, inner, width);
        else
          scan<uint64_t>(args, base, n, inner, width);
      }
    });
    return nullptr;
  }
};

struct CumSum : Scan {
  const char* prepare(PrepareArgs& args) {
    Checker c(args, "cumsum");
    return Scan::prepare(c);
  }
};

struct CumProd : Scan {
  const char* prepare(PrepareArgs& args) {
    product = true;
    Checker c(args, "cumprod");
    return Scan::prepare(c);
  }
};

}  // namespace

const Kernel cumsum_kernel = make_kernel<CumSum>("ref.cumsum");
const Kernel cumprod_kernel = make_kernel<CumProd>("ref.cumprod");

}  // namespace frit::kernels::ref
