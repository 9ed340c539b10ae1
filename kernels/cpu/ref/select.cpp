// SPDX-License-Identifier: Apache-2.0
// Ops that order the elements along one axis. NaN counts as larger than every number, except that
// arg_reduce finds a NaN for min, too.
#include <algorithm>

#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/tile.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;
using std::uint64_t;

bool is_ordered_type(DType t) {
  return compute_of(t) != Compute::none && bits(t) >= 8;
}

/// a > b, with NaN above all numbers.
template <class T>
bool above(T a, T b) {
  return a > b || (a != a && b == b);
}

struct ArgReduce {
  DType dtype = DType::undefined;
  int64_t outer = 0, n = 0, inner = 0;
  bool largest = true;
  bool last = false;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "arg_reduce");
    if (!c.tensors(1, 1, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    c.require(is_ordered_type(dtype), "operand 0 has type %s; expected a number of 8 bits or more",
              dtype_name(dtype));
    c.dtype_out(0, DType::i64);
    const Dims d = c.dims_in(0);
    c.require(d.rank > 0, "operand 0 is a scalar; expected an axis to search");
    largest = c.choice("kind", {"max", "min"}) == 0;
    last = c.integer("select_last", 0, 1) != 0;
    const bool keep = c.integer("keepdims", 0, 1) != 0;
    const int axis = static_cast<int>(c.integer("axis", 0, std::max(d.rank - 1, 0)));
    if (!c.ok()) return c.error();
    Dims result;
    for (int a = 0; a < d.rank; ++a)
      if (a != axis || keep) result[result.rank++] = a == axis ? 1 : d[a];
    c.shape_out(0, result);
    outer = d.product(0, axis);
    n = d[axis];
    inner = d.stride(axis);
    c.require(n > 0 || outer * inner == 0, "axis %d is empty; expected elements to choose from",
              axis);
    return c.error();
  }

  template <class T>
  bool better(T candidate, T best) const {
    if (candidate != candidate || best != best)
      return candidate != candidate && (best == best || last);
    if (candidate == best) return last;
    return largest ? candidate > best : candidate < best;
  }

  template <class T>
  void search(const RunArgs& args, int64_t base, int64_t width, int64_t* where) const {
    alignas(64) T best[kTile];
    alignas(64) T tile[kTile];
    std::fill_n(where, width, int64_t{0});
    load_run(dtype, args.in[0], base, width, best);
    for (int64_t k = 1; k < n; ++k) {
      load_run(dtype, args.in[0], base + k * inner, width, tile);
      for (int64_t i = 0; i < width; ++i) {
        if (!better(tile[i], best[i])) continue;
        best[i] = tile[i];
        where[i] = k;
      }
    }
  }

  const char* run(const RunArgs& args) const {
    if (n == 0) return nullptr;
    const Compute compute = is_real(dtype) ? Compute::f64 : compute_of(dtype);
    const int64_t chunks = (inner + kTile - 1) / kTile;
    args.parallel(outer * chunks, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t u = begin; u < end; ++u) {
        const int64_t at = u % chunks * kTile;
        const int64_t row = u / chunks;
        const int64_t width = std::min(kTile, inner - at);
        int64_t* where = static_cast<int64_t*>(args.out[0]) + row * inner + at;
        if (compute == Compute::f64)
          search<double>(args, row * n * inner + at, width, where);
        else if (compute == Compute::i64)
          search<int64_t>(args, row * n * inner + at, width, where);
        else
          search<uint64_t>(args, row * n * inner + at, width, where);
      }
    });
    return nullptr;
  }
};

