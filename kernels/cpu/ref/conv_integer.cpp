// SPDX-License-Identifier: Apache-2.0
// Convolutions of 8-bit integers: exact 32-bit sums of zero-point corrected operands.
#include <algorithm>

#include "kernels/cpu/ref/conv.h"
#include "kernels/cpu/ref/quantized.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// x and w as 32-bit integers without their zero points.
struct IntegerConv {
  ConvShape shape;
  ZeroPoint x, w;
  std::uint64_t product_scratch = 0;

  /// Operand numbers of x, w and their zero points.
  bool plan(Checker& c, int x_at, int w_at, int x_zero, int w_zero) {
    const Dims dx = c.dims_in(x_at);
    const Dims dw = c.dims_in(w_at);
    if (!read_conv(c, dx, dw, c.dims_out(0), shape)) return false;
    x.plan(c, x_at, x_zero, 1, dx.volume());
    w.plan(c, w_at, w_zero, dw[0], shape.terms());
    c.require(w.zeros <= 1 || w.zeros == dw[0],
              "operand %d has %lld zero points; expected 1 or %lld", w_zero,
              static_cast<long long>(w.zeros), static_cast<long long>(dw[0]));
    product_scratch = c.scratch(gemm_workspace<std::uint32_t>(c.threads()));
    return c.ok();
  }

  void run(const RunArgs& args, const void* ctx,
           void (*store)(const void*, int64_t, Range, Range, const std::uint32_t*)) const {
    const std::uint32_t* px = x.load(args);
    const std::uint32_t* pw = w.load(args);
    run_conv<std::uint32_t>(shape, px, pw, ctx, store,
                            static_cast<char*>(args.workspace) + product_scratch, args.parallel);
  }

  /// First element of row r of product `product` in y, and its channel.
  int64_t channel(int64_t product, int64_t r) const {
    return product % shape.groups * shape.outputs + r;
  }
  int64_t offset(int64_t product, int64_t r) const {
    return (product * shape.outputs + r) * shape.positions();
  }
};

struct ConvInteger {
  IntegerConv conv;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "conv_integer");
    if (!c.tensors(2, 4, 1, 1)) return c.error();
    c.dtype_out(0, DType::i32);
    if (c.ok()) conv.plan(c, 0, 1, 2, 3);
    return c.error();
  }

  struct Context {
    const IntegerConv* conv;
    void* y;
  };

  const char* run(const RunArgs& args) const {
    const Context ctx{&conv, args.out[0]};
    conv.run(args, &ctx,
             [](const void* p, int64_t product, Range i, Range j, const std::uint32_t* tile) {
               const auto& s = *static_cast<const Context*>(p);
               for (int64_t r = i.begin; r < i.end; ++r)
                 write_run<std::uint32_t>(DType::i32, tile + (r - i.begin) * kGemmCols, j.size(),
                                          s.y, s.conv->offset(product, r) + j.begin);
             });
    return nullptr;
  }
};

/// Operands: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias? (i32).
struct QLinearConv {
  IntegerConv conv;
  Requantize requantize;
  bool has_bias = false;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "qlinear_conv");
    if (!c.tensors(8, 9, 1, 1)) return c.error();
    if (!conv.plan(c, 0, 3, 2, 5)) return c.error();
    const int64_t outputs = conv.shape.groups * conv.shape.outputs;
    requantize.plan(c, {1, 1}, {4, outputs}, 6, 7);
    has_bias = c.in(8).present();
    if (has_bias) {
      c.dtype_in(8, DType::i32);
      c.shape_in(8, {outputs});
    }
    return c.error();
  }

  struct Context {
    const QLinearConv* self;
    const RunArgs* args;
  };

  static void store(const void* p, int64_t product, Range i, Range j, const std::uint32_t* tile) {
    const auto& s = *static_cast<const Context*>(p);
    const IntegerConv& conv = s.self->conv;
    std::uint32_t row[kGemmCols];
    for (int64_t r = i.begin; r < i.end; ++r) {
      const int64_t channel = conv.channel(product, r);
      std::uint32_t bias = 0;
      if (s.self->has_bias) read_run<std::uint32_t>(DType::i32, s.args->in[8], channel, 1, &bias);
      for (int64_t x = 0; x < j.size(); ++x) row[x] = tile[(r - i.begin) * kGemmCols + x] + bias;
      const float scale = s.self->requantize.scale(*s.args, 0, channel, 0);
      s.self->requantize.write(*s.args, row, j.size(), &scale, 0, 0,
                               conv.offset(product, r) + j.begin);
    }
  }

  const char* run(const RunArgs& args) const {
    const Context ctx{this, &args};
    conv.run(args, &ctx, store);
    return nullptr;
  }
};

}  // namespace

const Kernel conv_integer_kernel = make_kernel<ConvInteger>("ref.conv_integer");
const Kernel qlinear_conv_kernel = make_kernel<QLinearConv>("ref.qlinear_conv");

}  // namespace frit::kernels::ref
