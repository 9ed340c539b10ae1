// SPDX-License-Identifier: Apache-2.0
// What an op is: a const record. One line in ops.def declares it, one file per family defines it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/ir/graph.h"

namespace frit::ir {

enum class AttrKind : std::uint8_t { integer, real, text, integers, reals, tensor };

/// An attribute that nodes of an op may or must carry.
struct AttrDef {
  const char* name;
  AttrKind kind;
  bool required = true;
};

/// Facts passes ask about instead of comparing op names.
enum Trait : std::uint32_t {
  kPointwise = 1u << 0,  ///< a row of pointwise.def, or cast: result[i] depends on operands[i] only
  kCommutative = 1u << 1,  ///< operands 0 and 1 may be swapped
  kMovement = 1u << 2,     ///< only rearranges elements of operand 0
  kTerminator = 1u << 3,   ///< `return`
  kEpilogue = 1u << 4,     ///< may own an epilogue subgraph
  kControlFlow = 1u << 5,  ///< owns subgraphs that run zero or more times
  kStateful = 1u << 6,     ///< two equal nodes may differ (random): never merged or folded
};

class Inference;

/// A kind of op.
struct Schema {
  const char* name;
  int min_operands = 0;
  int max_operands = 0;  ///< -1 = any number
  int min_results = 1;
  int max_results = 1;  ///< -1 = any number
  std::uint32_t traits = 0;
  std::span<const AttrDef> attrs = {};
  int max_subgraphs = 0;
  void (*infer)(Inference&) = nullptr;
  int pointwise_row = -1;  ///< line in kernels/common/pointwise.def, -1 if none

  bool has(Trait trait) const { return (traits & trait) != 0; }
  const AttrDef* attr(std::string_view attr_name) const;
};

/// The schema of that name, null if there is none.
const Schema* find_schema(std::string_view name);
/// Every schema, in the order of ops.def.
std::span<const Schema* const> all_schemas();

}  // namespace frit::ir

/// All schemas by name: frit::ops::conv, frit::ops::add …
namespace frit::ops {
#define FRIT_OP(name) extern const ::frit::ir::Schema name;
#include "compiler/ops/ops.def"
#undef FRIT_OP
#define FRIT_PW(name, arity, kind, attr0, attr1, expression) extern const ::frit::ir::Schema name;
#include "kernels/common/pointwise.def"
#undef FRIT_PW
}  // namespace frit::ops
