// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/ref/patches.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

enum PoolKind { kMax, kAverage, kLp };

constexpr int64_t kMaxStep = int64_t{1} << 31;

struct Pool {
  Window window;
  int64_t pad_end[kMaxRank] = {};
  int64_t planes = 0;  ///< batch times channels
  PoolKind kind = kMax;
  bool count_pad = false, column_major = false, has_indices = false;
  double p = 2;
  DType dtype = DType::undefined;
  bool wide = false;  ///< computed in f64: f64 itself, and integers, which f64 holds exactly
  Converted<float> x32;
  Converted<double> x64;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "pool");
    if (!c.tensors(1, 1, 1, 2)) return c.error();
    kind = static_cast<PoolKind>(c.choice("kind", {"max", "average", "lp"}));
    dtype = c.in(0).dtype;
    const bool small = is_integer(dtype) && dtype_bits(dtype) >= 8 && dtype_bits(dtype) <= 32;
    c.require(is_wide_float(dtype) || (kind == kMax && small),
              "operand 0 has type %s; expected a float, or for kind max an integer of 8 to 32 bits",
              dtype_name(dtype));
    c.dtype_out(0, dtype);
    has_indices = c.out(1).present();
    if (has_indices) {
      c.require(kind == kMax, "only kind max has indices as result 1");
      c.dtype_out(1, DType::i64);
      c.shape_out(1, c.dims_out(0));
    }
    if (!c.ok() || !read(c)) return c.error();
    wide = dtype == DType::f64 || is_integer(dtype);
    if (wide)
      x64.plan(c, c.in(0));
    else
      x32.plan(c, c.in(0));
    return c.error();
  }

  bool read(Checker& c) {
    const Dims x = c.dims_in(0);
    const Dims y = c.dims_out(0);
    if (!c.require(x.rank >= 3 && y.rank == x.rank,
                   "ranks are %d and %d; expected one rank of at least 3", x.rank, y.rank) ||
        !c.require(x[0] == y[0] && x[1] == y[1], "batch or channels differ between x and y"))
      return false;
    planes = x[0] * x[1];
    const int r = window.rank = x.rank - 2;
    int64_t pads[2 * kMaxRank] = {};
    c.integers("kernel", r, 1, int64_t{1} << 40, window.kernel);
    c.integers_or("strides", r, 1, kMaxStep, 1, window.stride);
    c.integers_or("dilations", r, 1, kMaxStep, 1, window.dilation);
    c.integers_or("pads", 2 * r, -kMaxStep, kMaxStep, 0, pads);
    const bool ceil = c.integer_or("ceil_mode", 0, 1, 0) != 0;
    count_pad = c.integer_or("count_include_pad", 0, 1, 0) != 0;
    column_major = c.integer_or("storage_order", 0, 1, 0) != 0;
    p = read_p(c);
    int64_t taps = 1;
    for (int a = 0; c.ok() && a < r; ++a) {
      const int64_t k = window.kernel[a];
      if (!c.require(
              k - 1 <= (int64_t{1} << 48) / window.dilation[a] && k <= (int64_t{1} << 48) / taps,
              "kernel dim %lld on spatial axis %d is out of range", static_cast<long long>(k), a))
        return false;
      taps *= k;
      const int64_t in = window.in[a] = x[a + 2];
      window.out[a] = y[a + 2];
      window.pad[a] = pads[a];
      pad_end[a] = pads[r + a];
      const int64_t stride = window.stride[a];
      const int64_t room = in + pads[a] + pads[r + a] - window.dilation[a] * (k - 1) - 1;
      const int64_t floor = room < 0 ? 0 : room / stride + 1;
      const int64_t most = floor + (ceil && room >= 0 && room % stride != 0 ? 1 : 0);
      // Rounding up drops a window that would start past the operand and its leading pad;
      // frameworks differ on when it does, so either count is taken.
      const bool fits = window.out[a] == most || window.out[a] == floor ||
                        (ceil && window.out[a] == floor - 1 && window.out[a] >= 0 &&
                         (floor - 1) * stride >= in + pads[a]);
      c.require(fits, "result has dim %lld on spatial axis %d; expected %lld",
                static_cast<long long>(window.out[a]), a, static_cast<long long>(most));
    }
    return c.ok();
  }

  /// ONNX has had p as an integer and, in its first version, as a real.
  double read_p(Checker& c) const {
    if (kind != kLp || !c.has("p")) return 2;
    const Attr* a = c.args().find("p");
    const double v = a->kind == Attr::Kind::real
                         ? c.real("p")
                         : static_cast<double>(c.integer("p", 1, int64_t{1} << 31));
    c.require(v > 0, "attribute 'p' is %g; expected a positive number", v);
    return v;
  }

  /// The taps of the window at `at` that fall inside: first and past-last tap per axis. False if
  /// there are none.
  bool clip(const int64_t* at, int64_t* low, int64_t* high) const {
    bool any = true;
    for (int a = 0; a < window.rank; ++a) {
      const int64_t start = at[a] * window.stride[a] - window.pad[a];
      const int64_t d = window.dilation[a];
      low[a] = start < 0 ? (-start + d - 1) / d : 0;
      high[a] = start >= window.in[a]
                    ? 0
                    : std::min(window.kernel[a], (window.in[a] - 1 - start) / d + 1);
      any = any && low[a] < high[a];
    }
    return any;
  }

  /// Elements an average divides by when pads count: those of the padded operand.
  double padded_taps(const int64_t* at) const {
    double n = 1;
    for (int a = 0; a < window.rank; ++a) {
      const int64_t start = at[a] * window.stride[a] - window.pad[a];
      const int64_t end = window.in[a] + pad_end[a];
      const int64_t d = window.dilation[a];
      const int64_t inside =
          start >= end ? 0 : std::min(window.kernel[a], (end - 1 - start) / d + 1);
      n *= static_cast<double>(inside);
    }
    return n;
  }

  /// Index of an element in its plane as the indices result counts it.
  int64_t numbered(int64_t flat) const {
    if (!column_major) return flat;
    int64_t at[Window::kMaxAxes] = {};
    window.unravel(window.in, flat, at);
    int64_t index = 0;
    for (int a = window.rank - 1; a >= 0; --a) index = index * window.in[a] + at[a];
    return index;
  }

  /// Result of the window at `at` over one plane; *where is the element that won.
  template <class T>
  double reduce(const T* plane, const int64_t* at, int64_t* where) const {
    int64_t low[Window::kMaxAxes];
    int64_t high[Window::kMaxAxes];
    int64_t tap[Window::kMaxAxes];
    double acc = kind == kMax ? -std::numeric_limits<double>::infinity() : 0;
    double count = 0;
    *where = -1;
    if (clip(at, low, high)) {
      const int last = window.rank - 1;
      std::copy_n(low, window.rank, tap);
      for (bool more = true; more;) {
        int64_t row = 0;
        for (int a = 0; a < last; ++a)
          row = (row + at[a] * window.stride[a] - window.pad[a] + tap[a] * window.dilation[a]) *
                window.in[a + 1];
        row += at[last] * window.stride[last] - window.pad[last];
        for (int64_t t = low[last]; t < high[last]; ++t) {
          const int64_t i = row + t * window.dilation[last];
          const double v = static_cast<double>(plane[i]);
          if (kind == kMax) {
            // The first of equals wins; a NaN wins over all and stays.
            if (*where < 0 || v > acc || (std::isnan(v) && !std::isnan(acc))) {
              acc = v;
              *where = i;
            }
          } else {
            acc += kind == kAverage ? v : p == 2 ? v * v : std::pow(std::fabs(v), p);
          }
        }
        count += static_cast<double>(high[last] - low[last]);
        more = false;
        for (int a = last - 1; a >= 0 && !more; --a) {
          more = ++tap[a] < high[a];
          if (!more) tap[a] = low[a];
        }
      }
    }
    if (kind == kMax) return acc;
    if (kind == kLp) return p == 2 ? std::sqrt(acc) : std::pow(acc, 1 / p);
    // A window of nothing but pads has no average to speak of; it gives 0.
    const double n = count_pad ? padded_taps(at) : count;
    return n > 0 ? acc / n : 0;
  }

  template <class T>
  void run_as(const RunArgs& args, const T* x) const {
    const int last = window.rank - 1;
    const int64_t width = window.out[last];
    const int64_t rows = window.out_volume() / std::max<int64_t>(width, 1);
    const int64_t cost = std::max<int64_t>(1, width * window.kernel_volume());
    const auto body = [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t at[Window::kMaxAxes] = {};
        window.unravel(window.out, r % rows * width, at);
        const int64_t plane = r / rows;
        const T* src = x + plane * window.in_volume();
        double values[64];
        int64_t* indices = has_indices ? static_cast<int64_t*>(args.out[1]) + r * width : nullptr;
        for (int64_t c0 = 0; c0 < width; c0 += 64) {
          const int64_t n = std::min<int64_t>(64, width - c0);
          for (int64_t c = 0; c < n; ++c) {
            at[last] = c0 + c;
            int64_t where = 0;
            values[c] = reduce(src, at, &where);
            if (indices != nullptr)
              indices[c0 + c] = where < 0 ? 0 : numbered(where) + plane * window.in_volume();
          }
          write_run<double>(dtype, values, n, args.out[0], r * width + c0);
        }
      }
    };
    if (window.out_volume() > 0)
      args.parallel(planes * rows, std::max<int64_t>(1, 32768 / cost), body);
  }

  const char* run(const RunArgs& args) const {
    if (wide)
      run_as(args, x64.load(args, 0));
    else
      run_as(args, x32.load(args, 0));
    return nullptr;
  }
};

