// SPDX-License-Identifier: Apache-2.0
// Runs the IR with the reference kernels: the oracle of folding, tests and verification.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"
#include "kernels/common/kernel.h"

namespace frit::ir {

struct EvaluateOptions {
  kernels::Parallel parallel;       ///< default: one thread
  std::uint64_t memory_limit = 0;   ///< bytes of live intermediates, 0 = no limit
  std::function<bool()> cancelled;  ///< polled before each node
  /// Called after each node with its results (debugging, sampled verification). May be empty.
  std::function<void(const Node&, std::span<const Tensor>)> observe;
};

/// Results of one node for given operands (undefined Tensor = absent). Result dims come from the
/// node's types where static, else from inference with the operands' contents. Subgraph ops
/// (region, if, loop, epilogues) are run whole. Throws Error.
std::vector<Tensor> evaluate(const Node& node, std::span<const Tensor> operands,
                             const EvaluateOptions& options = {});
/// Results of a graph. Intermediates are freed after their last use.
std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                             const EvaluateOptions& options = {});

/// A region or epilogue subgraph as the kernel attributes `program`, `params`, `results`
/// (docs/ir-ops.md, "Programs"); `operands` are the subgraph's inputs in order.
struct Program {
  Ints code;
  Reals params;
  Ints results;
};
Program make_program(const Graph& subgraph);

/// A node's attributes as the flat list kernels read; tensors and subgraphs left out, regions as
/// programs. Strings and arrays stay owned by the returned object.
class KernelAttrs {
 public:
  explicit KernelAttrs(const Node& node);
  explicit KernelAttrs(Attrs attrs);
  KernelAttrs(const KernelAttrs&) = delete;  // the view points into the object
  KernelAttrs& operator=(const KernelAttrs&) = delete;
  std::span<const kernels::Attr> view() const { return view_; }

 private:
  void add(const std::string& name, const AttrValue& value);
  Attrs attrs_;
  std::vector<kernels::Attr> view_;
};

}  // namespace frit::ir
