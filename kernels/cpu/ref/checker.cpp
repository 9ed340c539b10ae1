// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/checker.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "kernels/common/scalar.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// Most elements of a tensor, empty axes counted as 1, so that no product of its dims, element
/// widths and small factors can overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

constexpr const char* kNames[kDTypeCount] = {
    "undefined",  "f32",    "u8",         "i8",  "u16", "i16",    "i32",    "i64",  "string",
    "boolean",    "f16",    "f64",        "u32", "u64", "c64",    "c128",   "bf16", "f8e4m3fn",
    "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4",  "i4",  "f4e2m1", "f8e8m0", "u2",   "i2"};

}  // namespace

const TensorDesc Checker::kAbsent = {};

int dtype_bits(DType t) noexcept {
  return bits(t);
}

const char* dtype_name(DType t) noexcept {
  const auto i = static_cast<std::size_t>(t);
  return i < kDTypeCount ? kNames[i] : "unknown";
}

bool is_float(DType t) noexcept {
  switch (t) {
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
      return true;
    default:
      return false;
  }
}

bool is_signed_integer(DType t) noexcept {
  return t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64 ||
         t == DType::i4 || t == DType::i2;
}

bool is_integer(DType t) noexcept {
  return is_signed_integer(t) || t == DType::u8 || t == DType::u16 || t == DType::u32 ||
         t == DType::u64 || t == DType::u4 || t == DType::u2;
}

bool Dims::operator==(const Dims& other) const {
  return rank == other.rank && std::equal(d, d + rank, other.d);
}

Dims Checker::dims_of(const TensorDesc& t) {
  Dims r;
  if (t.rank < 0 || t.rank > kMaxRank || (t.dims == nullptr && t.rank > 0)) return r;
  r.rank = t.rank;
  std::copy_n(t.dims, t.rank, r.d);
  return r;
}

bool Checker::require(bool ok, const char* format, ...) {
  if (ok || error_ != nullptr) return error_ == nullptr;
  if (args_.message.empty()) {
    error_ = "the step does not fit this kernel";
    return false;
  }
  const int used = std::snprintf(args_.message.data(), args_.message.size(), "%s: ", op_);
  const auto skip = std::min(static_cast<std::size_t>(std::max(used, 0)), args_.message.size() - 1);
  std::va_list list;
  va_start(list, format);
  std::vsnprintf(args_.message.data() + skip, args_.message.size() - skip, format, list);
  va_end(list);
  error_ = args_.message.data();
  return false;
}

bool Checker::tensor(const char* what, int index, const TensorDesc& t) {
  const int width = bits(t.dtype);
  if (!require(width != 0, "%s %d has type code %d, which no kernel handles", what, index,
               static_cast<int>(t.dtype)) ||
      !require(t.rank >= 0 && t.rank <= kMaxRank && (t.dims != nullptr || t.rank == 0),
               "%s %d has rank %d; the limit is %d", what, index, static_cast<int>(t.rank),
               kMaxRank))
    return false;
  int64_t elements = 1;
  int64_t bounded = 1;
  for (int a = 0; a < t.rank; ++a) {
    const int64_t d = t.dims[a];
    if (!require(d >= 0 && std::max<int64_t>(d, 1) <= kMaxElements / bounded,
                 "%s %d has dim %lld on axis %d, which is negative or makes the tensor too large",
                 what, index, static_cast<long long>(d), a))
      return false;
    bounded *= std::max<int64_t>(d, 1);
    elements *= d;
  }
  if (t.strides != nullptr && elements > 0) {
    int64_t dense = 1;
    for (int a = t.rank - 1; a >= 0; dense *= t.dims[a--])
      if (!require(t.dims[a] == 1 || t.strides[a] == dense,
                   "%s %d has stride %lld on axis %d; reference kernels take dense tensors only "
                   "(expected %lld)",
                   what, index, static_cast<long long>(t.strides[a]), a,
                   static_cast<long long>(dense)))
        return false;
  }
  const auto need = (static_cast<std::uint64_t>(elements) * static_cast<unsigned>(width) + 7) / 8;
  return require(t.bytes >= need, "%s %d has %llu bytes of storage; its dims need %llu", what,
                 index, static_cast<unsigned long long>(t.bytes),
                 static_cast<unsigned long long>(need));
}

bool Checker::tensors(int required_in, int max_in, int required_out, int max_out) {
  if (!require(in_count() >= required_in && in_count() <= max_in,
               "expected %d to %d operands, found %d", required_in, max_in, in_count()) ||
      !require(out_count() >= required_out && out_count() <= max_out,
               "expected %d to %d results, found %d", required_out, max_out, out_count()))
    return false;
  for (int i = 0; i < in_count() && ok(); ++i) {
    require(i >= required_in || in(i).present(), "operand %d is required but absent", i);
    if (ok() && in(i).present()) tensor("operand", i, in(i));
  }
  for (int i = 0; i < out_count() && ok(); ++i) {
    require(i >= required_out || out(i).present(), "result %d is required but absent", i);
    if (ok() && out(i).present()) tensor("result", i, out(i));
  }
  return ok();
}

bool Checker::dtype_in(int i, DType t) {
  return require(in(i).dtype == t, "operand %d has type %s; expected %s", i,
                 dtype_name(in(i).dtype), dtype_name(t));
}

