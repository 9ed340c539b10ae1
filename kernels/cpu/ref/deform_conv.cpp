// SPDX-License-Identifier: Apache-2.0
// Deformable convolution, computed in f64: a convolution whose taps read between elements.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/ref/conv.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// Operands: x, w, offset [N, groups · taps · axes, out…], bias?, mask? [N, groups · taps, out…].
struct DeformConv {
  ConvShape shape;
  int64_t offset_groups = 1;
  int64_t channels_per_offset = 1;
  DType dtype = DType::undefined;
  Converted<double> x, w, offset, bias, mask;
  std::uint64_t product = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "deform_conv");
    if (!c.tensors(3, 5, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    c.require(is_wide_float(dtype), "operand 0 has type %s; expected f16, bf16, f32 or f64",
              dtype_name(dtype));
    for (int i = 1; i < 5; ++i)
      if (c.in(i).present()) c.dtype_in(i, dtype);
    c.dtype_out(0, dtype);
    const Dims dx = c.dims_in(0);
    const Dims dy = c.dims_out(0);
    if (!c.ok() || !read_conv(c, dx, c.dims_in(1), dy, shape)) return c.error();
    offset_groups = c.integer_or("offset_group", 1, INT64_MAX, 1);
    c.require(dx[1] % offset_groups == 0,
              "x has %lld channels, not a multiple of offset_group %lld",
              static_cast<long long>(dx[1]), static_cast<long long>(offset_groups));
    if (!c.ok()) return c.error();
    channels_per_offset = dx[1] / offset_groups;
    check_field(c, 2, dy, shape.window.rank);
    if (c.in(3).present()) c.shape_in(3, {shape.groups * shape.outputs});
    if (c.in(4).present()) check_field(c, 4, dy, 1);
    Converted<double>* const all[] = {&x, &w, &offset, &bias, &mask};
    for (int i = 0; i < 5; ++i) all[i]->plan(c, c.in(i));
    product = c.scratch(gemm_workspace<double>(c.threads()));
    return c.error();
  }

  /// Operand i holds `per_tap` numbers per offset group, tap and position.
  void check_field(Checker& c, int i, const Dims& y, int64_t per_tap) const {
    const Dims d = c.dims_in(i);
    const int64_t taps = shape.taps();
    Dims want = y;
    if (!c.require(offset_groups <= (int64_t{1} << 48) / (taps * per_tap),
                   "offset_group %lld is too large", static_cast<long long>(offset_groups)))
      return;
    want[1] = offset_groups * taps * per_tap;
    c.require(d == want, "operand %d must have %lld channels and the batch and spatial dims of y",
              i, static_cast<long long>(want[1]));
  }

  struct Context {
    const DeformConv* self;
    const double *x, *w, *offset, *bias, *mask;
    void* y;
  };

  /// Multilinear value of a channel at `at`; what lies outside counts as zero.
  double sample(const double* channel, const double* at) const {
    const Window& g = shape.window;
    int64_t low[Window::kMaxAxes];
    double ratio[Window::kMaxAxes];
    for (int a = 0; a < g.rank; ++a) {
      if (!(at[a] > -1 && at[a] < static_cast<double>(g.in[a]))) return 0;
      const double below = std::floor(at[a]);
      low[a] = static_cast<int64_t>(below);
      ratio[a] = at[a] - below;
    }
    double sum = 0;
    for (int corner = 0; corner < 1 << g.rank; ++corner) {
      double weight = 1;
      int64_t offset_in = 0;
      for (int a = 0; a < g.rank; ++a) {
        const bool high = (corner >> a & 1) != 0;
        const int64_t i = low[a] + (high ? 1 : 0);
        weight *= i < 0 || i >= g.in[a] ? 0 : high ? ratio[a] : 1 - ratio[a];
        offset_in = offset_in * g.in[a] + i;
      }
      if (weight != 0) sum += weight * channel[offset_in];
    }
    return sum;
  }

  static void pack_b(const void* p, int64_t product_at, Range j, Range k, double* dst) {
    const auto& s = *static_cast<const Context*>(p);
    const DeformConv& self = *s.self;
    const Window& g = self.shape.window;
    const int64_t taps = self.shape.taps();
    const int64_t positions = self.shape.positions();
    const int64_t sample_at = product_at / self.shape.groups;
    double row[kGemmCols];
    int64_t tap[Window::kMaxAxes] = {};
    int64_t start[Window::kMaxAxes] = {};
    g.unravel(g.out, j.begin, start);
    for (int64_t t = k.begin; t < k.end; ++t) {
      g.unravel(g.kernel, t % taps, tap);
      const int64_t channel = product_at % self.shape.groups * self.shape.channels + t / taps;
      const int64_t field =
          (sample_at * self.offset_groups + channel / self.channels_per_offset) * taps + t % taps;
      const double* image =
          s.x + (sample_at * self.shape.groups * self.shape.channels + channel) * g.in_volume();
      int64_t out[Window::kMaxAxes] = {};
      std::copy_n(start, g.rank, out);
      for (int64_t col = j.begin; col < j.end; ++col, g.advance(g.out, out)) {
        double at[Window::kMaxAxes];
        for (int a = 0; a < g.rank; ++a)
          at[a] = static_cast<double>(out[a] * g.stride[a] - g.pad[a] + tap[a] * g.dilation[a]) +
                  s.offset[(field * g.rank + a) * positions + col];
        const double scale = s.mask != nullptr ? s.mask[field * positions + col] : 1;
        row[col - j.begin] = scale * self.sample(image, at);
      }
      scatter_term(row, j.size(), t - k.begin, k.size(), dst);
    }
  }

  static void store(const void* p, int64_t product_at, Range i, Range j, const double* tile) {
    const auto& s = *static_cast<const Context*>(p);
    const ConvShape& shape = s.self->shape;
    double row[kGemmCols];
    for (int64_t r = i.begin; r < i.end; ++r) {
      const int64_t channel = product_at % shape.groups * shape.outputs + r;
      const double bias = s.bias != nullptr ? s.bias[channel] : 0;
      for (int64_t c = 0; c < j.size(); ++c) row[c] = tile[(r - i.begin) * kGemmCols + c] + bias;
      write_run<double>(s.self->dtype, row, j.size(), s.y,
                        (product_at * shape.outputs + r) * shape.positions() + j.begin);
    }
  }

  const char* run(const RunArgs& args) const {
    const double* px = x.load(args, 0);
    const double* pw = w.load(args, 1);
    const double* po = offset.load(args, 2);
    const double* pb = bias.load(args, 3);
    const Context ctx{this, px, pw, po, pb, mask.load(args, 4), args.out[0]};
    GemmTask<double> task;
    task.batch = shape.products();
    task.m = shape.outputs;
    task.n = shape.positions();
    task.k = shape.terms();
    task.ctx = &ctx;
    task.pack_a = [](const void* p, int64_t product_at, Range i, Range k, double* dst) {
      const auto& s = *static_cast<const Context*>(p);
      const ConvShape& conv = s.self->shape;
      const int64_t terms = conv.terms();
      pack_rows<double>(s.w + product_at % conv.groups * conv.outputs * terms, terms, 1, i, k, dst);
    };
    task.pack_b = pack_b;
    task.store = store;
    gemm<double>(task, static_cast<char*>(args.workspace) + product, args.parallel);
    return nullptr;
  }
};

}  // namespace

const Kernel deform_conv_kernel = make_kernel<DeformConv>("ref.deform_conv");

}  // namespace frit::kernels::ref
