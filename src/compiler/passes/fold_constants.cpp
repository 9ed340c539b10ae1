// SPDX-License-Identifier: Apache-2.0
// Nodes whose operands are all constants become constants, within bounds.
#include <algorithm>

#include "compiler/ir/evaluate.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"

namespace frit::passes {
namespace {

// Results that are far larger than what they are made of stay run-time work: a broadcast costs less
// to compute than to store.
constexpr std::size_t kAlwaysFold = std::size_t{1} << 20;
constexpr std::size_t kMaxGrowth = 2;

bool foldable(const ir::Node& node) {
  if (node.is(ops::constant) || node.schema().has(ir::kStateful) || node.result_count() == 0 ||
      node.schema().has(ir::kControlFlow))
    return false;
  bool any = false;
  for (const ir::Value* value : node.operands()) {
    if (value == nullptr) continue;
    if (ir::constant_of(value) == nullptr) return false;
    any = true;
  }
  return any;
}

bool within_bounds(const ir::Node& node, const PassContext& context) {
  std::size_t from = 0, to = 0;
  for (const ir::Value* value : node.operands())
    if (const ir::Tensor* tensor = ir::constant_of(value)) from += tensor->bytes();
  for (int r = 0; r < node.result_count(); ++r) {
    const ir::Value& result = *node.result(r);
    if (!ir::is_static(result.dims())) return false;
    to += ir::Tensor(result.dtype(), ir::static_dims(result.dims()), nullptr, nullptr).bytes();
  }
  return to <= context.fold_limit && (to <= kAlwaysFold || to <= kMaxGrowth * from);
}

bool fold(ir::Graph& graph, PassContext& context) {
  bool changed = false;
  for (ir::Node* node = graph.first(); node != graph.terminator();) {
    ir::Node* next = node->next();
    for (int s = 0; s < node->subgraph_count(); ++s)
      if (node->schema().has(ir::kControlFlow))
        changed = fold(*node->subgraph(s), context) || changed;
    if (foldable(*node) && within_bounds(*node, context)) {
      std::vector<ir::Tensor> operands;
      for (const ir::Value* value : node->operands()) {
        const ir::Tensor* tensor = ir::constant_of(value);
        operands.push_back(tensor != nullptr ? *tensor : ir::Tensor());
      }
      const std::vector<ir::Tensor> results = ir::evaluate(*node, operands);
      ir::Emitter emit(graph, node);
      for (int r = 0; r < node->result_count(); ++r) {
        if (node->result(r)->uses().empty()) continue;
        graph.replace_all_uses(node->result(r),
                               emit.constant(results[static_cast<std::size_t>(r)]));
      }
      graph.erase(node);
      changed = true;
    }
    node = next;
  }
  return changed;
}

}  // namespace

const Pass fold_constants{"fold_constants", "computes nodes whose operands are all constant", fold};

}  // namespace frit::passes
