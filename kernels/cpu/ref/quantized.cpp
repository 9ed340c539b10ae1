// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/quantized.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/ref/runs.h"

namespace frit::kernels::ref {

using std::int64_t;

namespace {

void check_byte_type(Checker& c, int at) {
  c.require(c.in(at).dtype == DType::u8 || c.in(at).dtype == DType::i8,
            "operand %d has type %s; expected u8 or i8", at, dtype_name(c.in(at).dtype));
}

float read_scale(const RunArgs& args, const ScaleOperand& s, int64_t at) {
  float v = 0;
  read_run<float>(s.dtype, args.in[s.operand], s.count == 1 ? 0 : at, 1, &v);
  return v;
}

void plan_scale(Checker& c, ScaleOperand& s) {
  s.dtype = c.in(s.operand).dtype;
  s.count = c.dims_in(s.operand).volume();
  c.require(is_wide_float(s.dtype), "operand %d (a scale) has type %s; expected a float", s.operand,
            dtype_name(s.dtype));
  c.require(s.count == 1 || s.count == s.many, "operand %d has %lld scales; expected 1 or %lld",
            s.operand, static_cast<long long>(s.count), static_cast<long long>(s.many));
}

}  // namespace

void ZeroPoint::plan_common(Checker& c, int at, int zero_at) {
  operand = at;
  zero = zero_at;
  dtype = c.in(at).dtype;
  check_byte_type(c, at);
  if (c.in(zero_at).present()) {
    zero_dtype = c.in(zero_at).dtype;
    c.dtype_in(zero_at, dtype);
    zeros = c.dims_in(zero_at).volume();
  }
  scratch = c.scratch(static_cast<std::uint64_t>(c.dims_in(at).volume()) * sizeof(std::uint32_t));
}

void ZeroPoint::plan(Checker& c, int at, int zero_at, int64_t row_count, int64_t column_count) {
  plan_common(c, at, zero_at);
  rows = row_count;
  columns = column_count;
  c.require(zeros <= 1 || (rows > 0 && rows % zeros == 0),
            "operand %d has %lld zero points for %lld rows", zero_at, static_cast<long long>(zeros),
            static_cast<long long>(rows));
  c.require(!c.in(zero_at).present() || zeros >= 1, "operand %d (a zero point) is empty", zero_at);
}

void ZeroPoint::plan_columns(Checker& c, int at, int zero_at, int64_t matrices, int64_t row_count,
                             int64_t column_count) {
  plan_common(c, at, zero_at);
  per_column = true;
  groups = matrices;
  rows = row_count;
  columns = column_count;
  c.require(zeros <= 1 || zeros == columns || zeros == columns * matrices,
            "operand %d has %lld zero points for %lld columns", zero_at,
            static_cast<long long>(zeros), static_cast<long long>(columns));
  c.require(!c.in(zero_at).present() || zeros >= 1, "operand %d (a zero point) is empty", zero_at);
}

const std::uint32_t* ZeroPoint::load(const RunArgs& args) const {
  std::uint32_t* to =
      reinterpret_cast<std::uint32_t*>(static_cast<char*>(args.workspace) + scratch);
  const auto zero_at = [&](int64_t i) {
    std::uint32_t v = 0;
    read_run<std::uint32_t>(zero_dtype, args.in[zero], i, 1, &v);
    return v;
  };
  const int64_t all = rows * groups;
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(columns, 1));
  args.parallel(all, grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t r = begin; r < end; ++r) {
      std::uint32_t* row = to + r * columns;
      read_run<std::uint32_t>(dtype, args.in[operand], r * columns, columns, row);
      if (zeros == 0) continue;
      if (!per_column || zeros == 1) {
        const std::uint32_t z = zero_at(zeros == 1 ? 0 : r % zeros);
        for (int64_t i = 0; i < columns; ++i) row[i] -= z;
      } else {
        const int64_t first = zeros == columns ? 0 : r / rows * columns;
        for (int64_t i = 0; i < columns; ++i) row[i] -= zero_at(first + i);
      }
    }
  });
  return to;
}

void Requantize::plan(Checker& c, ScaleOperand a_scale, ScaleOperand b_scale, int y_scale,
                      int y_zero, int64_t y_rows) {
  a = a_scale;
  b = b_scale;
  y = {y_scale, y_rows, DType::undefined, 0};
  plan_scale(c, a);
  plan_scale(c, b);
  plan_scale(c, y);
  zero = y_zero;
  check_byte_type(c, y_zero);
  dtype = c.in(y_zero).dtype;
  c.dtype_out(0, dtype);
  zeros = c.dims_in(y_zero).volume();
  c.require(zeros == 1 || zeros == y_rows, "operand %d has %lld zero points; expected 1 or %lld",
            y_zero, static_cast<long long>(zeros), static_cast<long long>(y_rows));
}

float Requantize::scale(const RunArgs& args, int64_t a_at, int64_t b_at, int64_t y_at) const {
  return read_scale(args, a, a_at) * read_scale(args, b, b_at) / read_scale(args, y, y_at);
}

void Requantize::write(const RunArgs& args, const std::uint32_t* sums, int64_t count,
                       const float* scales, int64_t step, int64_t y_at, int64_t offset) const {
  float z = 0;
  read_run<float>(dtype, args.in[zero], zeros == 1 ? 0 : y_at, 1, &z);
  float block[64];
  for (int64_t i = 0; i < count; i += 64) {
    const int64_t n = std::min<int64_t>(64, count - i);
    for (int64_t l = 0; l < n; ++l) {
      const float sum = static_cast<float>(static_cast<std::int32_t>(sums[i + l]));
      block[l] = std::nearbyint(sum * scales[(i + l) * step]) + z;
    }
    write_run<float>(dtype, block, n, args.out[0], offset + i);
  }
}

}  // namespace frit::kernels::ref