bool Checker::dtype_out(int i, DType t) {
  return require(out(i).dtype == t, "result %d has type %s; expected %s", i,
                 dtype_name(out(i).dtype), dtype_name(t));
}

bool Checker::shape_in(int i, std::initializer_list<int64_t> dims) {
  const Dims found = dims_in(i);
  if (!require(found.rank == static_cast<int>(dims.size()), "operand %d has rank %d; expected %d",
               i, found.rank, static_cast<int>(dims.size())))
    return false;
  int axis = 0;
  for (int64_t d : dims) {
    require(found[axis] == d, "operand %d has dim %lld on axis %d; expected %lld", i,
            static_cast<long long>(found[axis]), axis, static_cast<long long>(d));
    ++axis;
  }
  return ok();
}

bool Checker::shape_out(int i, const Dims& dims) {
  const Dims found = dims_out(i);
  if (!require(found.rank == dims.rank, "result %d has rank %d; expected %d", i, found.rank,
               dims.rank))
    return false;
  for (int a = 0; a < dims.rank; ++a)
    require(found[a] == dims[a], "result %d has dim %lld on axis %d; expected %lld", i,
            static_cast<long long>(found[a]), a, static_cast<long long>(dims[a]));
  return ok();
}

const Attr* Checker::attr(const char* name, Attr::Kind kind, bool required) {
  const Attr* a = args_.find(name);
  if (a == nullptr) {
    require(!required, "attribute '%s' is missing", name);
    return nullptr;
  }
  const bool list = kind == Attr::Kind::integers || kind == Attr::Kind::reals;
  // An empty list may come with either kind of list.
  const bool empty =
      list && a->count == 0 && (a->kind == Attr::Kind::integers || a->kind == Attr::Kind::reals);
  return require(a->kind == kind || empty, "attribute '%s' has the wrong kind (%d; expected %d)",
                 name, static_cast<int>(a->kind), static_cast<int>(kind))
             ? a
             : nullptr;
}

int64_t Checker::integer(const char* name, int64_t low, int64_t high) {
  const Attr* a = attr(name, Attr::Kind::integer, true);
  if (a == nullptr ||
      !require(a->i >= low && a->i <= high, "attribute '%s' is %lld; expected %lld to %lld", name,
               static_cast<long long>(a->i), static_cast<long long>(low),
               static_cast<long long>(high)))
    return low;
  return a->i;
}

int64_t Checker::integer_or(const char* name, int64_t low, int64_t high, int64_t fallback) {
  return has(name) ? integer(name, low, high) : fallback;
}

double Checker::real(const char* name) {
  const Attr* a = attr(name, Attr::Kind::real, true);
  return a == nullptr ? 0 : a->f;
}

double Checker::real_or(const char* name, double fallback) {
  return has(name) ? real(name) : fallback;
}

int Checker::choice(const char* name, std::initializer_list<const char*> words) {
  const Attr* a = attr(name, Attr::Kind::text, true);
  if (a == nullptr) return 0;
  int index = 0;
  for (const char* w : words) {
    if (a->s != nullptr && std::strcmp(a->s, w) == 0) return index;
    ++index;
  }
  require(false, "attribute '%s' is '%.40s', which this op does not know", name,
          a->s != nullptr ? a->s : "");
  return 0;
}

int Checker::choice_or(const char* name, std::initializer_list<const char*> words, int fallback) {
  return has(name) ? choice(name, words) : fallback;
}

bool Checker::integers(const char* name, int count, int64_t low, int64_t high, int64_t* to) {
  const Attr* a = attr(name, Attr::Kind::integers, true);
  if (a == nullptr || !require(a->count == count && (count == 0 || a->ints != nullptr),
                               "attribute '%s' has %d numbers; expected %d", name,
                               static_cast<int>(a->count), count))
    return false;
  for (int i = 0; i < count; ++i) {
    require(a->ints[i] >= low && a->ints[i] <= high,
            "attribute '%s' has %lld at position %d; expected %lld to %lld", name,
            static_cast<long long>(a->ints[i]), i, static_cast<long long>(low),
            static_cast<long long>(high));
    to[i] = a->ints[i];
  }
  return ok();
}

bool Checker::integers_or(const char* name, int count, int64_t low, int64_t high, int64_t fallback,
                          int64_t* to) {
  if (has(name)) return integers(name, count, low, high, to);
  std::fill_n(to, count, fallback);
  return ok();
}

const char* Checker::text(const char* name) {
  const Attr* a = attr(name, Attr::Kind::text, true);
  return a != nullptr && a->s != nullptr ? a->s : "";
}

bool Checker::reals(const char* name, int count, double* to) {
  const Attr* a = attr(name, Attr::Kind::reals, true);
  if (a == nullptr || !require(a->count == count && (count == 0 || a->floats != nullptr),
                               "attribute '%s' has %d numbers; expected %d", name,
                               static_cast<int>(a->count), count))
    return false;
  std::copy_n(a->floats, count, to);
  return ok();
}

std::uint64_t Checker::scratch(std::uint64_t bytes) {
  const std::uint64_t at = args_.workspace;
  require(bytes < std::uint64_t{1} << 50 && at < std::uint64_t{1} << 50,
          "needs %llu bytes of scratch, which is too much", static_cast<unsigned long long>(bytes));
  args_.workspace = at + (bytes + 63) / 64 * 64;
  return at;
}

}  // namespace frit::kernels::ref
