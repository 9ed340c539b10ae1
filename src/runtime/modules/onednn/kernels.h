// SPDX-License-Identifier: Apache-2.0
// The module's kernels and what they share at their edges.
#pragma once

#include "runtime/modules/onednn/step.h"

namespace frit::onednn {

/// What a kernel's state memory holds.
struct StepState {
  Step* step = nullptr;
};

inline const char* run_step(const void* state, const RunArgs& args) {
  return static_cast<const StepState*>(state)->step->run(args);
}
inline void destroy_step(void* state) {
  delete static_cast<StepState*>(state)->step;
}

/// Refuses weights that were packed for another processor or library.
inline void require_packed(const Operand& weights, const dnnl::memory::desc& wanted) {
  if (weights.packed_format != format_text(wanted) || weights.bytes != wanted.get_size())
    refuse("the weights are packed as '" + weights.packed_format + "', this machine needs '" +
           format_text(wanted) + "'; build the engine on this kind of machine");
}

/// Books the primitive's scratchpad in the workspace.
inline void add_scratchpad(Step& step, Call& call, const dnnl::memory::desc& scratchpad) {
  if (scratchpad.get_size() == 0) return;
  const std::uint64_t offset = step.reserve(scratchpad.get_size());
  call.arguments.push_back({DNNL_ARG_SCRATCHPAD, scratchpad, Argument::From::workspace, 0, offset});
}

extern const kernels::Kernel conv_kernel;
extern const kernels::Kernel conv_transpose_kernel;
extern const kernels::Kernel matmul_kernel;
extern const kernels::Kernel pool_kernel;

// Layout the primitive wants operand 1 in; `given` receives the layout it has in the model.
dnnl::memory::desc packed_conv(const runtime::PackRequest& request, dnnl::memory::desc& given);
dnnl::memory::desc packed_conv_transpose(const runtime::PackRequest& request,
                                         dnnl::memory::desc& given);
dnnl::memory::desc packed_matmul(const runtime::PackRequest& request, dnnl::memory::desc& given);

}  // namespace frit::onednn
