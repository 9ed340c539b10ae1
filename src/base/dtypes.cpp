// SPDX-License-Identifier: Apache-2.0
#include "base/dtypes.h"

namespace frit {
namespace {

enum class Class : std::uint8_t { other, real, signed_int, unsigned_int };

struct Facts {
  const char* name;
  std::uint8_t bits;
  Class kind;
};

// Indexed by DType.
constexpr Facts kFacts[kDTypeCount] = {
    {"undefined", 0, Class::other},   {"f32", 32, Class::real},
    {"u8", 8, Class::unsigned_int},   {"i8", 8, Class::signed_int},
    {"u16", 16, Class::unsigned_int}, {"i16", 16, Class::signed_int},
    {"i32", 32, Class::signed_int},   {"i64", 64, Class::signed_int},
    {"string", 0, Class::other},      {"bool", 8, Class::other},
    {"f16", 16, Class::real},         {"f64", 64, Class::real},
    {"u32", 32, Class::unsigned_int}, {"u64", 64, Class::unsigned_int},
    {"c64", 64, Class::other},        {"c128", 128, Class::other},
    {"bf16", 16, Class::real},        {"f8e4m3fn", 8, Class::real},
    {"f8e4m3fnuz", 8, Class::real},   {"f8e5m2", 8, Class::real},
    {"f8e5m2fnuz", 8, Class::real},   {"u4", 4, Class::unsigned_int},
    {"i4", 4, Class::signed_int},     {"f4e2m1", 4, Class::real},
    {"f8e8m0", 8, Class::real},       {"u2", 2, Class::unsigned_int},
    {"i2", 2, Class::signed_int},
};

const Facts& facts(DType dtype) noexcept {
  const auto index = static_cast<unsigned>(dtype);
  return kFacts[index < kDTypeCount ? index : 0];
}

}  // namespace

const char* dtype_name(DType dtype) noexcept {
  return facts(dtype).name;
}

DType dtype_from_name(std::string_view name) noexcept {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == kFacts[i].name) return static_cast<DType>(i);
  return DType::undefined;
}

int dtype_bits(DType dtype) noexcept {
  return facts(dtype).bits;
}
bool is_float(DType dtype) noexcept {
  return facts(dtype).kind == Class::real;
}
bool is_signed_int(DType dtype) noexcept {
  return facts(dtype).kind == Class::signed_int;
}
bool is_unsigned_int(DType dtype) noexcept {
  return facts(dtype).kind == Class::unsigned_int;
}

Result<std::uint64_t> element_count(std::span<const std::int64_t> dims) noexcept {
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0)
      return Status::error(Code::invalid_argument, "dims: expected numbers >= 0, found %lld",
                           static_cast<long long>(dim));
    empty = empty || dim == 0;
  }
  if (empty) return std::uint64_t{0};
  std::uint64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (static_cast<std::uint64_t>(dim) > kMaxBytes / count)
      return Status::error(Code::invalid_argument,
                           "dims: expected at most 2^48 elements, found more (a dim is %lld)",
                           static_cast<long long>(dim));
    count *= static_cast<std::uint64_t>(dim);
  }
  return count;
}

std::uint64_t storage_bytes(DType dtype, std::uint64_t count) noexcept {
  return (count * facts(dtype).bits + 7) / 8;
}

Result<std::uint64_t> storage_bytes(DType dtype, std::span<const std::int64_t> dims) noexcept {
  if (!is_storable(dtype))
    return Status::error(Code::unsupported,
                         "element type: expected one of fixed size, found %s (number %d)",
                         dtype_name(dtype), static_cast<int>(dtype));
  const Result<std::uint64_t> count = element_count(dims);
  FRIT_TRY(count);
  const std::uint64_t bytes = storage_bytes(dtype, *count);
  if (bytes > kMaxBytes)
    return Status::error(Code::invalid_argument, "tensor: expected at most 2^48 bytes, found %llu",
                         static_cast<unsigned long long>(bytes));
  return bytes;
}

}  // namespace frit
