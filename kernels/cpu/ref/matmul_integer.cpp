// SPDX-License-Identifier: Apache-2.0
// Matrix products of 8-bit integers: exact 32-bit sums of zero-point corrected operands.
#include <algorithm>

#include "kernels/cpu/ref/matmul.h"
#include "kernels/cpu/ref/quantized.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

struct IntegerMatMul {
  MatMulShape shape;
  ZeroPoint a, b;
  std::uint64_t product_scratch = 0;

  bool plan(Checker& c, int a_at, int b_at, int a_zero, int b_zero) {
    const Dims da = c.dims_in(a_at);
    const Dims db = c.dims_in(b_at);
    if (!read_matmul(c, da, db, false, false, shape)) return false;
    const int64_t a_rows = da.product(0, da.rank - 1);
    const int64_t b_rows = db.rank == 1 ? db[0] : db[db.rank - 2];
    a.plan(c, a_at, a_zero, a_rows, da[da.rank - 1]);
    c.require(a.zeros <= 1 || a.zeros == shape.m || a.zeros == a_rows,
              "operand %d has %lld zero points; expected 1, %lld or %lld", a_zero,
              static_cast<long long>(a.zeros), static_cast<long long>(shape.m),
              static_cast<long long>(a_rows));
    b.plan_columns(c, b_at, b_zero, db.rank == 1 ? 1 : db.product(0, db.rank - 2), b_rows, shape.n);
    product_scratch = c.scratch(gemm_workspace<std::uint32_t>(c.threads()));
    return c.ok();
  }

  void run(const RunArgs& args, const void* ctx,
           void (*store)(const void*, int64_t, Range, Range, const std::uint32_t*)) const {
    const std::uint32_t* pa = a.load(args);
    const std::uint32_t* pb = b.load(args);
    run_matmul<std::uint32_t>(shape, pa, pb, ctx, store,
                              static_cast<char*>(args.workspace) + product_scratch, args.parallel);
  }
};

struct MatMulInteger {
  IntegerMatMul matmul;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "matmul_integer");
    if (!c.tensors(2, 4, 1, 1)) return c.error();
    c.dtype_out(0, DType::i32);
    if (c.ok()) matmul.plan(c, 0, 1, 2, 3);
    return c.error();
  }

  struct Context {
    const MatMulShape* shape;
    void* y;
  };

  const char* run(const RunArgs& args) const {
    const Context ctx{&matmul.shape, args.out[0]};
    matmul.run(args, &ctx,
               [](const void* p, int64_t product, Range i, Range j, const std::uint32_t* tile) {
                 const auto& s = *static_cast<const Context*>(p);
                 for (int64_t r = i.begin; r < i.end; ++r)
                   write_run<std::uint32_t>(DType::i32, tile + (r - i.begin) * kGemmCols, j.size(),
                                            s.y,
                                            (product * s.shape->rows + r) * s.shape->n + j.begin);
               });
    return nullptr;
  }
};

/// Operands: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero.
struct QLinearMatMul {
  IntegerMatMul matmul;
  Requantize requantize;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "qlinear_matmul");
    if (!c.tensors(8, 8, 1, 1)) return c.error();
    if (!matmul.plan(c, 0, 3, 2, 5)) return c.error();
    const MatMulShape& s = matmul.shape;
    requantize.plan(c, {1, s.m}, {4, s.n}, 6, 7, s.m);
    return c.error();
  }

  struct Context {
    const QLinearMatMul* self;
    const RunArgs* args;
  };

  static void store(const void* p, int64_t product, Range i, Range j, const std::uint32_t* tile) {
    const auto& ctx = *static_cast<const Context*>(p);
    const MatMulShape& s = ctx.self->matmul.shape;
    const Requantize& q = ctx.self->requantize;
    float scales[kGemmCols];
    for (int64_t r = i.begin; r < i.end; ++r) {
      const int64_t y_row = product * s.rows + r;
      const int64_t row = y_row % s.m;
      for (int64_t x = 0; x < j.size(); ++x) scales[x] = q.scale(*ctx.args, row, j.begin + x, row);
      q.write(*ctx.args, tile + (r - i.begin) * kGemmCols, j.size(), scales, 1, row,
              y_row * s.n + j.begin);
    }
  }

  const char* run(const RunArgs& args) const {
    const Context ctx{this, &args};
    matmul.run(args, &ctx, store);
    return nullptr;
  }
};

}  // namespace

const Kernel matmul_integer_kernel = make_kernel<MatMulInteger>("ref.matmul_integer");
const Kernel qlinear_matmul_kernel = make_kernel<QLinearMatMul>("ref.qlinear_matmul");

}  // namespace frit::kernels::ref
