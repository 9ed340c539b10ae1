// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/op_table.h"

#include <unordered_map>

#include "compiler/ops/schema.h"

namespace frit::importer {
namespace {

constexpr OpEntry kEntries[] = {
#define FRIT_ONNX_OP(name, since, until, function) \
  {#name, since, until, import_##function, nullptr, nullptr},
#define FRIT_ONNX_SIMPLE(name, since, schema) \
  {#name, since, 0, import_simple, &ops::schema, nullptr},
#define FRIT_ONNX_REFUSED(name, since, reason) {#name, since, 0, nullptr, nullptr, reason},
#include "compiler/onnx/op_table.def"
#undef FRIT_ONNX_OP
#undef FRIT_ONNX_SIMPLE
#undef FRIT_ONNX_REFUSED
};

}  // namespace

const OpEntry* find_op(std::string_view name) {
  static const auto* const table = [] {
    auto* entries = new std::unordered_map<std::string_view, const OpEntry*>;
    for (const OpEntry& entry : kEntries) entries->emplace(entry.name, &entry);
    return entries;
  }();
  const auto found = table->find(name);
  return found == table->end() ? nullptr : found->second;
}

}  // namespace frit::importer
