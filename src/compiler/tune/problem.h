// SPDX-License-Identifier: Apache-2.0
// A node as tactics see it: op, attributes, operand and result types, fused epilogue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/evaluate.h"
#include "compiler/ir/graph.h"
#include "kernels/common/kernel.h"

namespace frit::tune {

/// First operand that an epilogue reads besides the result, for every op that may own one.
inline constexpr int kFirstExtraOperand = 3;

/// One operand or result, fully known.
struct ProblemTensor {
  DType dtype = DType::undefined;  ///< undefined = absent optional operand
  ir::Ints dims;
  ir::Tensor constant;  ///< defined when the operand is a constant

  bool present() const { return dtype != DType::undefined; }
};

/// What has to be computed. An epilogue travels as the attributes `epilogue_program`,
/// `epilogue_params`, `epilogue_results` (docs/ir-ops.md, "Programs"; source 0 is the result of the
/// main op, source 1 the operand kFirstExtraOperand, and so on), a region as `program`, `params`,
/// `results`.
struct Problem {
  std::string op;
  ir::Attrs attrs;
  std::vector<ProblemTensor> in;
  std::vector<ProblemTensor> out;
  int threads = 1;

  /// From a node whose types are all static. Throws Error(unsupported) naming a symbolic size.
  static Problem from(const ir::Node& node, int threads);
  bool has_epilogue() const { return attrs.has("epilogue_program"); }
  /// One line that says everything tactics depend on, without the contents of constants.
  std::string text() const;
  /// Hash of `text()`: the key of timing caches.
  std::uint64_t key() const;
};

/// A node with an epilogue as two problems: the op alone, and the region that finishes the job
/// (operands: the op's result, then the extra operands).
struct SplitProblem {
  Problem main;
  Problem region;
};
SplitProblem split_epilogue(const ir::Node& node, int threads);

/// Views of a problem in the form kernels take; valid while the problem lives.
class ProblemView {
 public:
  explicit ProblemView(const Problem& problem);
  std::span<const kernels::TensorDesc> in() const { return in_; }
  std::span<const kernels::TensorDesc> out() const { return out_; }
  std::span<const kernels::Attr> attrs() const { return attrs_.view(); }

 private:
  std::vector<kernels::TensorDesc> in_, out_;
  ir::KernelAttrs attrs_;
};

}  // namespace frit::tune
