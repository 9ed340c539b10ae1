// SPDX-License-Identifier: Apache-2.0
// A region that finishes what a convolution or matrix product began becomes its epilogue:
// activation, residual, scale, any pointwise chain.
//
//   y = conv(x, w, b)             y = conv(x, w, b, r) { epilogue (acc, r): max(acc + r, 0) }
//   z = region(y, r): max(y+r,0)
#include <unordered_map>

#include "compiler/ir/evaluate.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"
#include "compiler/tune/problem.h"

namespace frit::passes {
namespace {

using ir::Node;
using ir::Value;

constexpr int kMaxExtraOperands = 4;

// The operand of the region whose producer may take the region over: the one computed last, so that
// the other operands are ready when it runs.
int main_operand(const Node& region, const std::unordered_map<const Node*, std::size_t>& order) {
  int best = -1;
  for (int i = 0; i < region.operand_count(); ++i) {
    const Value& value = *region.operand(i);
    const Node* producer = value.producer();
    if (producer == nullptr || !producer->schema().has(ir::kEpilogue) ||
        producer->subgraph_count() > 0 || producer->result_count() != 1 || !value.has_one_use() ||
        &producer->graph() != &region.graph() || value.dims() != region.result()->dims())
      continue;
    if (best < 0 || order.at(producer) > order.at(region.operand(best)->producer())) best = i;
  }
  return best;
}

Node* attach(Node& region, int main, std::unordered_map<const Node*, std::size_t>& order) {
  ir::Graph& graph = region.graph();
  Node& producer = *region.operand(main)->producer();
  std::vector<Value*> operands = producer.operands();
  operands.resize(tune::kFirstExtraOperand, nullptr);
  for (int i = 0; i < region.operand_count(); ++i)
    if (i != main) operands.push_back(region.operand(i));

  Node* fused = graph.add(producer.schema(), operands, producer.attrs, 1, &region);
  fused->origin = producer.origin;
  ir::merge_origin(*fused, region);
  ir::Graph& body = *fused->add_subgraph();
  const ir::Graph& old = *region.subgraph();
  std::unordered_map<const Value*, Value*> map;
  map[old.input(main)] = body.add_input("", old.input(main)->type);
  for (int i = 0; i < old.input_count(); ++i)
    if (i != main) map[old.input(i)] = body.add_input("", old.input(i)->type);
  for (const Node* n = old.first(); n != old.terminator(); n = n->next()) {
    std::vector<Value*> inner;
    for (const Value* value : n->operands()) inner.push_back(map.at(value));
    Node* copy = body.add(n->schema(), inner, n->attrs, 1);
    copy->origin = n->origin;
    copy->result()->type = n->result()->type;
    map[n->result()] = copy->result();
  }
  body.add_output(map.at(old.output(0)));
  fused->result()->type = region.result()->type;
  fused->result()->name = region.result()->name;
  graph.replace_all_uses(region.result(), fused->result());
  order.emplace(fused, order.at(&region));
  graph.erase(&region);
  graph.erase(&producer);
  return fused;
}

bool fuse(ir::Graph& graph, PassContext& context) {
  std::unordered_map<const Node*, std::size_t> order;
  bool changed = false;
  for (Node* n = graph.first(); n != graph.terminator(); n = n->next()) {
    order.emplace(n, order.size());
    for (int s = 0; s < n->subgraph_count(); ++s)
      if (n->schema().has(ir::kControlFlow)) changed = fuse(*n->subgraph(s), context) || changed;
  }
  for (Node* n = graph.first(); n != graph.terminator(); n = n->next()) {
    if (!n->is(ops::region) || n->result_count() != 1 || n->operand_count() - 1 > kMaxExtraOperands)
      continue;
    const int main = main_operand(*n, order);
    if (main < 0) continue;
    n = attach(*n, main, order);
    changed = true;
  }
  return changed;
}

}  // namespace

const Pass fuse_epilogues{"fuse_epilogues", "moves regions into the op that feeds them", fuse};

}  // namespace frit::passes
