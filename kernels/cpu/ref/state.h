// SPDX-License-Identifier: Apache-2.0
// Turns a struct with `prepare(PrepareArgs&)` and `run(const RunArgs&) const` into a Kernel.
#pragma once

#include <memory>
#include <new>
#include <type_traits>

#include "kernels/common/kernel.h"
#include "kernels/cpu/registry.h"  // declares the objects, for external linkage

namespace frit::kernels::ref {

/// The Kernel whose state is an S. A refused prepare leaves nothing behind to destroy.
template <class S>
constexpr Kernel make_kernel(const char* name) {
  static_assert(alignof(S) <= 64, "the caller aligns state to 64 bytes");
  Kernel k;
  k.name = name;
  k.state_size = sizeof(S);
  k.prepare = [](void* state, PrepareArgs& args) -> const char* {
    S* s = new (state) S();
    const char* error = s->prepare(args);
    if (error != nullptr) std::destroy_at(s);
    return error;
  };
  k.run = [](const void* state, const RunArgs& args) -> const char* {
    return static_cast<const S*>(state)->run(args);
  };
  if constexpr (!std::is_trivially_destructible_v<S>)
    k.destroy = [](void* state) { std::destroy_at(static_cast<S*>(state)); };
  return k;
}

}  // namespace frit::kernels::ref
