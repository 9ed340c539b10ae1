// SPDX-License-Identifier: Apache-2.0
// Movement ops whose whole work is one box copy: reshape, transpose, expand, tile, depth_to_space,
// space_to_depth.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/ref/checker.h"
#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/strided_copy.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// Operand 0 and result 0 share a type.
void same_type(Checker& c) {
  c.dtype_out(0, c.in(0).dtype);
}

struct Reshape {
  Dims x, y;
  IndexVector shape;
  bool allow_zero = false;
  std::size_t bytes = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "reshape");
    if (!c.tensors(1, 2, 1, 1)) return c.error();
    same_type(c);
    x = c.dims_in(0);
    y = c.dims_out(0);
    allow_zero = c.integer_or("allowzero", 0, 1, 0) != 0;
    shape = index_vector(c, 1, y.rank, y.rank);
    c.require(x.volume() == y.volume(), "operand 0 has %lld elements and result 0 %lld",
              static_cast<long long>(x.volume()), static_cast<long long>(y.volume()));
    bytes = static_cast<std::size_t>((x.volume() * dtype_bits(c.in(0).dtype) + 7) / 8);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    for (int a = 0; shape.present() && a < y.rank; ++a) {
      const int64_t v = shape.at(args.in[1], a);
      const bool copied = v == 0 && !allow_zero && a < x.rank && x[a] == y[a];
      // With the volume fixed, a -1 can only mean the planned dim.
      if (v != y[a] && v != -1 && !copied)
        return "reshape: the shape operand differs from the dims this engine was built for; "
               "rebuild "
               "it for this shape";
    }
    if (bytes > 0 && args.in[0] != args.out[0]) std::memcpy(args.out[0], args.in[0], bytes);
    return nullptr;
  }
};

struct Transpose {
  StridedCopy copy;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "transpose");
    if (!c.tensors(1, 1, 1, 1)) return c.error();
    same_type(c);
    const Dims x = c.dims_in(0);
    const Dims y = c.dims_out(0);
    c.require(x.rank == y.rank, "operand has rank %d and result %d", x.rank, y.rank);
    int64_t perm[kMaxRank] = {};
    bool seen[kMaxRank] = {};
    c.integers("perm", x.rank, 0, x.rank - 1, perm);
    for (int a = 0; c.ok() && a < x.rank; ++a) {
      const int from = static_cast<int>(perm[a]);
      c.require(!seen[from], "attribute 'perm' names axis %d twice", from);
      c.require(y[a] == x[from], "result has dim %lld on axis %d; expected %lld",
                static_cast<long long>(y[a]), a, static_cast<long long>(x[from]));
      seen[from] = true;
      copy.add(x[from], x.stride(from), y.stride(a));
    }
    bits = dtype_bits(c.in(0).dtype);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    copy.run(bits, args.in[0], args.out[0], args.parallel);
    return nullptr;
  }
};

struct Expand {
  StridedCopy copy;
  Dims x, y;
  IndexVector shape;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "expand");
    if (!c.tensors(1, 2, 1, 1)) return c.error();
    same_type(c);
    x = c.dims_in(0);
    y = c.dims_out(0);
    shape = index_vector(c, 1, 0, y.rank);
    c.require(x.rank <= y.rank, "operand has rank %d, more than the result's %d", x.rank, y.rank);
    for (int a = 0; c.ok() && a < y.rank; ++a) {
      const int from = a - (y.rank - x.rank);
      const int64_t d = from >= 0 ? x[from] : 1;
      c.require(d == y[a] || d == 1, "dim %lld on axis %d does not broadcast to %lld",
                static_cast<long long>(d), from, static_cast<long long>(y[a]));
      copy.add(y[a], d == 1 ? 0 : x.stride(from), y.stride(a));
    }
    bits = dtype_bits(c.in(0).dtype);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    for (int a = 0; shape.present() && a < y.rank; ++a) {
      const int at = a - (y.rank - static_cast<int>(shape.count));
      const int from = a - (y.rank - x.rank);
      const int64_t d = from >= 0 ? x[from] : 1;
      const int64_t v = at >= 0 ? shape.at(args.in[1], at) : 1;
      if (v != y[a] && !(v == 1 && d == y[a]))
        return "expand: the shape operand differs from the dims this engine was built for; rebuild "
               "it for this shape";
    }
    copy.run(bits, args.in[0], args.out[0], args.parallel);
    return nullptr;
  }
};

