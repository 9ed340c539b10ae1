// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/tile.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

struct Cast {
  DType from = DType::undefined;
  DType to = DType::undefined;
  CastMode mode;
  int64_t count = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "cast");
    if (!c.tensors(1, 1, 1, 1)) return c.error();
    from = c.in(0).dtype;
    to = c.out(0).dtype;
    c.require(compute_of(from) != Compute::none && compute_of(to) != Compute::none,
              "casts from %s to %s; expected numbers or bool", dtype_name(from), dtype_name(to));
    const int64_t code = c.integer_or("to", 0, kDTypeCount - 1, static_cast<int64_t>(to));
    c.require(code == static_cast<int64_t>(to), "attribute 'to' is %lld; the result has type %s",
              static_cast<long long>(code), dtype_name(to));
    c.shape_out(0, c.dims_in(0));
    if (c.integer_or("saturate", 0, 1, 1) == 0) mode.overflow = Overflow::natural;
    mode.rounding = static_cast<Rounding>(c.integer_or("round_up", 0, 2, 0));
    count = c.dims_in(0).volume();
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    const int64_t tiles = (count + kTile - 1) / kTile;
    args.parallel(tiles, 16, [&](int64_t first, int64_t last, int) {
      if (from == to && from != DType::boolean) {
        const auto begin = storage_bytes(to, first * kTile);
        const auto end = storage_bytes(to, std::min(last * kTile, count));
        std::memmove(static_cast<char*>(args.out[0]) + begin,
                     static_cast<const char*>(args.in[0]) + begin, end - begin);
        return;
      }
      TileBuffer loaded;
      TileBuffer cast;
      for (int64_t t = first; t < last; ++t) {
        const int64_t begin = t * kTile;
        const int64_t n = std::min(kTile, count - begin);
        load_tile(from, args.in[0], begin, n, loaded.bytes);
        cast_tile(from, to, mode, loaded.bytes, cast.bytes, n);
        store_tile(to, cast.bytes, args.out[0], begin, n);
      }
    });
    return nullptr;
  }
};

}  // namespace

const Kernel cast_kernel = make_kernel<Cast>("ref.cast");

}  // namespace frit::kernels::ref
