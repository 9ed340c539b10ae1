// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/region.h"

#include "kernels/cpu/fast/loops.h"

namespace frit::kernels::fast {
namespace {

/// A vector loop where there is one, else the reference's.
ref::PointwiseLoop pick_loop(int row, ref::Compute c) noexcept {
  const ref::PointwiseLoop loop = c == ref::Compute::f32 ? simd_loop(row) : nullptr;
  return loop != nullptr ? loop : ref::pointwise_loop(row, c);
}

/// The reference interpreter over vector loops.
struct Region : ref::Region {
  const char* prepare(PrepareArgs& args) {
    pick = pick_loop;
    return ref::Region::prepare(args);
  }
};

}  // namespace

const Kernel region_kernel = ref::make_kernel<Region>("cpu.region");

}  // namespace frit::kernels::fast
