// SPDX-License-Identifier: Apache-2.0
// Typing of the subgraphs that ops own.
#pragma once

#include "compiler/ops/infer.h"

namespace frit::ir {

/// Types a subgraph of pointwise ops (region, epilogue): sets its inputs to `inputs` and infers
/// node by node. Refuses other ops, captures, absent outputs and a wrong number of inputs.
void infer_pointwise_subgraph(const Inference& in, Graph& body,
                              const std::vector<TensorType>& inputs);

/// Result type of an op that may own an epilogue: `main` itself, or the epilogue's output over
/// (main, operands from `first_extra` on). Refuses extras without epilogue or that do not broadcast
/// into the result.
TensorType infer_epilogue(const Inference& in, TensorType main, int first_extra);

}  // namespace frit::ir
