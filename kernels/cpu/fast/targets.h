// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which instruction sets Highway compiles for. Included before any Highway header. Highway's own
// dispatch is not used: it needs a shared library, and the runtime must need none.

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
