// SPDX-License-Identifier: Apache-2.0
// Lets a reference kernel examine a step before a fast kernel takes it over.
#pragma once

#include <cstddef>

#include "kernels/cpu/ref/checker.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::fast {

/// What `reference` refuses, else a refusal unless every tensor present is f32; null if all is
/// well. The fast kernel may then rely on dims and attributes.
inline const char* check_step(const Kernel& reference, PrepareArgs& args) {
  alignas(64) std::byte state[8192];
  if (reference.state_size > sizeof state) return "the reference kernel keeps too much state";
  if (const char* error = reference.prepare(state, args)) return error;
  if (reference.destroy != nullptr) reference.destroy(state);
  args.workspace = 0;
  for (const auto list : {args.in, args.out})
    for (const TensorDesc& t : list)
      if (t.present() && t.dtype != DType::f32)
        return "only f32 is covered here; use the reference kernel for other types";
  return nullptr;
}

}  // namespace frit::kernels::fast
