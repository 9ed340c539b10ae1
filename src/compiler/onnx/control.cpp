// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {

// A known condition leaves one branch, emitted in place.
void import_if(NodeContext& c) {
  const std::optional<Reals> condition = c.static_reals(c.input(0));
  const pb::GraphProto& then_branch = c.graph("then_branch");
  const pb::GraphProto& else_branch = c.graph("else_branch");
  if (!condition || condition->size() != 1)
    c.unsupported("its condition is known at run time only");
  const pb::GraphProto& branch = condition->front() != 0 ? then_branch : else_branch;
  const std::vector<Value*> results = c.translation().inline_graph(branch, c.scope(), c.frame());
  if (static_cast<int>(results.size()) != c.output_count())
    c.invalid("the branch \"{}\" has {} outputs, the node {}", branch.name(), results.size(),
              c.output_count());
  for (int i = 0; i < c.output_count(); ++i) {
    Value* value = results[static_cast<std::size_t>(i)];
    if (value != nullptr)
      c.set(i, value);
    else if (c.wants(i))
      c.scope().values[c.proto().output(i)] = nullptr;  // a node of the branch was refused
  }
}

}  // namespace frit::importer
