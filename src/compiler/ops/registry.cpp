// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

constexpr const Schema* kSchemas[] = {
#define FRIT_OP(name) &ops::name,
#include "compiler/ops/ops.def"
#undef FRIT_OP
#define FRIT_PW(name, arity, kind, attr0, attr1, expression) &ops::name,
#include "kernels/common/pointwise.def"
#undef FRIT_PW
};

}  // namespace

const AttrDef* Schema::attr(std::string_view attr_name) const {
  for (const AttrDef& def : attrs)
    if (attr_name == def.name) return &def;
  return nullptr;
}

const Schema* find_schema(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Schema*> map;
    for (const Schema* schema : kSchemas) map.emplace(schema->name, schema);
    return map;
  }();
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

std::span<const Schema* const> all_schemas() {
  return kSchemas;
}

}  // namespace frit::ir