struct Tile {
  StridedCopy copy;
  int64_t repeats[kMaxRank] = {};
  IndexVector operand;
  int rank = 0;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "tile");
    if (!c.tensors(1, 2, 1, 1)) return c.error();
    same_type(c);
    const Dims x = c.dims_in(0);
    const Dims y = c.dims_out(0);
    rank = x.rank;
    c.require(x.rank == y.rank, "operand has rank %d and result %d", x.rank, y.rank);
    operand = index_vector(c, 1, rank, rank);
    if (!operand.present()) c.integers("repeats", rank, 0, INT64_MAX, repeats);
    for (int a = 0; c.ok() && a < rank; ++a) {
      // Empty axes hide the number of repeats; any number is right then.
      if (operand.present()) repeats[a] = x[a] == 0 ? -1 : y[a] / x[a];
      const bool fits = x[a] == 0 ? y[a] == 0 : y[a] / x[a] == repeats[a] && y[a] % x[a] == 0;
      c.require(fits, "dim %lld on axis %d cannot become %lld by the repeats asked for",
                static_cast<long long>(x[a]), a, static_cast<long long>(y[a]));
      if (!c.ok() || y[a] == 0) continue;
      copy.add(repeats[a], 0, x[a] * y.stride(a));
      copy.add(x[a], x.stride(a), y.stride(a));
    }
    if (y.volume() == 0) copy.add(0, 0, 0);
    bits = dtype_bits(c.in(0).dtype);
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    for (int a = 0; operand.present() && a < rank; ++a)
      if (repeats[a] >= 0 && operand.at(args.in[1], a) != repeats[a])
        return "tile: the repeats operand differs from what this engine was built for; rebuild it "
               "for these repeats";
    copy.run(bits, args.in[0], args.out[0], args.parallel);
    return nullptr;
  }
};

/// Both block ops are one transposition of the image seen with its blocks as axes of their own.
struct Blocks {
  StridedCopy copy;
  int bits = 0;

  const char* prepare_to_space(PrepareArgs& args) {
    Checker c(args, "depth_to_space");
    if (!c.tensors(1, 1, 1, 1)) return c.error();
    const int mode = c.choice("mode", {"DCR", "CRD"});
    const int64_t b = read(c);
    if (!c.ok()) return c.error();
    const Dims x = c.dims_in(0);
    const Dims y = c.dims_out(0);
    check(c, x, y, b);
    const int64_t channel = x.stride(1);
    const int64_t depth = y[1];
    const int64_t block = mode == 0 ? depth * channel : channel;
    copy.add(y[0], x.stride(0), y.stride(0));
    copy.add(depth, mode == 0 ? channel : b * b * channel, y.stride(1));
    copy.add(x[2], x[3], b * y[3]);
    copy.add(b, b * block, y[3]);
    copy.add(x[3], 1, b);
    copy.add(b, block, 1);
    return c.error();
  }

  const char* prepare_to_depth(PrepareArgs& args) {
    Checker c(args, "space_to_depth");
    if (!c.tensors(1, 1, 1, 1)) return c.error();
    const int mode = c.choice_or("mode", {"DCR", "CRD"}, 0);
    const int64_t b = read(c);
    if (!c.ok()) return c.error();
    const Dims x = c.dims_in(0);
    const Dims y = c.dims_out(0);
    check(c, y, x, b);
    const int64_t channel = y.stride(1);
    copy.add(x[0], x.stride(0), y.stride(0));
    const int64_t block = mode == 0 ? x[1] * channel : channel;
    copy.add(b, x[3], b * block);
    copy.add(b, 1, block);
    copy.add(x[1], x.stride(1), mode == 0 ? channel : b * b * channel);
    copy.add(y[2], b * x[3], y[3]);
    copy.add(y[3], b, 1);
    return c.error();
  }

  int64_t read(Checker& c) {
    same_type(c);
    bits = dtype_bits(c.in(0).dtype);
    c.require(c.dims_in(0).rank == 4 && c.dims_out(0).rank == 4,
              "ranks are %d and %d; expected 4-D images", c.dims_in(0).rank, c.dims_out(0).rank);
    return c.integer("block", 1, 1 << 20);
  }

  /// `deep` has the channels of b·b pixels of `wide`.
  static void check(Checker& c, const Dims& deep, const Dims& wide, int64_t b) {
    const bool channels = wide[1] == deep[1] / (b * b) && deep[1] % (b * b) == 0;
    const bool rows = deep[2] == wide[2] / b && wide[2] % b == 0;
    const bool cols = deep[3] == wide[3] / b && wide[3] % b == 0;
    c.require(deep[0] == wide[0] && channels && rows && cols,
              "operand and result dims do not differ by blocks of %lld", static_cast<long long>(b));
  }

  const char* run(const RunArgs& args) const {
    copy.run(bits, args.in[0], args.out[0], args.parallel);
    return nullptr;
  }
};

struct DepthToSpace : Blocks {
  const char* prepare(PrepareArgs& args) { return prepare_to_space(args); }
};
struct SpaceToDepth : Blocks {
  const char* prepare(PrepareArgs& args) { return prepare_to_depth(args); }
};

}  // namespace

const Kernel reshape_kernel = make_kernel<Reshape>("ref.reshape");
const Kernel transpose_kernel = make_kernel<Transpose>("ref.transpose");
const Kernel expand_kernel = make_kernel<Expand>("ref.expand");
const Kernel tile_kernel = make_kernel<Tile>("ref.tile");
const Kernel depth_to_space_kernel = make_kernel<DepthToSpace>("ref.depth_to_space");
const Kernel space_to_depth_kernel = make_kernel<SpaceToDepth>("ref.space_to_depth");

}  // namespace frit::kernels::ref
