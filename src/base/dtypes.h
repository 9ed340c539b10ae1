// SPDX-License-Identifier: Apache-2.0
// Facts about element types, and sizes computed without overflow.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "frit/types.h"

namespace frit {

/// Short name, as the IR prints it ("f32", "bool", "f8e4m3fn"); "undefined" for anything unknown.
const char* dtype_name(DType dtype) noexcept;

/// The type of that name, or undefined.
DType dtype_from_name(std::string_view name) noexcept;

/// Bits of one element (4 for i4); 0 for string and undefined.
int dtype_bits(DType dtype) noexcept;

bool is_float(DType dtype) noexcept;  ///< any real floating type, float8 and float4 included
bool is_signed_int(DType dtype) noexcept;
bool is_unsigned_int(DType dtype) noexcept;
inline bool is_int(DType dtype) noexcept {
  return is_signed_int(dtype) || is_unsigned_int(dtype);
}
/// A value of the enumeration with elements of fixed size.
inline bool is_storable(DType dtype) noexcept {
  return dtype_bits(dtype) != 0;
}

/// Largest element count or byte size accepted anywhere, far below 64-bit overflow.
inline constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 48;

/// Product of `dims` (1 for rank 0). Errors: negative dims, or more than 2^48.
Result<std::uint64_t> element_count(std::span<const std::int64_t> dims) noexcept;

/// Bytes of a dense tensor; types below 8 bits are packed and rounded up to whole bytes.
Result<std::uint64_t> storage_bytes(DType dtype, std::span<const std::int64_t> dims) noexcept;

/// Bytes of `count` elements, rounded up; no overflow for count <= 2^48.
std::uint64_t storage_bytes(DType dtype, std::uint64_t count) noexcept;

/// Rounds up to a multiple of `alignment`, a power of two.
constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) & ~(alignment - 1);
}

}  // namespace frit
