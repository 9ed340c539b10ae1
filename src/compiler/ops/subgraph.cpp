// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/subgraph.h"

#include "base/dtypes.h"

namespace frit::ir {

void infer_pointwise_subgraph(const Inference& in, Graph& body,
                              const std::vector<TensorType>& inputs) {
  if (body.input_count() != static_cast<int>(inputs.size()))
    in.refuse("the subgraph must have {} inputs, found {}", inputs.size(), body.input_count());
  for (int i = 0; i < body.input_count(); ++i) {
    body.input(i)->type = inputs[static_cast<std::size_t>(i)];
    body.input(i)->elements.reset();
  }
  for (Node* node = body.first(); node != nullptr; node = node->next()) {
    if (node != body.terminator() && !node->schema().has(kPointwise))
      in.refuse("the subgraph may hold pointwise ops only, found {}", node->op());
    for (int i = 0; i < node->operand_count(); ++i) {
      const Value* value = node->operand(i);
      if (value == nullptr || &value->graph() != &body)
        in.refuse("operand {} of {} in the subgraph must be a value of the subgraph", i,
                  node->op());
    }
    infer_types(*node);
  }
}

namespace {

// True unless `from` can be seen not to broadcast into exactly `to`.
bool broadcasts_into(const Shape& from, const Shape& to) {
  if (from.size() > to.size()) return false;
  const std::size_t lead = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i].never_equals(1) && from[i].never_equals(to[lead + i])) return false;
  return true;
}

}  // namespace

TensorType infer_epilogue(const Inference& in, TensorType main, int first_extra) {
  Node& node = in.node();
  if (node.subgraph_count() == 0) {
    if (node.operand_count() > first_extra)
      in.refuse("{} operands without epilogue expected, found {}", first_extra,
                node.operand_count());
    return main;
  }
  std::vector<TensorType> inputs{main};
  for (int i = first_extra; i < node.operand_count(); ++i) {
    if (!broadcasts_into(in.dims(i), main.dims))
      in.refuse("epilogue operand {} is {}, which does not broadcast to the result's dims {}", i,
                to_string(in.type(i)), to_string(main.dims));
    inputs.push_back(in.type(i));
  }
  Graph& body = *node.subgraph(0);
  infer_pointwise_subgraph(in, body, inputs);
  if (body.output_count() != 1)
    in.refuse("the epilogue must have one output, found {}", body.output_count());
  // Extras broadcast into the result, so its dims stand whatever the subgraph's arithmetic on
  // symbolic sizes says.
  const TensorType& out = body.output(0)->type;
  if (out.dims.size() != main.dims.size())
    in.refuse("the epilogue's output must have dims {}, found {}", to_string(main.dims),
              to_string(out.dims));
  return {out.dtype, main.dims};
}

}  // namespace frit::ir