/// The k first elements in descending (or ascending) order; equal ones by position.
struct TopK {
  DType dtype = DType::undefined;
  int64_t outer = 0, n = 0, inner = 0, k = 0;
  bool largest = true;
  bool has_indices = false;
  IndexVector operand;
  std::uint64_t per_worker = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "topk");
    if (!c.tensors(1, 2, 1, 2)) return c.error();
    dtype = c.in(0).dtype;
    const Dims d = c.dims_in(0);
    c.require(is_ordered_type(dtype), "operand 0 has type %s; expected a number of 8 bits or more",
              dtype_name(dtype));
    c.require(d.rank > 0, "operand 0 is a scalar; expected an axis to order");
    const int axis = static_cast<int>(c.integer("axis", 0, std::max(d.rank - 1, 0)));
    largest = c.integer("largest", 0, 1) != 0;
    c.integer("sorted", 0, 1);
    c.require(c.in(1).present() != c.has("k"), "expected either attribute 'k' or operand 1 (k)");
    if (!c.ok()) return c.error();
    k = c.dims_out(0).rank == d.rank ? c.dims_out(0)[axis] : -1;
    c.require(k >= 0 && k <= d[axis],
              "result 0 does not hold between 0 and %lld elements on axis "
              "%d",
              static_cast<long long>(d[axis]), axis);
    if (c.in(1).present()) {
      const DType t = c.in(1).dtype;
      c.require((t == DType::i32 || t == DType::i64) && c.dims_in(1).volume() == 1,
                "operand 1 (k) must be one i32 or i64");
      operand = {t, 1};
    } else {
      const int64_t asked = c.integer("k", 0, d[axis]);
      c.require(asked == k, "attribute 'k' is %lld; the result holds %lld",
                static_cast<long long>(asked), static_cast<long long>(k));
    }
    c.dtype_out(0, dtype);
    Dims result = d;
    result[axis] = k;
    c.shape_out(0, result);
    has_indices = c.out(1).present();
    if (has_indices) {
      c.dtype_out(1, DType::i64);
      c.shape_out(1, result);
    }
    outer = d.product(0, axis);
    n = d[axis];
    inner = d.stride(axis);
    // A line of keys and its permutation, both of eight bytes.
    per_worker = (static_cast<std::uint64_t>(n) * 16 + 63) / 64 * 64;
    c.scratch(per_worker * static_cast<unsigned>(c.threads()));
    return c.error();
  }

  template <class T>
  void line(const RunArgs& args, int64_t u, std::byte* scratch) const {
    T* keys = reinterpret_cast<T*>(scratch);
    auto* order = reinterpret_cast<int64_t*>(keys + n);
    const int64_t row = u / inner;
    const int64_t column = u % inner;
    for (int64_t j = 0; j < n; ++j) {
      load_run(dtype, args.in[0], (row * n + j) * inner + column, 1, keys + j);
      order[j] = j;
    }
    std::partial_sort(order, order + k, order + n, [&](int64_t a, int64_t b) {
      const bool up = above(keys[a], keys[b]);
      const bool down = above(keys[b], keys[a]);
      return up == down ? a < b : (largest ? up : down);
    });
    for (int64_t j = 0; j < k; ++j) {
      const int64_t to = (row * k + j) * inner + column;
      const int64_t from = (row * n + order[j]) * inner + column;
      store_bits(dtype, args.out[0], to, load_bits(dtype, args.in[0], from));
      if (has_indices) static_cast<int64_t*>(args.out[1])[to] = order[j];
    }
  }

  const char* run(const RunArgs& args) const {
    if (operand.present() && operand.at(args.in[1], 0) != k)
      return "topk: operand k is not the one this engine was built for; rebuild it for that k";
    const Compute compute = is_real(dtype) ? Compute::f64 : compute_of(dtype);
    args.parallel(outer * inner, 1, [&](int64_t begin, int64_t end, int worker) {
      auto* scratch =
          static_cast<std::byte*>(args.workspace) + per_worker * static_cast<std::uint64_t>(worker);
      for (int64_t u = begin; u < end; ++u) {
        if (compute == Compute::f64)
          line<double>(args, u, scratch);
        else if (compute == Compute::i64)
          line<int64_t>(args, u, scratch);
        else
          line<uint64_t>(args, u, scratch);
      }
    });
    return nullptr;
  }
};

}  // namespace

const Kernel arg_reduce_kernel = make_kernel<ArgReduce>("ref.arg_reduce");
const Kernel topk_kernel = make_kernel<TopK>("ref.topk");

}  // namespace frit::kernels::ref
