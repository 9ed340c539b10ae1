// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/common/pointwise_math.h"
#include "kernels/cpu/ref/reduce_plan.h"
#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;
using std::uint64_t;

enum Kind { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kSumSquare, kLogSum, kLogSumExp };

enum class Combine { sum, prod, max, min };

Combine combine_of(Kind kind) {
  switch (kind) {
    case kMax:
      return Combine::max;
    case kMin:
      return Combine::min;
    case kProd:
      return Combine::prod;
    default:
      return Combine::sum;
  }
}

template <class T>
T combine(Combine c, T a, T b) {
  switch (c) {
    case Combine::max:
      return pw_max_nan(a, b);
    case Combine::min:
      return pw_min_nan(a, b);
    case Combine::prod:
      return pw_mul(a, b);
    default:
      return pw_add(a, b);
  }
}

template <class T>
T fold(Combine c, T acc, const T* x, int64_t n) {
  if constexpr (std::is_same_v<T, double>)
    if (c == Combine::sum) return acc + sum_of(x, n);
  for (int64_t i = 0; i < n; ++i) acc = combine(c, acc, x[i]);
  return acc;
}

template <class T>
void fold_each(Combine c, T* acc, const T* x, int64_t n) {
  if (c == Combine::sum)
    for (int64_t i = 0; i < n; ++i) acc[i] = pw_add(acc[i], x[i]);
  else
    for (int64_t i = 0; i < n; ++i) acc[i] = combine(c, acc[i], x[i]);
}

/// What an empty set of elements of type t reduces to.
template <class T>
T neutral(Combine c, DType t) {
  if (c == Combine::sum) return 0;
  if (c == Combine::prod) return 1;
  const bool low = c == Combine::max;
  if constexpr (std::is_same_v<T, double>) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    return low ? -kInf : kInf;
  } else {
    const int width = t == DType::boolean ? 1 : bits(t);
    if constexpr (std::is_signed_v<T>) {
      const auto smallest = static_cast<T>(~uint64_t{0} << (width - 1));
      return low ? smallest : static_cast<T>(~smallest);
    } else {
      return low ? 0 : ~uint64_t{0} >> (64 - width);
    }
  }
}

