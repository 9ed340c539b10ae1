// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/tile.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace frit::kernels::ref {
namespace {

using std::int64_t;
using std::uint64_t;

/// One number as T, under the rules of load_run and store_run.
template <class T, class S>
T convert(S v) {
  if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
    const auto d = static_cast<double>(v);
    if constexpr (std::is_same_v<T, uint64_t>)
      return to_u64(d);
    else if constexpr (std::is_same_v<T, std::int32_t>)
      return static_cast<T>(encode(DType::i32, d));
    else if constexpr (std::is_same_v<T, std::uint32_t>)
      return static_cast<T>(encode(DType::u32, d));
    else
      return static_cast<T>(to_i64(d));
  } else {
    return static_cast<T>(v);
  }
}

template <class T>
T from_f32(float v) {
  return convert<T>(v);
}

bool is_packed(DType t) {
  return bits(t) < 8;
}

}  // namespace

Compute compute_of(DType t) noexcept {
  if (t == DType::f64) return Compute::f64;
  if (is_real(t)) return Compute::f32;
  if (is_signed_integer(t)) return Compute::i64;
  return is_integer(t) || t == DType::boolean ? Compute::u64 : Compute::none;
}

bool is_real(DType t) noexcept {
  return is_float(t) || t == DType::f8e8m0 || t == DType::f4e2m1;
}

template <class T>
void load_run(DType t, const void* data, int64_t index, int64_t n, T* dst) {
  if (t == DType::boolean) {
    const auto* s = static_cast<const std::uint8_t*>(data) + index;
    for (int64_t i = 0; i < n; ++i) dst[i] = static_cast<T>(s[i] != 0 ? 1 : 0);
    return;
  }
  const bool native = visit_dtype(t, [&](auto e) {
    const auto* s = static_cast<const decltype(e)*>(data) + index;
    for (int64_t i = 0; i < n; ++i) dst[i] = convert<T>(s[i]);
  });
  if (native) return;
  if (t == DType::f16 || t == DType::bf16) {
    const auto* s = static_cast<const std::uint16_t*>(data) + index;
    if (t == DType::f16)
      for (int64_t i = 0; i < n; ++i) dst[i] = from_f32<T>(f16_to_f32(s[i]));
    else
      for (int64_t i = 0; i < n; ++i) dst[i] = from_f32<T>(bf16_to_f32(s[i]));
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      dst[i] = static_cast<T>(load_f64(t, data, index + i));
    else
      dst[i] = static_cast<T>(load_i64(t, data, index + i));
  }
}

template <class T>
void store_run(DType t, const T* src, void* data, int64_t index, int64_t n, Overflow mode) {
  if (t == DType::boolean) {
    auto* d = static_cast<std::uint8_t*>(data) + index;
    for (int64_t i = 0; i < n; ++i) d[i] = src[i] != 0 ? 1 : 0;
    return;
  }
  const bool native = visit_dtype(t, [&](auto e) {
    auto* d = static_cast<decltype(e)*>(data) + index;
    for (int64_t i = 0; i < n; ++i) d[i] = convert<decltype(e)>(src[i]);
  });
  if (native) return;
  if constexpr (std::is_same_v<T, float>) {
    if (mode == Overflow::natural && (t == DType::f16 || t == DType::bf16)) {
      auto* d = static_cast<std::uint16_t*>(data) + index;
      if (t == DType::f16)
        for (int64_t i = 0; i < n; ++i) d[i] = f32_to_f16(src[i]);
      else
        for (int64_t i = 0; i < n; ++i) d[i] = f32_to_bf16(src[i]);
      return;
    }
  }
  if (is_packed(t))
    std::memset(static_cast<char*>(data) + index * bits(t) / 8, 0, storage_bytes(t, n));
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      store_f64(t, data, index + i, static_cast<double>(src[i]), mode);
    else if (is_real(t))
      store_f64(t, data, index + i, static_cast<double>(src[i]), mode);
    else
      store_bits(t, data, index + i, static_cast<uint64_t>(src[i]));
  }
}

#define FRIT_RUN(T)                                                    \
  template void load_run<T>(DType, const void*, int64_t, int64_t, T*); \
  template void store_run<T>(DType, const T*, void*, int64_t, int64_t, Overflow);
