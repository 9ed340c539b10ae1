// SPDX-License-Identifier: Apache-2.0
// Declares every kernel of kernels.def, which gives their definitions external linkage.
#pragma once

#include "kernels/common/kernel.h"

namespace frit::kernels {

#define FRIT_KERNEL(space, object) \
  namespace space {                \
  extern const Kernel object;      \
  }
#include "kernels/cpu/kernels.def"
#undef FRIT_KERNEL

}  // namespace frit::kernels
