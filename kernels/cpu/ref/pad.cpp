// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/cpu/ref/checker.h"
#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/strided_copy.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

enum PadMode { kConstant, kEdge, kReflect, kWrap };

constexpr int64_t kMaxPad = int64_t{1} << 48;

/// What padding one axis means: negative pads crop first, then the rest is extended.
struct PadAxis {
  int64_t first = 0;   ///< first source element that is kept
  int64_t kept = 0;    ///< how many are kept
  int64_t before = 0;  ///< result elements before them

  PadAxis() = default;
  PadAxis(int64_t dim, int64_t begin, int64_t end)
      : first(std::min(std::max<int64_t>(-begin, 0), dim)),
        kept(std::max<int64_t>(dim - first - std::max<int64_t>(-end, 0), 0)),
        before(std::max<int64_t>(begin, 0)) {}

  /// Source element of result element `o`; only with kept > 0.
  int64_t source(int64_t o, PadMode mode) const {
    int64_t i = o - before;
    if (i >= 0 && i < kept) return first + i;
    if (mode == kWrap) return first + ((i % kept) + kept) % kept;
    if (mode == kEdge || kept == 1) return first + std::clamp<int64_t>(i, 0, kept - 1);
    const int64_t period = 2 * (kept - 1);
    i = ((i % period) + period) % period;
    return first + (i < kept ? i : period - i);
  }
};

struct Pad {
  Dims x, y;
  PadMode mode = kConstant;
  PadAxis fixed[kMaxRank];
  IndexVector pads, names;
  bool has_value = false;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "pad");
    if (!c.tensors(1, 4, 1, 1)) return c.error();
    c.dtype_out(0, c.in(0).dtype);
    bits = dtype_bits(c.in(0).dtype);
    x = c.dims_in(0);
    y = c.dims_out(0);
    c.require(x.rank == y.rank, "operand has rank %d and result %d", x.rank, y.rank);
    mode = static_cast<PadMode>(c.choice("mode", {"constant", "edge", "reflect", "wrap"}));
    has_value = c.in(1).present();
    if (has_value) {
      c.dtype_in(1, c.in(0).dtype);
      c.require(c.dims_in(1).volume() == 1, "operand 1 (value) has %lld elements; expected one",
                static_cast<long long>(c.dims_in(1).volume()));
    }
    pads = index_vector(c, 2, 0, 2 * x.rank);
    names = index_vector(c, 3, 0, x.rank);
    if (!pads.present()) {
      int64_t values[2 * kMaxRank] = {};
      c.require(!names.present(), "operand 3 (axes) needs operand 2 (pads)");
      c.integers("pads", 2 * x.rank, -kMaxPad, kMaxPad, values);
      for (int a = 0; c.ok() && a < x.rank; ++a)
        c.require(accept(a, values[a], values[x.rank + a], fixed),
                  "pads %lld and %lld do not take axis %d from %lld to %lld elements",
                  static_cast<long long>(values[a]), static_cast<long long>(values[x.rank + a]), a,
                  static_cast<long long>(x[a]), static_cast<long long>(y[a]));
    } else {
      const int64_t want = 2 * (names.present() ? names.count : x.rank);
      c.require(pads.count == want, "operand 2 (pads) has %lld elements; expected %lld",
                static_cast<long long>(pads.count), static_cast<long long>(want));
    }
    return c.error();
  }

  bool accept(int a, int64_t begin, int64_t end, PadAxis* to) const {
    to[a] = PadAxis(x[a], begin, end);
    return x[a] + begin + end == y[a] && (mode == kConstant || to[a].kept > 0 || y[a] == 0);
  }

  const char* read_dynamic(const RunArgs& args, PadAxis* to) const {
    int named[kMaxRank] = {};
    const int count = static_cast<int>(pads.count / 2);
    if (const char* e =
            read_axes(names, names.present() ? args.in[3] : nullptr, count, x.rank, named))
      return e;
    int64_t begin[kMaxRank] = {};
    int64_t end[kMaxRank] = {};
    for (int i = 0; i < count; ++i) {
      begin[named[i]] = std::clamp(pads.at(args.in[2], i), -kMaxPad, kMaxPad);
      end[named[i]] = std::clamp(pads.at(args.in[2], count + i), -kMaxPad, kMaxPad);
    }
    for (int a = 0; a < x.rank; ++a)
      if (!accept(a, begin[a], end[a], to))
        return "pad: the pads operand gives other dims than this engine was built for; rebuild it "
               "for them";
    return nullptr;
  }

  void fill(const RunArgs& args) const {
    static constexpr char kZero[16] = {};
    const void* value = has_value ? args.in[1] : kZero;
    if (bits < 8) return fill_run(bits, value, 0, args.out[0], 0, y.volume());
    args.parallel(y.volume(), 65536, [&](int64_t b, int64_t e, int) {
      fill_run(bits, value, 0, args.out[0], b, e - b);
    });
  }

  void copy_kept(const RunArgs& args, const PadAxis* axes) const {
    StridedCopy copy;
    for (int a = 0; a < x.rank; ++a) {
      // With constants, opposite pads can push every kept element out of the result.
      const PadAxis& p = axes[a];
      const int64_t skip = std::min(p.first, x[a]);
      const int64_t size = std::min(p.kept, std::max<int64_t>(y[a] - p.before, 0));
      copy.src_offset += skip * x.stride(a);
      copy.dst_offset += p.before * y.stride(a);
      if (size == 0) return;
      copy.add(size, x.stride(a), y.stride(a));
    }
    copy.run(bits, args.in[0], args.out[0], args.parallel);
  }

  /// Result row `row` of the innermost axis for the modes that read the operand.
  void extend_row(const RunArgs& args, const PadAxis* axes, int64_t row) const {
    const int last = x.rank - 1;
    int64_t src = 0;
    int64_t rest = row;
    for (int a = last - 1; a >= 0; --a) {
      src += axes[a].source(rest % y[a], mode) * x.stride(a);
      rest /= y[a];
    }
    const PadAxis& p = axes[last];
    const int64_t dst = row * y[last];
    const int64_t after = std::min(p.before + p.kept, y[last]);
    for (int64_t o = 0; o < std::min(p.before, y[last]); ++o)
      copy_run(bits, args.in[0], src + p.source(o, mode), args.out[0], dst + o, 1);
    if (after > p.before)
      copy_run(bits, args.in[0], src + p.first, args.out[0], dst + p.before, after - p.before);
    for (int64_t o = after; o < y[last]; ++o)
      copy_run(bits, args.in[0], src + p.source(o, mode), args.out[0], dst + o, 1);
  }

  const char* run(const RunArgs& args) const {
    PadAxis dynamic[kMaxRank];
    if (pads.present())
      if (const char* e = read_dynamic(args, dynamic)) return e;
    const PadAxis* axes = pads.present() ? dynamic : fixed;
    if (y.volume() == 0) return nullptr;
    if (mode == kConstant || y.rank == 0) {
      if (y.rank > 0) fill(args);
      copy_kept(args, axes);
      return nullptr;
    }
    auto body = [&](int64_t begin, int64_t end, int) {
      for (int64_t row = begin; row < end; ++row) extend_row(args, axes, row);
    };
    const int64_t rows = y.volume() / y[y.rank - 1];
    if (bits < 8)
      body(0, rows, 0);  // neighbours share bytes
    else
      args.parallel(rows, std::max<int64_t>(1, 16384 / y[y.rank - 1]), body);
    return nullptr;
  }
};

}  // namespace

const Kernel pad_kernel = make_kernel<Pad>("ref.pad");

}  // namespace frit::kernels::ref
