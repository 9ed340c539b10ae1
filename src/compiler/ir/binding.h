// SPDX-License-Identifier: Apache-2.0
// Numbers for symbolic dims while a graph is evaluated.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/kernel_call.h"

namespace frit::ir {

/// What the symbols of one root graph stand for; learned from the dims of actual tensors.
class Binding {
 public:
  explicit Binding(const Symbols& symbols) : symbols_(&symbols) {}

  /// Learns symbols from a tensor of that type. Throws Error(shape_mismatch) if dtype, rank or a
  /// dim contradicts it; `what` names the tensor.
  void learn(const TensorType& type, const Tensor& tensor, const std::string& what);
  /// The dims as numbers as far as known; false if one is not.
  bool resolve(const Shape& shape, std::vector<std::int64_t>& dims) const;
  /// The dim with known symbols replaced.
  Dim resolve(const Dim& dim) const { return symbols_->bind(dim, values_); }

 private:
  const Symbols* symbols_;
  std::map<std::string, std::int64_t> values_;
};

/// Types and dims of a node's results: from its types where the binding settles them, else by
/// inference on a copy of the node whose operands are constants. Throws Error.
std::vector<ResultDesc> settle_results(const Node& node, std::span<const Tensor> operands,
                                       const Binding& binding);

}  // namespace frit::ir
