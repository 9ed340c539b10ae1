// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/region.h"

namespace frit::kernels::ref {

const Kernel region_kernel = make_kernel<Region>("ref.region");

}  // namespace frit::kernels::ref
