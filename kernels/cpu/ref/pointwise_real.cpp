// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/pointwise_loops.h"

namespace frit::kernels::ref {

PointwiseLoop pointwise_real_loop(int row, Compute c) noexcept {
  return c == Compute::f32 ? kPointwiseLoops<float>[row] : kPointwiseLoops<double>[row];
}

}  // namespace frit::kernels::ref