/// y is zero but where an index says; indices count the elements of the whole result, or of the
/// result as pooling saw it when a shape operand asks for a larger one.
struct MaxUnpool {
  int64_t count = 0, total = 0;
  Dims x, y;
  Dims inferred;  ///< dims of the pooled tensor as strides, kernel and pads tell
  IndexVector shape;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "max_unpool");
    if (!c.tensors(2, 3, 1, 1)) return c.error();
    c.dtype_out(0, c.in(0).dtype);
    c.dtype_in(1, DType::i64);
    x = c.dims_in(0);
    y = c.dims_out(0);
    bits = dtype_bits(c.in(0).dtype);
    c.require(bits >= 8, "operand 0 has type %s; expected one of 8 bits or more",
              dtype_name(c.in(0).dtype));
    c.require(c.dims_in(1) == x, "operands 0 and 1 have different dims");
    if (!c.require(x.rank >= 3 && y.rank == x.rank && y[0] == x[0] && y[1] == x[1],
                   "x and y must have one rank of at least 3, one batch and as many channels"))
      return c.error();
    shape = index_vector(c, 2, x.rank, x.rank);
    read(c);
    count = x.volume();
    total = y.volume();
    return c.error();
  }

  void read(Checker& c) {
    const int r = x.rank - 2;
    int64_t kernel[kMaxRank] = {};
    int64_t strides[kMaxRank] = {};
    int64_t pads[2 * kMaxRank] = {};
    c.integers("kernel", r, 1, kMaxStep, kernel);
    c.integers_or("strides", r, 1, kMaxStep, 1, strides);
    c.integers_or("pads", 2 * r, 0, kMaxStep, 0, pads);
    inferred = x;
    for (int a = 0; c.ok() && a < r; ++a) {
      if (!c.require(x[a + 2] <= (int64_t{1} << 60) / strides[a],
                     "stride on spatial axis %d is out of range", a))
        return;
      inferred[a + 2] = (x[a + 2] - 1) * strides[a] - (pads[a] + pads[r + a]) + kernel[a];
      c.require(shape.present() || inferred[a + 2] == y[a + 2] || x[a + 2] == 0,
                "result has dim %lld on spatial axis %d; expected %lld",
                static_cast<long long>(y[a + 2]), a, static_cast<long long>(inferred[a + 2]));
      c.require(inferred[a + 2] >= 0 && inferred[a + 2] <= kMaxStep,
                "spatial axis %d unpools to %lld elements", a,
                static_cast<long long>(inferred[a + 2]));
    }
  }

  const char* run(const RunArgs& args) const {
    for (int a = 0; shape.present() && a < y.rank; ++a)
      if (shape.at(args.in[2], a) != y[a])
        return "max_unpool: the shape operand differs from the dims this engine was built for; "
               "rebuild it for this shape";
    const std::size_t width = static_cast<std::size_t>(bits / 8);
    char* to = static_cast<char*>(args.out[0]);
    const char* from = static_cast<const char*>(args.in[0]);
    std::fill_n(to, static_cast<std::size_t>(total) * width, '\0');
    const int64_t* indices = static_cast<const int64_t*>(args.in[1]);
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = indices[i];
      if (shape.present()) at = translate(at);
      if (at < 0 || at >= total)
        return "max_unpool: an index lies outside the result; check the indices operand";
      std::copy_n(from + static_cast<std::size_t>(i) * width, width,
                  to + static_cast<std::size_t>(at) * width);
    }
    return nullptr;
  }

  /// An index into the inferred dims as one into the result's; -1 if it is outside of either.
  int64_t translate(int64_t index) const {
    if (index < 0) return -1;
    int64_t at = 0;
    int64_t stride = 1;
    for (int a = y.rank - 1; a >= 0; --a) {
      if (inferred[a] == 0) return -1;
      const int64_t p = index % inferred[a];
      if (p >= y[a]) return -1;
      index /= inferred[a];
      at += p * stride;
      stride *= y[a];
    }
    return index == 0 ? at : -1;
  }
};

}  // namespace

const Kernel pool_kernel = make_kernel<Pool>("ref.pool");
const Kernel max_unpool_kernel = make_kernel<MaxUnpool>("ref.max_unpool");

}  // namespace frit::kernels::ref
