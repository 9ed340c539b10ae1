// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/fast/loops.h"

namespace frit::kernels::fast {

Isa isa() noexcept {
#if defined(__x86_64__)
  static const Isa best = [] {
    __builtin_cpu_init();
    // F16C is needed too; every processor with AVX2 and FMA has it, and Clang 14 cannot ask for it.
    const auto avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    return avx2 ? Isa::avx2 : Isa::baseline;
  }();
  return best;
#else
  return Isa::baseline;
#endif
}

}  // namespace frit::kernels::fast
