// SPDX-License-Identifier: Apache-2.0
// Reads attribute values and tensors of the textual IR.
#pragma once

#include "compiler/ir/attrs.h"
#include "compiler/ir/text_cursor.h"
#include "compiler/ir/text_literals.h"
#include "compiler/ops/schema.h"

namespace frit::ir::text {

/// Reads values at a cursor; memory it makes is at most 16 bytes per character read plus
/// kSplatBudget. Throws Error(invalid_argument).
class ValueReader {
 public:
  explicit ValueReader(Cursor& cursor) : c_(cursor) {}

  /// The value of the attribute `def`, converted to its kind where that loses nothing.
  AttrValue attribute(const AttrDef& def);
  /// A tensor: type, dims and contents.
  Tensor tensor();

 private:
  Tensor hex(DType dtype, std::vector<std::int64_t> dims, std::uint64_t bytes);
  Tensor dense(DType dtype, std::vector<std::int64_t> dims, std::uint64_t bytes);
  Tensor splat(DType dtype, std::vector<std::int64_t> dims, std::uint64_t bytes,
               const std::byte* element, std::size_t position);
  void element(DType dtype, void* data, std::int64_t i);
  void component(DType dtype, void* data, std::int64_t i);
  void float_component(DType dtype, void* data, std::int64_t i);
  AttrValue list(const AttrDef& def);
  std::int64_t integer_or_dtype();

  Cursor& c_;
  std::uint64_t splat_budget_ = kSplatBudget;
};

}  // namespace frit::ir::text
