// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {

void import_gather(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", 0), x->rank());
  c.set(c.emit(ops::gather, {x, c.input(1)}, {{"axis", axis}}));
}

void import_gather_elements(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", 0), x->rank());
  c.set(c.emit(ops::gather_elements, {x, c.input(1)}, {{"axis", axis}}));
}

void import_gather_nd(NodeContext& c) {
  c.set(c.emit(ops::gather_nd, {c.input(0), c.input(1)},
               {{"batch_dims", c.integer("batch_dims", 0)}}));
}

void import_scatter_elements(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", 0), x->rank());
  c.set(
      c.emit(ops::scatter_elements, {x, c.input(1), c.input(2)},
             {{"axis", axis},
              {"reduction", c.choice("reduction", "none", {"none", "add", "mul", "min", "max"})}}));
}

void import_scatter_nd(NodeContext& c) {
  c.set(
      c.emit(ops::scatter_nd, {c.input(0), c.input(1), c.input(2)},
             {{"reduction", c.choice("reduction", "none", {"none", "add", "mul", "min", "max"})}}));
}

void import_one_hot(NodeContext& c) {
  Value* indices = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", -1), indices->rank() + 1);
  c.set(c.emit_hinted(ops::one_hot, {indices, c.input(1), c.input(2)}, {{"axis", axis}}));
}

void import_topk(NodeContext& c) {
  Value* x = c.input(0);
  Attrs attrs{{"axis", static_cast<std::int64_t>(c.axis(c.integer("axis", -1), x->rank()))},
              {"largest", c.integer("largest", 1)},
              {"sorted", c.integer("sorted", 1)}};
  std::vector<Value*> operands{x};
  std::optional<Ints> k;
  if (c.opset() < 10) {
    k = Ints{c.integer("k")};
  } else {
    Value* operand = c.input(1);
    k = c.static_ints(operand);
    if (!k) operands.push_back(operand);
  }
  if (k && k->size() != 1) c.invalid("k has {} elements; expected one", k->size());
  if (k) attrs.set("k", k->front());
  ir::Node* node = c.emit_node_hinted(ops::topk, std::move(operands), std::move(attrs), 2);
  c.set(0, node->result(0));
  c.set(1, node->result(1));
}

void import_arg_reduce(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t axis = c.axis(c.integer("axis", 0), x->rank());
  c.set(c.emit(ops::arg_reduce, {x},
               {{"kind", std::string(c.op() == "ArgMax" ? "max" : "min")},
                {"axis", axis},
                {"keepdims", c.integer("keepdims", 1)},
                {"select_last", c.integer("select_last_index", 0)}}));
}

}  // namespace frit::importer
