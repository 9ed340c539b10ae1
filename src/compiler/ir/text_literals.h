// SPDX-License-Identifier: Apache-2.0
// How names, numbers and tensors are spelled in the textual IR; shared by printer and parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/ir/tensor.h"

namespace frit::ir::text {

/// Bytes of constants that one text may write as a single repeated element. The printer falls back
/// to full contents beyond it and the parser refuses, so a short text never makes large memory.
inline constexpr std::uint64_t kSplatBudget = std::uint64_t{64} << 20;
/// Most elements printed one by one; longer tensors are printed as hexadecimal bytes.
inline constexpr std::int64_t kMaxListed = 64;
/// Deepest nesting of subgraphs.
inline constexpr int kMaxDepth = 32;

/// Letters, digits, '_' and '.', not starting with a digit or '.': printed without quotes.
bool is_plain_name(std::string_view name);
/// Appends the text in quotes; bytes that are not printable ASCII or UTF-8 become \xHH.
void append_quoted(std::string& out, std::string_view text);
/// Appends a real so that it reads back bit for bit and never looks like an integer.
void append_real(std::string& out, double value);
/// Appends type and contents; takes the bytes of a splat from `splat_budget`. Contents of more than
/// `max_elements` (if not negative) become a hash, which does not parse.
void append_tensor(std::string& out, const Tensor& tensor, std::uint64_t& splat_budget,
                   std::int64_t max_elements);

/// Bits of one element, or of one component of a complex one.
int component_bits(DType dtype);
/// 2 for complex types, else 1.
int components(DType dtype);
/// Type of a component: f32 for c64, f64 for c128, else the type itself.
DType component_type(DType dtype);
/// Component i (i counts components) of packed storage, as raw bits.
std::uint64_t load_bits(DType dtype, const void* data, std::int64_t i);
void store_bits(DType dtype, void* data, std::int64_t i, std::uint64_t bits);

}  // namespace frit::ir::text
