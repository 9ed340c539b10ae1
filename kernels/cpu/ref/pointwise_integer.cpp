// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/pointwise_loops.h"

namespace frit::kernels::ref {

PointwiseLoop pointwise_integer_loop(int row, Compute c) noexcept {
  return c == Compute::i64 ? kPointwiseLoops<std::int64_t>[row]
                           : kPointwiseLoops<std::uint64_t>[row];
}

}  // namespace frit::kernels::ref
