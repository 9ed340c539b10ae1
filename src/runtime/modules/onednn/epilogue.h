// SPDX-License-Identifier: Apache-2.0
// Epilogue programs (docs/ir-ops.md) as oneDNN post-ops.
#pragma once

#include "runtime/modules/onednn/step.h"

namespace frit::onednn {

/// Post-ops and the operands they read.
struct Epilogue {
  dnnl::primitive_attr attr;  ///< with the scratchpad owned by the caller
  std::vector<Argument> arguments;
};

/// Dims under which the primitive sees an extra operand of the given dims; refuses if it cannot.
using View = std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& dims)>;

/// Views an operand at the result's own rank: leading ones.
View broadcast_view(const std::vector<std::int64_t>& out);

/// Translates `epilogue_program`; refuses what post-ops cannot say. `added` is an operand to add
/// first (a bias that the primitive cannot take), -1 for none.
Epilogue make_epilogue(std::span<const TensorDesc> in, std::span<const kernels::Attr> attrs,
                       const View& view, int added = -1);

}  // namespace frit::onednn
