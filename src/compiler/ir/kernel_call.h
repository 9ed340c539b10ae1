// SPDX-License-Identifier: Apache-2.0
// Runs one kernel once, on tensors.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/evaluate.h"

namespace frit::ir {

/// Type and static dims of a result to make; dtype undefined = not wanted.
struct ResultDesc {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
};

/// Prepares and runs the kernel `name`; operands may be undefined (absent). Throws
/// Error(unsupported) if the kernel does not exist or refuses, Error(execution_failed) if it fails,
/// Error(out_of_memory) if its results or its workspace take more than `memory` bytes (0 = no
/// limit).
std::vector<Tensor> call_kernel(std::string_view name, std::span<const Tensor> operands,
                                std::span<const ResultDesc> results, const KernelAttrs& attrs,
                                const kernels::Parallel& parallel, std::uint64_t memory);

}  // namespace frit::ir
