// SPDX-License-Identifier: Apache-2.0
// The passes of every build, in order.
#include "compiler/passes/pass.h"

namespace frit::passes {

std::span<const Pass* const> default_pipeline() {
  static const Pass* const kPipeline[] = {
      &simplify_shapes,     // exporters' shape chains go first: they hide what follows
      &canonicalize,        // opens batch_norm into scale and shift, so before fold_affine
      &fold_constants,      // what shapes and norms were computed from
      &merge_common_nodes,  // on small graphs, before anything is duplicated into weights
      &cancel_transposes,
      &fold_affine,     // scales into weights …
      &fold_constants,  // … and the weights themselves
      &canonicalize,
      &simplify_shapes,  // reshapes that folding has brought together
      &merge_common_nodes,
      &fuse_regions,    // after everything that looks for single pointwise ops
      &fuse_epilogues,  // takes whole regions, so last
  };
  return kPipeline;
}

}  // namespace frit::passes
