// SPDX-License-Identifier: Apache-2.0
// Which ONNX ops are imported, and how.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/graph.h"

namespace frit::importer {

class NodeContext;

/// An op of the default domain.
struct OpEntry {
  const char* name;
  std::int64_t since;            ///< first opset that has it
  std::int64_t until;            ///< last opset that has it, 0 = still there
  void (*import)(NodeContext&);  ///< null if refused
  const ir::Schema* schema;      ///< what import_simple emits
  const char* refusal;           ///< reason when `import` is null
};

/// The entry of that op, null if Frit does not know it.
const OpEntry* find_op(std::string_view name);

// One function for each row of op_table.def.
#define FRIT_ONNX_OP(name, since, until, function) void import_##function(NodeContext& c);
#define FRIT_ONNX_SIMPLE(name, since, schema)
#define FRIT_ONNX_REFUSED(name, since, reason)
#include "compiler/onnx/op_table.def"
#undef FRIT_ONNX_OP
#undef FRIT_ONNX_SIMPLE
#undef FRIT_ONNX_REFUSED

/// Pointwise ops whose operands are those of one IR op, in order.
void import_simple(NodeContext& c);

}  // namespace frit::importer
