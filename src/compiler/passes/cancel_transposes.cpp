// SPDX-License-Identifier: Apache-2.0
// Transposes merge, move behind pointwise ops until they meet their inverse, and disappear into
// matrix products.
#include <algorithm>
#include <numeric>

#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"
#include "compiler/rewrite/rule.h"

namespace frit::passes {
namespace {

using ir::Emitter;
using ir::Ints;
using ir::Node;
using ir::Value;

Node* as_transpose(const Value* value) {
  if (value == nullptr || value->producer() == nullptr) return nullptr;
  return value->producer()->is(ops::transpose) ? value->producer() : nullptr;
}

// transpose(transpose(x, p), q) => transpose(x, p[q]), or x where p[q] is the identity
Value* merge(Node& node, Emitter& emit) {
  Node* inner = as_transpose(node.operand(0));
  if (inner == nullptr) return nullptr;
  const Ints &p = inner->attrs.ints("perm"), &q = node.attrs.ints("perm");
  Ints merged;
  for (std::int64_t axis : q) merged.push_back(p[static_cast<std::size_t>(axis)]);
  if (std::ranges::is_sorted(merged)) return inner->operand(0);
  return emit.transpose(inner->operand(0), merged);
}

// op(transpose(x, p), transpose(y, p), scalars…) => transpose(op(x, y, scalars…), p)
Value* sink_below_pointwise(Node& node, Emitter& emit) {
  if (!node.schema().has(ir::kPointwise)) return nullptr;
  const Ints* perm = nullptr;
  for (const Value* value : node.operands()) {
    if (Node* t = as_transpose(value)) {
      if (!value->has_one_use() || (perm != nullptr && *perm != t->attrs.ints("perm")))
        return nullptr;
      perm = &t->attrs.ints("perm");
    } else if (!(ir::element_count(value->dims()) == ir::Dim(1)) || value->rank() > 1) {
      return nullptr;
    }
  }
  if (perm == nullptr) return nullptr;
  const Ints p = *perm;
  std::vector<Value*> operands;
  for (Value* value : node.operands()) {
    Node* t = as_transpose(value);
    operands.push_back(t != nullptr ? t->operand(0) : value);
  }
  return emit.transpose(emit.emit(node.schema(), operands, node.attrs), p);
}

bool swaps_last_two(const Ints& perm) {
  const std::size_t n = perm.size();
  if (n < 2) return false;
  for (std::size_t i = 0; i + 2 < n; ++i)
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  return perm[n - 1] == static_cast<std::int64_t>(n - 2);
}

// matmul(transpose(a), b) => matmul(a, b) with trans_a flipped; the same for b
Value* absorb_into_matmul(Node& node, Emitter&) {
  for (int i = 0; i < 2; ++i) {
    Node* t = as_transpose(node.operand(i));
    if (t == nullptr || !swaps_last_two(t->attrs.ints("perm"))) continue;
    const char* flag = i == 0 ? "trans_a" : "trans_b";
    node.set_operand(i, t->operand(0));
    node.attrs.set(flag, std::int64_t{node.attrs.i(flag) == 0});
    return node.result();
  }
  return nullptr;
}

const rewrite::Rule kRules[] = {
    {"merge", &ops::transpose, merge},
    {"sink_below_pointwise", nullptr, sink_below_pointwise},
    {"absorb_into_matmul", &ops::matmul, absorb_into_matmul},
};

bool cancel(ir::Graph& graph, PassContext&) {
  return rewrite::apply_rules(graph, kRules);
}

}  // namespace

const Pass cancel_transposes{"cancel_transposes", "merges, moves and absorbs transposes", cancel};

}  // namespace frit::passes