FRIT_RUN(float)
FRIT_RUN(double)
FRIT_RUN(int64_t)
FRIT_RUN(uint64_t)
#undef FRIT_RUN

void load_tile(DType t, const void* data, int64_t index, int64_t n, void* dst) {
  switch (compute_of(t)) {
    case Compute::f32:
      return load_run(t, data, index, n, static_cast<float*>(dst));
    case Compute::f64:
      return load_run(t, data, index, n, static_cast<double*>(dst));
    case Compute::i64:
      return load_run(t, data, index, n, static_cast<int64_t*>(dst));
    default:
      return load_run(t, data, index, n, static_cast<uint64_t*>(dst));
  }
}

void store_tile(DType t, const void* src, void* data, int64_t index, int64_t n) {
  switch (compute_of(t)) {
    case Compute::f32:
      return store_run(t, static_cast<const float*>(src), data, index, n);
    case Compute::f64:
      return store_run(t, static_cast<const double*>(src), data, index, n);
    case Compute::i64:
      return store_run(t, static_cast<const int64_t*>(src), data, index, n);
    default:
      return store_run(t, static_cast<const uint64_t*>(src), data, index, n);
  }
}

bool is_native_tile(DType t) noexcept {
  return t == DType::f32 || t == DType::f64 || t == DType::i64 || t == DType::u64;
}

void fill_tile(Compute c, void* tile, int64_t n) {
  if (c == Compute::f32) {
    auto* p = static_cast<float*>(tile);
    std::fill_n(p, n, *p);
  } else {
    auto* p = static_cast<uint64_t*>(tile);
    std::fill_n(p, n, *p);
  }
}

void narrow_tile(DType t, void* tile, int64_t n) {
  if (is_native_tile(t) || t == DType::boolean) return;
  const int width = bits(t);
  auto* f = static_cast<float*>(tile);
  auto* s = static_cast<int64_t*>(tile);
  auto* u = static_cast<uint64_t*>(tile);
  switch (compute_of(t)) {
    case Compute::f32:
      for (int64_t i = 0; i < n; ++i) {
        if (t == DType::f16)
          f[i] = f16_to_f32(f32_to_f16(f[i]));
        else if (t == DType::bf16)
          f[i] = bf16_to_f32(f32_to_bf16(f[i]));
        else if (t == DType::f8e8m0)
          f[i] = decode_e8m0(encode_e8m0(static_cast<double>(f[i])));
        else
          f[i] =
              decode_small(encode_small(static_cast<double>(f[i]), small_float(t)), small_float(t));
      }
      break;
    case Compute::i64:
      for (int64_t i = 0; i < n; ++i) s[i] = sign_extend(static_cast<uint64_t>(s[i]), width);
      break;
    default:
      for (int64_t i = 0; i < n; ++i) u[i] &= (uint64_t{1} << width) - 1;
  }
}

namespace {

/// Rounds straight from S to a float type of at most 16 bits, and back to f32.
template <class S>
void cast_to_small(DType to, CastMode mode, const S* src, float* dst, int64_t n) {
  if (to == DType::f8e8m0) {
    for (int64_t i = 0; i < n; ++i)
      dst[i] = decode_e8m0(encode_e8m0(static_cast<double>(src[i]), mode.rounding, mode.overflow));
    return;
  }
  // Only the 8-bit floats know saturation; f16 and bf16 overflow to infinity.
  const Overflow overflow = bits(to) == 8 ? mode.overflow : Overflow::natural;
  const SmallFloat f = small_float(to);
  for (int64_t i = 0; i < n; ++i)
    dst[i] = decode_small(encode_small(static_cast<double>(src[i]), f, overflow), f);
}

template <class S>
void cast_from(DType to, CastMode mode, const S* src, void* dst, int64_t n) {
  auto* f32 = static_cast<float*>(dst);
  auto* f64 = static_cast<double*>(dst);
  auto* i64 = static_cast<int64_t*>(dst);
  auto* u64 = static_cast<uint64_t*>(dst);
  if (to == DType::boolean) {
    for (int64_t i = 0; i < n; ++i) u64[i] = src[i] != 0 ? 1 : 0;
  } else if (to == DType::f32 ||
             (std::is_same_v<S, float> && (to == DType::f16 || to == DType::bf16))) {
    for (int64_t i = 0; i < n; ++i) f32[i] = static_cast<float>(src[i]);
  } else if (is_real(to) && to != DType::f64) {
    cast_to_small(to, mode, src, f32, n);
  } else if (to == DType::f64) {
    for (int64_t i = 0; i < n; ++i) f64[i] = static_cast<double>(src[i]);
  } else if (std::is_floating_point_v<S> && (to == DType::i32 || to == DType::u32)) {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t v = encode(to, static_cast<double>(src[i]));
      u64[i] = to == DType::u32 ? v & 0xffffffffu : v;
    }
  } else if (compute_of(to) == Compute::i64) {
    for (int64_t i = 0; i < n; ++i) i64[i] = convert<int64_t>(src[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) u64[i] = convert<uint64_t>(src[i]);
  }
}

}  // namespace

