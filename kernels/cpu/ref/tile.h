// SPDX-License-Identifier: Apache-2.0
// Tiles: short dense arrays in one of four compute types, through which the element-wise reference
// kernels see every element type.
#pragma once

#include <cstdint>

#include "kernels/common/scalar.h"
#include "kernels/cpu/ref/checker.h"

namespace frit::kernels::ref {

/// What elements of a type are computed in: floats below 64 bits in f32, signed integers in i64,
/// unsigned ones and bool in u64. `none` stands for types without arithmetic here (complex,
/// string).
enum class Compute : std::uint8_t { f32, f64, i64, u64, none };

Compute compute_of(DType t) noexcept;

/// Any real floating type, f8e8m0 and f4e2m1 included.
bool is_real(DType t) noexcept;

/// Elements of a tile; a multiple of 8, so that tiles of packed types begin on whole bytes.
inline constexpr std::int64_t kTile = 512;

/// Room for one tile of any compute type.
struct alignas(64) TileBuffer {
  std::byte bytes[kTile * 8];
};

/// Reads n elements from element `index` on into T (float, double, std::int64_t or std::uint64_t).
/// Floats read as integers go towards zero; integers wrap.
template <class T>
void load_run(DType t, const void* data, std::int64_t index, std::int64_t n, T* dst);

/// Writes n elements from element `index` on; `index` must be on a whole byte. Floats round to
/// nearest even and go towards zero into integers, integers wrap. Padding bits of the last byte
/// become 0.
template <class T>
void store_run(DType t, const T* src, void* data, std::int64_t index, std::int64_t n,
               Overflow mode = Overflow::natural);

/// load_run and store_run with T = compute_of(t).
void load_tile(DType t, const void* data, std::int64_t index, std::int64_t n, void* dst);
void store_tile(DType t, const void* src, void* data, std::int64_t index, std::int64_t n);

/// True if a tile of `t` is stored as it is computed, so that it can be used in place.
bool is_native_tile(DType t) noexcept;

/// Sets all n elements of a tile of type c to its first one.
void fill_tile(Compute c, void* tile, std::int64_t n);

/// Rounds or wraps the elements of a tile to what the type `t` can hold.
void narrow_tile(DType t, void* tile, std::int64_t n);

/// Attributes of a cast.
struct CastMode {
  Overflow overflow = Overflow::saturate;
  Rounding rounding = Rounding::nearest;
};

/// Tile of `from` to tile of `to`, which still needs narrow_tile or store_tile.
void cast_tile(DType from, DType to, CastMode mode, const void* src, void* dst, std::int64_t n);

/// How an operand that broadcasts is read in the element order of the result.
class BroadcastView {
 public:
  /// Checks that operand i broadcasts to `result` and remembers how.
  bool plan(Checker& c, int i, const Dims& result);

  DType dtype() const { return dtype_; }
  /// The operand has the elements of the result in the same order.
  bool dense() const { return axes_ == 0 || (axes_ == 1 && strides_[0] == 1); }

  /// Elements [begin, begin + n) of the result's order, n <= kTile: in `buffer`, or in place.
  const void* tile(const void* data, std::int64_t begin, std::int64_t n, TileBuffer& buffer) const;

 private:
  DType dtype_ = DType::undefined;
  int axes_ = 0;  // axes of the result, merged where the operand allows
  std::int64_t dims_[kMaxRank] = {};
  std::int64_t strides_[kMaxRank] = {};
};

}  // namespace frit::kernels::ref
