// SPDX-License-Identifier: Apache-2.0
// Zero points and requantization of the 8-bit integer products.
#pragma once

#include <cstdint>

#include "kernels/cpu/ref/checker.h"

namespace frit::kernels::ref {

/// An 8-bit operand seen as [rows, columns] with one zero point for all, one per row or one per
/// column; `load` gives it as 32-bit integers with the zero points taken off.
struct ZeroPoint {
  DType dtype = DType::undefined;
  DType zero_dtype = DType::undefined;
  int operand = 0;
  int zero = 0;
  std::int64_t rows = 0, columns = 0;
  std::int64_t zeros = 0;  ///< how many zero points; 0 if absent
  bool per_column = false;
  std::int64_t groups = 1;  ///< per column: matrices, one after another, with their own points
  std::uint64_t scratch = 0;

  /// Reads operand `at` [rows, columns] and its optional zero point: one, or one per row.
  void plan(Checker& c, int at, int zero_at, std::int64_t row_count, std::int64_t column_count);
  /// The same with one zero point per column, for `matrices` matrices of `row_count` rows each; the
  /// points are given once for all matrices or for each of them.
  void plan_columns(Checker& c, int at, int zero_at, std::int64_t matrices, std::int64_t row_count,
                    std::int64_t column_count);

  const std::uint32_t* load(const RunArgs& args) const;

 private:
  void plan_common(Checker& c, int at, int zero_at);
};

/// A scale operand and how many scales are allowed besides one.
struct ScaleOperand {
  int operand = 0;
  std::int64_t many = 1;
  DType dtype = DType::undefined;
  std::int64_t count = 0;
};

/// y = saturate(round(sum · a_scale · b_scale / y_scale) + y_zero), computed in f32 as ONNX does.
struct Requantize {
  ScaleOperand a, b, y;
  DType dtype = DType::undefined;
  std::int64_t zeros = 1;
  int zero = 0;

  /// y_scale and y_zero hold one value, or one per row where `y_rows` allows.
  void plan(Checker& c, ScaleOperand a_scale, ScaleOperand b_scale, int y_scale, int y_zero,
            std::int64_t y_rows = 1);
  /// The factor for the given positions of the three scales; those with one scale ignore theirs.
  float scale(const RunArgs& args, std::int64_t a_at, std::int64_t b_at, std::int64_t y_at) const;
  /// Writes `count` sums from result element `offset` on; scale of sum i is scales[i * step].
  void write(const RunArgs& args, const std::uint32_t* sums, std::int64_t count,
             const float* scales, std::int64_t step, std::int64_t y_at, std::int64_t offset) const;
};

}  // namespace frit::kernels::ref
