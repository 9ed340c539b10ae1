// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/registry.h"

namespace frit::kernels {
namespace {

constexpr const Kernel* kKernels[] = {
#define FRIT_KERNEL(space, object) &space::object,
#include "kernels/cpu/kernels.def"
#undef FRIT_KERNEL
};

}  // namespace

const Kernel* find_kernel(std::string_view name) noexcept {
  for (const Kernel* k : kKernels)
    if (name == k->name) return k;
  return nullptr;
}

std::span<const Kernel* const> all_kernels() noexcept {
  return kKernels;
}

}  // namespace frit::kernels
