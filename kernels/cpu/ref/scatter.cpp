// SPDX-License-Identifier: Apache-2.0
// Writing by index: scatter_elements, scatter_nd.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/scalar.h"
#include "kernels/cpu/ref/indices.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/strided_copy.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

enum Reduction { kNone, kAdd, kMul, kMin, kMax };

/// Folds updates into elements of y. Updates run in order on one thread, since several may meet in
/// one element.
struct Fold {
  DType dtype = DType::undefined;
  int bits = 0;
  Reduction reduction = kNone;

  void read(Checker& c) {
    dtype = c.in(0).dtype;
    bits = dtype_bits(dtype);
    reduction = static_cast<Reduction>(
        c.choice_or("reduction", {"none", "add", "mul", "min", "max"}, kNone));
    c.dtype_in(2, dtype);
    c.dtype_out(0, dtype);
    c.shape_out(0, c.dims_in(0));
    c.require(reduction == kNone || is_float(dtype) || is_integer(dtype) || dtype == DType::boolean,
              "type %s cannot be reduced", dtype_name(dtype));
  }

  /// Starts y as a copy of x.
  void start(const RunArgs& args, int64_t count) const {
    const auto bytes = static_cast<std::size_t>(storage_bytes(dtype, count));
    if (bytes > 0 && args.in[0] != args.out[0]) std::memcpy(args.out[0], args.in[0], bytes);
  }

  void apply(const RunArgs& args, int64_t from, int64_t to, int64_t count) const {
    if (reduction == kNone) return copy_run(bits, args.in[2], from, args.out[0], to, count);
    for (int64_t i = 0; i < count; ++i) {
      if (is_float(dtype))
        reduce_float(args, from + i, to + i);
      else
        reduce_integer(args, from + i, to + i);
    }
  }

  void reduce_float(const RunArgs& args, int64_t from, int64_t to) const {
    const double a = load_f64(dtype, args.out[0], to);
    const double b = load_f64(dtype, args.in[2], from);
    double r = 0;
    switch (reduction) {
      case kAdd:
        r = a + b;
        break;
      case kMul:
        r = a * b;
        break;
      case kMin:
        r = std::isnan(a) || a < b ? a : b;
        break;
      default:
        r = std::isnan(a) || a > b ? a : b;
        break;
    }
    store_f64(dtype, args.out[0], to, r);
  }

  void reduce_integer(const RunArgs& args, int64_t from, int64_t to) const {
    const int64_t a = load_i64(dtype, args.out[0], to);
    const int64_t b = load_i64(dtype, args.in[2], from);
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    const bool less = dtype == DType::u64 ? ua < ub : a < b;
    std::uint64_t r = 0;
    switch (reduction) {
      case kAdd:
        r = ua + ub;
        break;
      case kMul:
        r = ua * ub;
        break;
      case kMin:
        r = less ? ua : ub;
        break;
      default:
        r = less ? ub : ua;
        break;
    }
    store_i64(dtype, args.out[0], to, static_cast<int64_t>(r));
  }
};

struct ScatterElements {
  Fold fold;
  Dims x, updates;
  int axis = 0;
  DType indices = DType::undefined;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "scatter_elements");
    if (!c.tensors(3, 3, 1, 1)) return c.error();
    fold.read(c);
    indices = check_indices(c, 1);
    x = c.dims_in(0);
    updates = c.dims_in(1);
    c.require(updates == c.dims_in(2), "operands 1 and 2 have different dims");
    if (!c.require(x.rank >= 1 && x.rank == updates.rank,
                   "operands have ranks %d and %d; expected one rank", x.rank, updates.rank))
      return c.error();
    axis = static_cast<int>(c.integer("axis", 0, x.rank - 1));
    check_inside(c, x, updates, axis, 1);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    fold.start(args, x.volume());
    for (int64_t i = 0; i < updates.volume(); ++i) {
      const int64_t at = normalized(index_at(indices, args.in[1], i), x[axis]);
      if (at < 0)
        return "scatter_elements: an index lies outside the axis; check the indices operand";
      fold.apply(args, i, element_offset(x, updates, axis, i, at), 1);
    }
    return nullptr;
  }
};

struct ScatterNd {
  Fold fold;
  IndexTuples tuples;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "scatter_nd");
    if (!c.tensors(3, 3, 1, 1)) return c.error();
    fold.read(c);
    Dims slices;
    if (tuples.read(c, c.dims_in(0), 1, 0, &slices))
      c.require(slices == c.dims_in(2), "operand 2 (updates) does not have the dims of the slices");
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    fold.start(args, tuples.x.volume());
    for (int64_t t = 0; t < tuples.count; ++t) {
      const int64_t at = tuples.offset(args.in[1], t);
      if (at < 0) return "scatter_nd: an index lies outside its axis; check the indices operand";
      fold.apply(args, t * tuples.inner, at, tuples.inner);
    }
    return nullptr;
  }
};

}  // namespace

const Kernel scatter_elements_kernel = make_kernel<ScatterElements>("ref.scatter_elements");
const Kernel scatter_nd_kernel = make_kernel<ScatterNd>("ref.scatter_nd");

}  // namespace frit::kernels::ref