void cast_tile(DType from, DType to, CastMode mode, const void* src, void* dst, int64_t n) {
  switch (compute_of(from)) {
    case Compute::f32:
      return cast_from(to, mode, static_cast<const float*>(src), dst, n);
    case Compute::f64:
      return cast_from(to, mode, static_cast<const double*>(src), dst, n);
    case Compute::i64:
      return cast_from(to, mode, static_cast<const int64_t*>(src), dst, n);
    default:
      return cast_from(to, mode, static_cast<const uint64_t*>(src), dst, n);
  }
}

bool BroadcastView::plan(Checker& c, int i, const Dims& result) {
  dtype_ = c.in(i).dtype;
  const Dims d = c.dims_in(i);
  if (!c.require(d.rank <= result.rank, "operand %d has rank %d, more than the result's %d", i,
                 d.rank, result.rank))
    return false;
  const int lead = result.rank - d.rank;
  int64_t stride = 1;
  // From the innermost axis out; axes_ counts in that order and is reversed at the end.
  for (int a = result.rank - 1; a >= 0; --a) {
    const int64_t dim = a >= lead ? d[a - lead] : 1;
    if (!c.require(dim == result[a] || dim == 1,
                   "operand %d has dim %lld on axis %d, which does not broadcast to the result's "
                   "%lld",
                   i, static_cast<long long>(dim), a - lead, static_cast<long long>(result[a])))
      return false;
    if (result[a] == 1) continue;
    const int64_t step = dim == 1 ? 0 : stride;
    const int outer = axes_ - 1;
    if (axes_ > 0 && step == strides_[outer] * dims_[outer] &&
        (step != 0) == (strides_[outer] != 0)) {
      dims_[outer] *= result[a];
    } else {
      dims_[axes_] = result[a];
      strides_[axes_++] = step;
    }
    stride *= dim;
  }
  std::reverse(dims_, dims_ + axes_);
  std::reverse(strides_, strides_ + axes_);
  return true;
}

const void* BroadcastView::tile(const void* data, int64_t begin, int64_t n,
                                TileBuffer& buffer) const {
  if (dense()) {
    if (is_native_tile(dtype_)) return static_cast<const char*>(data) + begin * (bits(dtype_) / 8);
    load_tile(dtype_, data, begin, n, buffer.bytes);
    return buffer.bytes;
  }
  const Compute compute = compute_of(dtype_);
  const int64_t width = compute == Compute::f32 ? 4 : 8;
  int64_t index[kMaxRank];
  int64_t source = 0;
  int64_t rest = begin;
  for (int a = axes_ - 1; a >= 0; --a) {
    index[a] = rest % dims_[a];
    rest /= dims_[a];
    source += index[a] * strides_[a];
  }
  const int last = axes_ - 1;
  for (int64_t at = 0; at < n;) {
    const int64_t count = std::min(n - at, dims_[last] - index[last]);
    std::byte* to = buffer.bytes + at * width;
    load_tile(dtype_, data, source, strides_[last] == 0 ? 1 : count, to);
    if (strides_[last] == 0) fill_tile(compute, to, count);
    at += count;
    if (at == n) break;
    source -= index[last] * strides_[last];
    index[last] = 0;
    for (int a = last - 1; a >= 0; --a) {
      source += strides_[a];
      if (++index[a] < dims_[a]) break;
      source -= strides_[a] * dims_[a];
      index[a] = 0;
    }
  }
  return buffer.bytes;
}

}  // namespace frit::kernels::ref
