// SPDX-License-Identifier: Apache-2.0
// Two nodes that compute the same thing from the same operands become one.
#include <functional>
#include <unordered_map>

#include "base/hash.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"

namespace frit::passes {
namespace {

// Larger constants are weights: equal ones are rare, and equal bytes are stored once anyway.
constexpr std::size_t kMaxConstantBytes = std::size_t{64} << 10;

std::uint64_t hash_of(const ir::AttrValue& value) {
  Hasher hasher;
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    hasher.add(*i);
  } else if (const auto* f = std::get_if<double>(&value)) {
    hasher.add(*f);
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    hasher.add(std::string_view(*s));
  } else if (const auto* ints = std::get_if<ir::Ints>(&value)) {
    for (std::int64_t v : *ints) hasher.add(v);
  } else if (const auto* reals = std::get_if<ir::Reals>(&value)) {
    for (double v : *reals) hasher.add(v);
  } else {
    const ir::Tensor& t = std::get<ir::Tensor>(value);
    hasher.add(static_cast<std::int64_t>(t.dtype()));
    hasher.add(std::span(static_cast<const std::byte*>(t.data()), t.bytes()));
  }
  return hasher.value();
}

std::uint64_t hash_of(const ir::Node& node) {
  Hasher hasher;
  hasher.add(node.op());
  for (const ir::Value* value : node.operands())
    hasher.add(static_cast<std::int64_t>(std::hash<const void*>{}(value)));
  for (const auto& [name, value] : node.attrs) {
    hasher.add(std::string_view(name));
    hasher.add(static_cast<std::int64_t>(hash_of(value)));
  }
  return hasher.value();
}

bool mergeable(const ir::Node& node) {
  if (node.schema().has(ir::kStateful) || node.subgraph_count() > 0) return false;
  return !node.is(ops::constant) || node.attrs.tensor("value").bytes() <= kMaxConstantBytes;
}

bool equal(const ir::Node& a, const ir::Node& b) {
  if (!a.is(b.schema()) || a.operands() != b.operands() || !(a.attrs == b.attrs) ||
      a.result_count() != b.result_count())
    return false;
  for (int r = 0; r < a.result_count(); ++r)
    if (!(a.result(r)->type == b.result(r)->type)) return false;
  return true;
}

// Graph outputs keep a value each, so that every output keeps its name.
bool feeds_output(const ir::Value& value) {
  for (const ir::Use& use : value.uses())
    if (use.node->schema().has(ir::kTerminator)) return true;
  return false;
}

bool merge(ir::Graph& graph, PassContext& context) {
  bool changed = false;
  std::unordered_multimap<std::uint64_t, ir::Node*> seen;
  for (ir::Node* node = graph.first(); node != graph.terminator();) {
    ir::Node* next = node->next();
    for (int s = 0; s < node->subgraph_count(); ++s)
      if (node->schema().has(ir::kControlFlow))
        changed = merge(*node->subgraph(s), context) || changed;
    if (mergeable(*node)) {
      const std::uint64_t hash = hash_of(*node);
      ir::Node* twin = nullptr;
      for (auto [it, end] = seen.equal_range(hash); it != end && twin == nullptr; ++it)
        if (equal(*it->second, *node)) twin = it->second;
      bool outputs = false;
      for (int r = 0; r < node->result_count(); ++r)
        outputs = outputs || feeds_output(*node->result(r));
      if (twin == nullptr) {
        seen.emplace(hash, node);
      } else if (!outputs) {
        for (int r = 0; r < node->result_count(); ++r)
          graph.replace_all_uses(node->result(r), twin->result(r));
        if (!node->is(ops::constant)) ir::merge_origin(*twin, *node);
        graph.erase(node);
        changed = true;
      }
    }
    node = next;
  }
  return changed;
}

}  // namespace

const Pass merge_common_nodes{"merge_common_nodes", "merges nodes that compute the same value",
                              merge};

}  // namespace frit::passes
