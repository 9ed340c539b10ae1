// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/text_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "kernels/common/scalar.h"

namespace frit::ir::text {
namespace {

const char* kind_name(AttrKind kind) {
  switch (kind) {
    case AttrKind::integer:
      return "an integer or an element type";
    case AttrKind::real:
      return "a number";
    case AttrKind::text:
      return "a text in quotes";
    case AttrKind::integers:
      return "a list of integers in [ ]";
    case AttrKind::reals:
      return "a list of numbers in [ ]";
    case AttrKind::tensor:
      return "a tensor, such as f32[2] dense<1, 2>";
  }
  return "a value";
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

AttrValue ValueReader::attribute(const AttrDef& def) {
  const char* what = kind_name(def.kind);
  switch (def.kind) {
    case AttrKind::integer:
      return integer_or_dtype();
    case AttrKind::real:
      return c_.need_number(what).real;
    case AttrKind::text:
      return c_.need_quoted(what);
    case AttrKind::integers:
    case AttrKind::reals:
      return list(def);
    case AttrKind::tensor:
      return tensor();
  }
  c_.refuse(what);
}

std::int64_t ValueReader::integer_or_dtype() {
  const std::size_t start = c_.position();
  const std::string_view word = c_.word();
  if (word.empty()) return c_.need_integer(kind_name(AttrKind::integer));
  const DType dtype = dtype_from_name(word);
  if (dtype == DType::undefined)
    c_.refuse_at(start, fmt::format("expected {}, found '{}'", kind_name(AttrKind::integer), word));
  return static_cast<std::int64_t>(dtype);
}

AttrValue ValueReader::list(const AttrDef& def) {
  const bool real = def.kind == AttrKind::reals;
  if (real) c_.take_word("reals");
  c_.need('[', kind_name(def.kind));
  Ints ints;
  Reals reals;
  while (!c_.take(']')) {
    if (!ints.empty() || !reals.empty()) c_.need(',', "',' or ']' in a list");
    if (real)
      reals.push_back(c_.need_number("a number in a list").real);
    else
      ints.push_back(c_.need_integer("an integer in a list"));
  }
  if (real) return reals;
  return ints;
}

Tensor ValueReader::tensor() {
  const std::size_t start = c_.position();
  const std::string_view name = c_.word();
  const DType dtype = dtype_from_name(name);
  if (dtype == DType::undefined)
    c_.refuse_at(start, fmt::format("expected the element type of a tensor, found '{}'", name));
  c_.need('[', "'[' and the sizes of a tensor");
  std::vector<std::int64_t> dims;
  while (!c_.take(']')) {
    if (!dims.empty()) c_.need(',', "',' or ']' after a size");
    dims.push_back(c_.need_integer("a size"));
  }
  const auto count = frit::element_count(std::span<const std::int64_t>(dims));
  if (!count.ok()) c_.refuse_at(start, count.status().message());
  const std::uint64_t bytes = storage_bytes(dtype, *count);
  if (c_.take_word("hex")) return hex(dtype, std::move(dims), bytes);
  if (!c_.take_word("dense")) c_.refuse("dense<…> or hex\"…\" with the contents of a tensor");
  if (!is_storable(dtype))
    c_.refuse_at(start, "expected contents as hex\"\": elements of this type have no fixed size");
  return dense(dtype, std::move(dims), bytes);
}

Tensor ValueReader::hex(DType dtype, std::vector<std::int64_t> dims, std::uint64_t bytes) {
  c_.need('"', "'\"' after hex");
  const std::size_t start = c_.position();
  const std::string_view digits = c_.need_raw_until_quote();
  if (digits.size() % 2 != 0 || digits.size() / 2 != bytes)
    c_.refuse_at(start, fmt::format("expected {} bytes as pairs of hexadecimal digits, found {} "
                                    "characters",
                                    bytes, digits.size()));
  Tensor tensor(dtype, std::move(dims));
  auto* out = static_cast<unsigned char*>(tensor.mutable_data());
  for (std::size_t i = 0; i < bytes; ++i) {
    const int high = hex_digit(digits[2 * i]), low = hex_digit(digits[2 * i + 1]);
    if (high < 0 || low < 0) c_.refuse_at(start + 2 * i, "expected two hexadecimal digits");
    out[i] = static_cast<unsigned char>(16 * high + low);
  }
  return tensor;
}

Tensor ValueReader::dense(DType dtype, std::vector<std::int64_t> dims, std::uint64_t bytes) {
  c_.need('<', "'<' after dense");
  const std::size_t start = c_.position();
  const std::uint64_t count = *frit::element_count(std::span<const std::int64_t>(dims));
  if (count == 0) {
    c_.need('>', "'>': the tensor has no elements");
    return Tensor(dtype, std::move(dims));
  }
  std::array<std::byte, 16> first{};
  element(dtype, first.data(), 0);
  if (count > 1 && c_.peek() == '>') {
    c_.need('>', "'>'");
    return splat(dtype, std::move(dims), bytes, first.data(), start);
  }
  // Each further element takes two characters at least, so the text pays for the memory.
  if (count - 1 > c_.remaining() / 2)
    c_.refuse_at(start, fmt::format("expected {} elements (or one for all), found fewer", count));
  Tensor tensor(dtype, std::move(dims));
  const int parts = components(dtype);
  for (int p = 0; p < parts; ++p)
    store_bits(component_type(dtype), tensor.mutable_data(), p,
               load_bits(component_type(dtype), first.data(), p));
  for (std::uint64_t i = 1; i < count; ++i) {
    c_.need(',', "',' and the next element of the tensor");
    element(dtype, tensor.mutable_data(), static_cast<std::int64_t>(i));
  }
  c_.need('>', "'>' after the last element");
  return tensor;
}

Tensor ValueReader::splat(DType dtype, std::vector<std::int64_t> dims, std::uint64_t bytes,
                          const std::byte* element, std::size_t position) {
  if (bytes > splat_budget_)
    c_.refuse_at(position,
                 fmt::format("expected repeated elements of at most {} bytes in one text, found {} "
                             "more; write the contents as hex\"…\"",
                             kSplatBudget, bytes));
  splat_budget_ -= bytes;
  Tensor tensor(dtype, std::move(dims));
  auto* out = static_cast<std::byte*>(tensor.mutable_data());
  const int bits = dtype_bits(dtype);
  if (bits >= 8) {
    const auto size = static_cast<std::size_t>(bits) / 8;
    for (std::size_t at = 0; at < tensor.bytes(); at += size) std::memcpy(out + at, element, size);
    return tensor;
  }
  std::array<std::byte, 1> pattern{};
  const std::uint64_t value = load_bits(dtype, element, 0);
  for (int i = 0; i < 8 / bits; ++i) store_bits(dtype, pattern.data(), i, value);
  std::memset(out, static_cast<int>(pattern[0]), tensor.bytes());
  // Unused bits of the last byte stay zero, as in a list.
  for (std::int64_t i = tensor.count(); i % (8 / bits) != 0; ++i) store_bits(dtype, out, i, 0);
  return tensor;
}

void ValueReader::element(DType dtype, void* data, std::int64_t i) {
  if (components(dtype) == 1) return component(dtype, data, i);
  c_.need('(', "'(' and a complex element");
  component(component_type(dtype), data, 2 * i);
  c_.need(',', "',' and the imaginary part");
  component(component_type(dtype), data, 2 * i + 1);
  c_.need(')', "')' after a complex element");
}

void ValueReader::component(DType dtype, void* data, std::int64_t i) {
  const int bits = component_bits(dtype);
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  const std::size_t start = c_.position();
  if (c_.peek() == '0' && c_.peek_second() == 'x') {
    const std::uint64_t value = c_.need_bits("an element");
    if (value > all)
      c_.refuse_at(start, fmt::format("expected {} bits for an element of {}, found more", bits,
                                      dtype_name(dtype)));
    return store_bits(dtype, data, i, value);
  }
  if (dtype == DType::boolean && (c_.at_word("true") || c_.at_word("false")))
    return store_bits(dtype, data, i, c_.word() == "true" ? 1 : 0);
  if (is_float(dtype)) return float_component(dtype, data, i);
  const Number number = c_.need_number("an element of a tensor");
  const bool is_signed = is_signed_int(dtype);
  const std::uint64_t most = dtype == DType::boolean ? 1
                             : !is_signed            ? all
                             : number.negative       ? (all >> 1) + 1
                                                     : all >> 1;
  const bool sign_fits = is_signed || !number.negative || number.magnitude == 0;
  if (!number.integer || number.magnitude > most || !sign_fits)
    c_.refuse_at(start, fmt::format("expected an element that {} can hold", dtype_name(dtype)));
  store_bits(dtype, data, i, (number.negative ? 0 - number.magnitude : number.magnitude) & all);
}

void ValueReader::float_component(DType dtype, void* data, std::int64_t i) {
  const std::size_t start = c_.position();
  const double value = c_.need_number("an element of a tensor").real;
  std::array<std::byte, 16> scratch{};
  kernels::store_f64(dtype, scratch.data(), 0, value);
  const double stored = kernels::load_f64(dtype, scratch.data(), 0);
  if (std::isfinite(value) != std::isfinite(stored) || std::isnan(value) != std::isnan(stored))
    c_.refuse_at(start, fmt::format("expected an element that {} can hold, found {}",
                                    dtype_name(dtype), value));
  store_bits(dtype, data, i, load_bits(dtype, scratch.data(), 0));
}

}  // namespace frit::ir::text
