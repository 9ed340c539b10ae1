// SPDX-License-Identifier: Apache-2.0
// Reading by index: gather, gather_elements, gather_nd, one_hot.
#include <algorithm>

#include "kernels/common/scalar.h"
#include "kernels/cpu/ref/indices.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/strided_copy.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// Runs body(begin, end) over [0, n), on one thread where elements share bytes; the error that any
/// part answers.
template <class Body>
const char* split(const RunArgs& args, int bits, int64_t n, int64_t grain, Body&& body) {
  FirstError error;
  const auto part = [&](int64_t b, int64_t e, int) { error.set(body(b, e)); };
  if (bits < 8)
    part(0, n, 0);
  else
    args.parallel(n, std::max<int64_t>(1, grain), part);
  return error.get();
}

struct Gather {
  int64_t outer = 1, dim = 1, inner = 1, count = 1;
  DType indices = DType::undefined;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "gather");
    if (!c.tensors(2, 2, 1, 1)) return c.error();
    c.dtype_out(0, c.in(0).dtype);
    indices = check_indices(c, 1);
    bits = dtype_bits(c.in(0).dtype);
    const Dims x = c.dims_in(0);
    const Dims at = c.dims_in(1);
    if (!c.require(x.rank >= 1, "operand 0 is a scalar; there is no axis to gather along"))
      return c.error();
    const int axis = static_cast<int>(c.integer("axis", 0, x.rank - 1));
    if (!c.require(x.rank - 1 + at.rank <= kMaxRank,
                   "the result would have rank %d; the limit is %d", x.rank - 1 + at.rank,
                   kMaxRank))
      return c.error();
    Dims want;
    for (int a = 0; a < axis; ++a) want[want.rank++] = x[a];
    for (int a = 0; a < at.rank; ++a) want[want.rank++] = at[a];
    for (int a = axis + 1; a < x.rank; ++a) want[want.rank++] = x[a];
    c.shape_out(0, want);
    outer = x.product(0, axis);
    dim = x[axis];
    inner = x.product(axis + 1, x.rank);
    count = at.volume();
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    // Every index is checked, also where nothing is copied for it.
    for (int64_t i = 0; i < count; ++i)
      if (normalized(index_at(indices, args.in[1], i), dim) < 0)
        return "gather: an index lies outside the axis; check the indices operand";
    return split(args, bits, outer * count, 4096 / std::max<int64_t>(inner, 1),
                 [&](int64_t begin, int64_t end) -> const char* {
                   for (int64_t r = begin; r < end; ++r) {
                     const int64_t at = normalized(index_at(indices, args.in[1], r % count), dim);
                     copy_run(bits, args.in[0], (r / count * dim + at) * inner, args.out[0],
                              r * inner, inner);
                   }
                   return nullptr;
                 });
  }
};

struct GatherElements {
  Dims x, y;
  int axis = 0;
  DType indices = DType::undefined;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "gather_elements");
    if (!c.tensors(2, 2, 1, 1)) return c.error();
    c.dtype_out(0, c.in(0).dtype);
    indices = check_indices(c, 1);
    bits = dtype_bits(c.in(0).dtype);
    x = c.dims_in(0);
    y = c.dims_in(1);
    c.shape_out(0, y);
    if (!c.require(x.rank >= 1 && x.rank == y.rank,
                   "operands have ranks %d and %d; expected one rank", x.rank, y.rank))
      return c.error();
    axis = static_cast<int>(c.integer("axis", 0, x.rank - 1));
    check_inside(c, x, y, axis, 1);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    return split(args, bits, y.volume(), 8192, [&](int64_t begin, int64_t end) -> const char* {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = normalized(index_at(indices, args.in[1], i), x[axis]);
        if (at < 0)
          return "gather_elements: an index lies outside the axis; check the indices operand";
        copy_run(bits, args.in[0], element_offset(x, y, axis, i, at), args.out[0], i, 1);
      }
      return nullptr;
    });
  }
};

struct GatherNd {
  IndexTuples tuples;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "gather_nd");
    if (!c.tensors(2, 2, 1, 1)) return c.error();
    c.dtype_out(0, c.in(0).dtype);
    bits = dtype_bits(c.in(0).dtype);
    const int batch = static_cast<int>(c.integer_or("batch_dims", 0, kMaxRank, 0));
    Dims want;
    if (tuples.read(c, c.dims_in(0), 1, batch, &want)) c.shape_out(0, want);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    return split(
        args, bits, tuples.count, 4096 / std::max<int64_t>(tuples.inner, 1),
        [&](int64_t begin, int64_t end) -> const char* {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t at = tuples.offset(args.in[1], i);
            if (at < 0)
              return "gather_nd: an index lies outside its axis; check the indices operand";
            copy_run(bits, args.in[0], at, args.out[0], i * tuples.inner, tuples.inner);
          }
          return nullptr;
        });
  }
};

struct OneHot {
  int64_t outer = 1, depth = 1, inner = 1;
  DType indices = DType::undefined, depth_type = DType::undefined;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "one_hot");
    if (!c.tensors(3, 3, 1, 1)) return c.error();
    c.dtype_out(0, c.in(2).dtype);
    c.shape_in(2, {2});
    c.require(c.dims_in(1).volume() == 1, "operand 1 (depth) has %lld elements; expected one",
              static_cast<long long>(c.dims_in(1).volume()));
    indices = c.in(0).dtype;
    depth_type = c.in(1).dtype;
    bits = dtype_bits(c.in(2).dtype);
    for (const int i : {0, 1}) {
      const DType t = c.in(i).dtype;
      c.require(is_float(t) || is_integer(t), "operand %d has type %s; expected a number", i,
                dtype_name(t));
    }
    const Dims at = c.dims_in(0);
    const Dims y = c.dims_out(0);
    const int axis = static_cast<int>(c.integer("axis", 0, at.rank));
    if (!c.require(at.rank < kMaxRank && y.rank == at.rank + 1, "result has rank %d; expected %d",
                   y.rank, at.rank + 1))
      return c.error();
    Dims want = at;
    want.rank = at.rank + 1;
    for (int a = at.rank; a > axis; --a) want[a] = at[a - 1];
    want[axis] = y[axis];
    c.shape_out(0, want);
    outer = at.product(0, axis);
    depth = y[axis];
    inner = at.product(axis, at.rank);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    if (load_i64(depth_type, args.in[1], 0) != depth)
      return "one_hot: the depth operand differs from what this engine was built for; rebuild it "
             "for "
             "this depth";
    const int64_t rows = outer * depth;
    return split(args, bits, rows, 8192 / std::max<int64_t>(inner, 1),
                 [&](int64_t begin, int64_t end) -> const char* {
                   for (int64_t r = begin; r < end; ++r)
                     for (int64_t i = 0; i < inner; ++i) {
                       // An index outside [-depth, depth) marks nothing.
                       const int64_t at =
                           normalized(load_i64(indices, args.in[0], r / depth * inner + i), depth);
                       copy_run(bits, args.in[2], at == r % depth ? 1 : 0, args.out[0],
                                r * inner + i, 1);
                     }
                   return nullptr;
                 });
  }
};

}  // namespace

const Kernel gather_kernel = make_kernel<Gather>("ref.gather");
const Kernel gather_elements_kernel = make_kernel<GatherElements>("ref.gather_elements");
const Kernel gather_nd_kernel = make_kernel<GatherNd>("ref.gather_nd");
const Kernel one_hot_kernel = make_kernel<OneHot>("ref.one_hot");

}  // namespace frit::kernels::ref