struct Reduce {
  Kind kind = kSum;
  Dims x, y;
  DType dtype = DType::undefined;
  bool keepdims = false;
  bool noop = false;
  IndexVector axes;
  ReducePlan fixed;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "reduce");
    if (!c.tensors(1, 2, 1, 1)) return c.error();
    kind = static_cast<Kind>(c.choice("kind", {"sum", "mean", "max", "min", "prod", "l1", "l2",
                                               "sum_square", "log_sum", "log_sum_exp"}));
    dtype = c.in(0).dtype;
    c.require(compute_of(dtype) != Compute::none && bits(dtype) >= 8 &&
                  (dtype != DType::boolean || kind == kMax || kind == kMin),
              "cannot reduce %s in this way; expected a number of 8 bits or more",
              dtype_name(dtype));
    c.dtype_out(0, dtype);
    x = c.dims_in(0);
    y = c.dims_out(0);
    keepdims = c.integer("keepdims", 0, 1) != 0;
    noop = c.integer_or("noop_with_empty_axes", 0, 1, 0) != 0;
    axes = index_vector(c, 1, 0, x.rank);
    c.require(axes.present() != c.has("axes"),
              "expected either attribute 'axes' or operand 1 (axes)");
    if (!c.ok() || axes.present()) return c.error();
    const Attr* list = args.find("axes");
    int64_t values[kMaxRank] = {};
    c.require(list->count <= x.rank, "attribute 'axes' has %d numbers for rank %d", list->count,
              x.rank);
    if (!c.ok() || !c.integers("axes", list->count, 0, x.rank - 1, values)) return c.error();
    bool drop[kMaxRank] = {};
    for (int i = 0; i < list->count; ++i) drop[values[i]] = true;
    c.shape_out(0, reduced(drop));
    fixed = ReducePlan(x, drop);
    return c.error();
  }

  Dims reduced(const bool* drop) const {
    Dims d;
    for (int a = 0; a < x.rank; ++a) {
      if (!drop[a])
        d[d.rank++] = x[a];
      else if (keepdims)
        d[d.rank++] = 1;
    }
    return d;
  }

  template <class T>
  static void transform(Kind kind, T* v, int64_t n) {
    if (kind == kL1)
      for (int64_t i = 0; i < n; ++i) v[i] = pw_abs(v[i]);
    if (kind == kL2 || kind == kSumSquare)
      for (int64_t i = 0; i < n; ++i) v[i] = pw_mul(v[i], v[i]);
  }

  template <class T>
  void finish(T* acc, int64_t n, int64_t members) const {
    const auto count = static_cast<T>(members);
    if constexpr (std::is_same_v<T, double>) {
      if (kind == kMean)
        for (int64_t i = 0; i < n; ++i) acc[i] /= count;
      if (kind == kL2)
        for (int64_t i = 0; i < n; ++i) acc[i] = std::sqrt(acc[i]);
      if (kind == kLogSum)
        for (int64_t i = 0; i < n; ++i) acc[i] = std::log(acc[i]);
    } else if (kind == kMean) {
      for (int64_t i = 0; i < n; ++i) acc[i] = pw_div(acc[i], count);
    }
  }

  template <class T>
  void unit(const ReducePlan& p, const RunArgs& args, int64_t u) const {
    alignas(64) T acc[kTile];
    alignas(64) T tile[kTile];
    const int64_t width = p.width(u);
    const auto pass = [&](Combine c, auto&& change) {
      std::fill_n(acc, width, neutral<T>(c, dtype));
      p.walk(u, [&](int64_t offset, int64_t n) {
        load_run(dtype, args.in[0], offset, n, tile);
        change(n);
        if (p.inner_reduced)
          acc[0] = fold(c, acc[0], tile, n);
        else
          fold_each(c, acc, tile, n);
      });
    };
    if constexpr (std::is_same_v<T, double>) {
      if (kind == kLogSumExp) {
        alignas(64) double peak[kTile];
        pass(Combine::max, [](int64_t) {});
        // An infinite peak would turn into NaN below, while exp alone gives the right limit.
        for (int64_t i = 0; i < width; ++i) peak[i] = std::isinf(acc[i]) ? 0 : acc[i];
        pass(Combine::sum, [&](int64_t n) {
          for (int64_t i = 0; i < n; ++i)
            tile[i] = std::exp(tile[i] - peak[p.inner_reduced ? 0 : i]);
        });
        for (int64_t i = 0; i < width; ++i) acc[i] = std::log(acc[i]) + peak[i];
        store_run(dtype, acc, args.out[0], p.first_result(u), width);
        return;
      }
    }
    pass(combine_of(kind), [&](int64_t n) { transform(kind, tile, n); });
    finish(acc, width, p.members);
    store_run(dtype, acc, args.out[0], p.first_result(u), width);
  }

  const char* run(const RunArgs& args) const {
    ReducePlan dynamic;
    if (axes.present()) {
      int list[kMaxRank];
      const int count = static_cast<int>(axes.count);
      if (const char* e = read_axes(axes, args.in[1], count, x.rank, list)) return e;
      bool drop[kMaxRank] = {};
      for (int i = 0; i < count; ++i) drop[list[i]] = true;
      if (count == 0 && !noop) std::fill_n(drop, x.rank, true);
      if (!(reduced(drop) == y))
        return "reduce: the axes operand gives other dims than this engine was built for; rebuild "
               "it for them";
      dynamic = ReducePlan(x, drop);
    }
    const ReducePlan& p = axes.present() ? dynamic : fixed;
    // Roots and logarithms of integers are computed in f64 and go towards zero.
    const bool real = is_real(dtype) || kind == kL2 || kind == kLogSum || kind == kLogSumExp;
    const Compute compute = real ? Compute::f64 : compute_of(dtype);
    for_each_unit(p, args.parallel, [&](int64_t u) {
      if (compute == Compute::f64)
        unit<double>(p, args, u);
      else if (compute == Compute::i64)
        unit<int64_t>(p, args, u);
      else
        unit<uint64_t>(p, args, u);
    });
    return nullptr;
  }
};

}  // namespace

const Kernel reduce_kernel = make_kernel<Reduce>("ref.reduce");

}  // namespace frit::kernels::ref
