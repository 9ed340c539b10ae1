// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/text_literals.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/dtypes.h"
#include "base/hash.h"
#include "kernels/common/scalar.h"

namespace frit::ir::text {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_hex(std::string& out, std::uint64_t value, int digits) {
  for (int d = digits - 1; d >= 0; --d) out += "0123456789abcdef"[(value >> (4 * d)) & 15u];
}

// Length of the well-formed UTF-8 sequence of two or more bytes at the start of `text`, 0 if none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned lead = byte(0);
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < length; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  return length;
}

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 40> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), error == std::errc() ? end : buffer.data());
}

// A float element: shortest decimal if that reads back to the same bits, else the bits.
void append_float(std::string& out, DType type, std::uint64_t bits) {
  std::array<std::byte, 16> storage{};
  store_bits(type, storage.data(), 0, bits);
  const double value = kernels::load_f64(type, storage.data(), 0);
  std::string decimal;
  if (type == DType::f64)
    append_number(decimal, value);
  else
    append_number(decimal, static_cast<float>(value));
  double back = 0;
  std::from_chars(decimal.data(), decimal.data() + decimal.size(), back);
  std::array<std::byte, 16> again{};
  kernels::store_f64(type, again.data(), 0, back);
  if (!std::isnan(value) && load_bits(type, again.data(), 0) == bits) {
    out += decimal;
  } else {
    out += "0x";
    append_hex(out, bits, (component_bits(type) + 3) / 4);
  }
}

void append_component(std::string& out, const Tensor& tensor, std::int64_t i) {
  const DType type = component_type(tensor.dtype());
  const std::uint64_t bits = load_bits(type, tensor.data(), i);
  if (type == DType::boolean && bits <= 1) {
    out += bits == 1 ? "true" : "false";
  } else if (is_signed_int(type)) {
    const int unused = 64 - component_bits(type);
    append_number(out, static_cast<std::int64_t>(bits << unused) >> unused);
  } else if (is_unsigned_int(type)) {
    append_number(out, bits);
  } else if (is_float(type)) {
    append_float(out, type, bits);
  } else {
    out += "0x";
    append_hex(out, bits, (component_bits(type) + 3) / 4);
  }
}

void append_element(std::string& out, const Tensor& tensor, std::int64_t i) {
  if (components(tensor.dtype()) == 1) return append_component(out, tensor, i);
  out += '(';
  append_component(out, tensor, 2 * i);
  out += ", ";
  append_component(out, tensor, 2 * i + 1);
  out += ')';
}

bool is_splat(const Tensor& tensor) {
  const int bits = dtype_bits(tensor.dtype());
  const auto* bytes = static_cast<const std::byte*>(tensor.data());
  if (bits >= 8) {
    const std::size_t step = static_cast<std::size_t>(bits) / 8;
    return std::memcmp(bytes, bytes + step, tensor.bytes() - step) == 0;
  }
  const std::uint64_t first = load_bits(tensor.dtype(), bytes, 0);
  for (std::int64_t i = 1; i < tensor.count(); ++i)
    if (load_bits(tensor.dtype(), bytes, i) != first) return false;
  return true;
}

// Unused bits of the last byte of a packed tensor are part of its contents; lists cannot say them.
bool has_padding_bits(const Tensor& tensor) {
  const auto used = static_cast<std::uint64_t>(tensor.count()) *
                    static_cast<std::uint64_t>(dtype_bits(tensor.dtype()));
  if (used % 8 == 0) return false;
  const auto last = static_cast<const unsigned char*>(tensor.data())[tensor.bytes() - 1];
  return (last >> (used % 8)) != 0;
}

void append_hex_bytes(std::string& out, const Tensor& tensor) {
  out += "hex\"";
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  out.reserve(out.size() + 2 * tensor.bytes() + 1);
  for (std::size_t i = 0; i < tensor.bytes(); ++i) append_hex(out, bytes[i], 2);
  out += '"';
}

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  return std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '.'; });
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c >= ' ' && c <= '~') {
      out += c;
    } else if (const std::size_t length = utf8_length(text.substr(i)); length != 0) {
      out.append(text.substr(i, length));
      i += length - 1;
    } else {
      out += "\\x";
      append_hex(out, static_cast<unsigned char>(c), 2);
    }
  }
  out += '"';
}

void append_real(std::string& out, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (std::isnan(value)) {
    out += "nan";
    if (bits == std::uint64_t{0x7ff8} << 48) return;
    out += "(0x";
    append_hex(out, bits, 16);
    out += ')';
    return;
  }
  const std::size_t start = out.size();
  append_number(out, value);
  if (out.find_first_of(".ein", start) == std::string::npos) out += ".0";
}

int components(DType dtype) {
  return dtype == DType::c64 || dtype == DType::c128 ? 2 : 1;
}

DType component_type(DType dtype) {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}

int component_bits(DType dtype) {
  return dtype_bits(component_type(dtype));
}

std::uint64_t load_bits(DType dtype, const void* data, std::int64_t i) {
  const int bits = component_bits(dtype);
  const auto* bytes = static_cast<const unsigned char*>(data);
  if (bits < 8) {
    const std::int64_t at = i * bits;
    return (bytes[at / 8] >> (at % 8)) & ((1u << bits) - 1u);
  }
  std::uint64_t value = 0;
  const int size = bits / 8;
  for (int b = 0; b < size; ++b) value |= std::uint64_t{bytes[i * size + b]} << (8 * b);
  return value;
}

void store_bits(DType dtype, void* data, std::int64_t i, std::uint64_t value) {
  const int bits = component_bits(dtype);
  auto* bytes = static_cast<unsigned char*>(data);
  if (bits < 8) {
    const std::int64_t at = i * bits;
    const unsigned mask = ((1u << bits) - 1u) << (at % 8);
    const auto shifted = static_cast<unsigned>(value << (at % 8)) & mask;
    bytes[at / 8] = static_cast<unsigned char>((bytes[at / 8] & ~mask) | shifted);
    return;
  }
  const int size = bits / 8;
  for (int b = 0; b < size; ++b) bytes[i * size + b] = static_cast<unsigned char>(value >> (8 * b));
}

void append_tensor(std::string& out, const Tensor& tensor, std::uint64_t& splat_budget,
                   std::int64_t max_elements) {
  out += dtype_name(tensor.dtype());
  out += '[';
  for (std::size_t d = 0; d < tensor.dims().size(); ++d) {
    if (d > 0) out += ',';
    append_number(out, tensor.dims()[d]);
  }
  out += "] ";
  const std::int64_t count = tensor.count();
  if (max_elements >= 0 && count > max_elements) {
    out += "dense<hash 0x";
    append_hex(out, hash64({static_cast<const std::byte*>(tensor.data()), tensor.bytes()}), 16);
    out += '>';
    return;
  }
  if (!is_storable(tensor.dtype()) || has_padding_bits(tensor))
    return append_hex_bytes(out, tensor);
  const bool splat = count > 4 && tensor.bytes() <= splat_budget && is_splat(tensor);
  if (!splat && count > kMaxListed) return append_hex_bytes(out, tensor);
  if (splat) splat_budget -= tensor.bytes();
  out += "dense<";
  for (std::int64_t i = 0; i < (splat ? 1 : count); ++i) {
    if (i > 0) out += ", ";
    append_element(out, tensor, i);
  }
  out += '>';
}

}  // namespace frit::ir::text
