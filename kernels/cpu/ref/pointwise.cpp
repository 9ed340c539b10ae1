// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/pointwise.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

constexpr PointwiseRow kRows[kPointwiseRows] = {
#define FRIT_PW(name, arity, group, attr0, attr1, expression) \
  {#name, arity, #group[0], {attr0, attr1}},
#include "kernels/common/pointwise.def"
#undef FRIT_PW
};

/// One row applied to whole tensors.
struct PointwiseState {
  PointwiseLoop loop = nullptr;
  int arity = 0;
  DType result = DType::undefined;
  int64_t count = 0;
  double p[2] = {};
  BroadcastView views[3];

  const char* prepare(PrepareArgs& args, int row) {
    const PointwiseRow& r = kRows[row];
    arity = r.arity;
    Checker c(args, r.name);
    if (!c.tensors(arity, arity, 1, 1)) return c.error();
    DType types[3] = {};
    for (int i = 0; i < arity; ++i) types[i] = c.in(i).dtype;
    result = c.out(0).dtype;
    const Compute compute = check_pointwise_types(c, row, types, result);
    const Dims dims = c.dims_out(0);
    count = dims.volume();
    for (int i = 0; i < arity; ++i) views[i].plan(c, i, dims);
    for (int i = 0; i < 2; ++i)
      if (r.attributes[i][0] != '\0') p[i] = bind_parameter(types[0], c.real(r.attributes[i]));
    if (c.ok()) loop = pointwise_loop(row, compute);
    c.require(!c.ok() || loop != nullptr, "no loop computes operands of type %s",
              dtype_name(types[0]));
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    const int64_t tiles = (count + kTile - 1) / kTile;
    const bool in_place = is_native_tile(result);
    const int64_t width = bits(result) / 8;
    args.parallel(tiles, 16, [&](int64_t first, int64_t last, int) {
      TileBuffer buffers[3];
      TileBuffer computed;
      for (int64_t t = first; t < last; ++t) {
        const int64_t begin = t * kTile;
        const int64_t n = std::min(kTile, count - begin);
        const void* src[3] = {};
        for (int i = 0; i < arity; ++i) src[i] = views[i].tile(args.in[i], begin, n, buffers[i]);
        void* dst = computed.bytes;
        if (in_place) dst = static_cast<char*>(args.out[0]) + begin * width;
        loop(n, src, dst, p[0], p[1]);
        if (!in_place) store_tile(result, dst, args.out[0], begin, n);
      }
    });
    return nullptr;
  }
};

template <int kRow>
struct Pointwise : PointwiseState {
  const char* prepare(PrepareArgs& args) { return PointwiseState::prepare(args, kRow); }
};

}  // namespace

const PointwiseRow& pointwise_row(int row) noexcept {
  return kRows[row];
}

PointwiseLoop pointwise_loop(int row, Compute c) noexcept {
  if (c == Compute::none) return nullptr;
  return c == Compute::f32 || c == Compute::f64 ? pointwise_real_loop(row, c)
                                                : pointwise_integer_loop(row, c);
}

Compute check_pointwise_types(Checker& c, int row, const DType* operands, DType result) {
  const PointwiseRow& r = kRows[row];
  const int first = r.group == 'W' ? 1 : 0;
  const DType t = operands[first];
  for (int i = first + 1; i < r.arity; ++i)
    c.require(operands[i] == t, "operands %d and %d of %s have types %s and %s; expected one type",
              first, i, r.name, dtype_name(t), dtype_name(operands[i]));
  const bool integer = is_integer(t);
  bool good = compute_of(t) != Compute::none;
  DType expected = t;
  const char* kinds = "a number or bool";
  switch (r.group) {
    case 'F':
      good = is_real(t);
      kinds = "a float";
      break;
    case 'A':
      good = good && t != DType::boolean;
      kinds = "a number";
      break;
    case 'I':
      good = integer;
      kinds = "an integer";
      break;
    case 'C':
      expected = DType::boolean;
      break;
    case 'P':
      good = is_real(t);
      expected = DType::boolean;
      kinds = "a float";
      break;
    case 'L':
      good = t == DType::boolean;
      kinds = "bool";
      break;
    default:
      c.require(operands[0] == DType::boolean, "operand 0 of %s has type %s; expected bool", r.name,
                dtype_name(operands[0]));
  }
  c.require(good, "operand %d of %s has type %s; expected %s", first, r.name, dtype_name(t), kinds);
  c.require(result == expected, "the result of %s has type %s; expected %s", r.name,
            dtype_name(result), dtype_name(expected));
  return compute_of(t);
}

double bind_parameter(DType t, double value) noexcept {
  if (!is_integer(t)) return value;
  const int width = bits(t);
  const bool is_signed = is_signed_integer(t);
  const double high = std::ldexp(1.0, is_signed ? width - 1 : width);
  if (std::isnan(value)) return 0;
  // 2^width itself is above the range, but to_i64 and to_u64 bring 64-bit limits back into it.
  return std::clamp(value, is_signed ? -high : 0.0, width == 64 ? high : high - 1);
}

#define FRIT_PW(name, arity, group, attr0, attr1, expression) \
  const Kernel pointwise_##name##_kernel = make_kernel<Pointwise<kPw_##name>>("ref." #name);
#include "kernels/common/pointwise.def"
#undef FRIT_PW

}  // namespace frit::kernels::ref
