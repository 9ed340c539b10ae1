// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/conv.h"

#include <algorithm>

#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {

using std::int64_t;

namespace {

constexpr int64_t kMaxStep = int64_t{1} << 31;  // of strides, dilations and pads

/// What `gemm` callbacks of a convolution need.
template <class T>
struct ConvContext {
  const ConvShape* shape;
  const T* x;
  const T* w;
  const void* store_ctx;
  void (*store)(const void*, int64_t, Range, Range, const typename GemmAcc<T>::Type*);
};

/// Writes one tile of sums plus bias to y; used by conv and conv_transpose.
template <class T>
struct BiasStore {
  const ConvShape* shape;
  const T* bias;  ///< null for none
  void* y;
  DType dtype;

  static void store(const void* ctx, int64_t product, Range i, Range j,
                    const typename GemmAcc<T>::Type* tile) {
    const BiasStore& s = *static_cast<const BiasStore*>(ctx);
    double row[kGemmCols];
    const int64_t first = product % s.shape->groups * s.shape->outputs;
    const int64_t sample = product / s.shape->groups * s.shape->groups * s.shape->outputs;
    for (int64_t r = i.begin; r < i.end; ++r) {
      const auto* sums = tile + (r - i.begin) * kGemmCols;
      const double bias = s.bias != nullptr ? static_cast<double>(s.bias[first + r]) : 0;
      for (int64_t c = 0; c < j.size(); ++c) row[c] = static_cast<double>(sums[c]) + bias;
      write_run<double>(s.dtype, row, j.size(), s.y,
                        (sample + first + r) * s.shape->positions() + j.begin);
    }
  }
};

template <class T>
struct ConvOperands {
  Converted<T> x, w, bias;
  std::uint64_t product_scratch = 0;

  void plan(Checker& c) {
    x.plan(c, c.in(0));
    w.plan(c, c.in(1));
    bias.plan(c, c.in(2));
    product_scratch = c.scratch(gemm_workspace<T>(c.threads()));
  }
};

/// The operands x, w and bias of conv and conv_transpose have one float type.
void check_conv_types(Checker& c) {
  c.require(is_wide_float(c.in(0).dtype), "operand 0 has type %s; expected f16, bf16, f32 or f64",
            dtype_name(c.in(0).dtype));
  c.dtype_in(1, c.in(0).dtype);
  if (c.in(2).present()) c.dtype_in(2, c.in(0).dtype);
  c.dtype_out(0, c.in(0).dtype);
}

struct Conv {
  ConvShape shape;
  DType dtype = DType::undefined;
  ConvOperands<float> f32;
  ConvOperands<double> f64;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "conv");
    if (!c.tensors(2, 3, 1, 1)) return c.error();
    check_conv_types(c);
    dtype = c.in(0).dtype;
    if (!read_conv(c, c.dims_in(0), c.dims_in(1), c.dims_out(0), shape)) return c.error();
    if (c.in(2).present()) c.shape_in(2, {shape.groups * shape.outputs});
    if (dtype == DType::f64)
      f64.plan(c);
    else
      f32.plan(c);
    return c.error();
  }

  template <class T>
  void run_as(const RunArgs& args, const ConvOperands<T>& operands) const {
    const T* x = operands.x.load(args, 0);
    const T* w = operands.w.load(args, 1);
    const BiasStore<T> store{&shape, operands.bias.load(args, 2), args.out[0], dtype};
    run_conv<T>(shape, x, w, &store, BiasStore<T>::store,
                static_cast<char*>(args.workspace) + operands.product_scratch, args.parallel);
  }

  const char* run(const RunArgs& args) const {
    if (dtype == DType::f64)
      run_as<double>(args, f64);
    else
      run_as<float>(args, f32);
    return nullptr;
  }
};

/// y = sum over channels and taps of x spread by w, as a product whose B gathers what reaches each
/// output element.
struct ConvTranspose {
  ConvShape shape;  ///< window.in is x, window.out is y
  DType dtype = DType::undefined;
  ConvOperands<float> f32;
  ConvOperands<double> f64;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "conv_transpose");
    if (!c.tensors(2, 3, 1, 1)) return c.error();
    check_conv_types(c);
    dtype = c.in(0).dtype;
    if (!read(c)) return c.error();
    if (c.in(2).present()) c.shape_in(2, {shape.groups * shape.outputs});
    if (dtype == DType::f64)
      f64.plan(c);
    else
      f32.plan(c);
    return c.error();
  }

  bool read(Checker& c) {
    const Dims x = c.dims_in(0);
    const Dims w = c.dims_in(1);
    const Dims y = c.dims_out(0);
    if (!c.require(x.rank >= 3 && w.rank == x.rank && y.rank == x.rank,
                   "ranks of x, w and y are %d, %d and %d; expected one rank of at least 3", x.rank,
                   w.rank, y.rank))
      return false;
    shape.groups = c.integer_or("group", 1, INT64_MAX, 1);
    if (!c.require(x[1] % shape.groups == 0 && w[0] == x[1] && y[0] == x[0] &&
                       y[1] % shape.groups == 0 && y[1] / shape.groups == w[1],
                   "x, w and y do not agree on batch, channels and group"))
      return false;
    shape.batch = x[0];
    shape.channels = x[1] / shape.groups;
    shape.outputs = w[1];
    Window& g = shape.window;
    g.rank = x.rank - 2;
    int64_t pads[2 * kMaxRank] = {};
    int64_t extra[kMaxRank] = {};
    c.integers_or("strides", g.rank, 1, kMaxStep, 1, g.stride);
    c.integers_or("dilations", g.rank, 1, kMaxStep, 1, g.dilation);
    c.integers_or("pads", 2 * g.rank, -kMaxStep, kMaxStep, 0, pads);
    c.integers_or("output_padding", g.rank, 0, kMaxStep, 0, extra);
    for (int a = 0; c.ok() && a < g.rank; ++a) {
      g.in[a] = x[a + 2];
      g.out[a] = y[a + 2];
      g.kernel[a] = w[a + 2];
      g.pad[a] = pads[a];
      if (!c.require(g.kernel[a] >= 1 && (g.kernel[a] - 1) <= (int64_t{1} << 48) / g.dilation[a] &&
                         g.in[a] <= (int64_t{1} << 60) / g.stride[a],
                     "kernel, dilation or stride on spatial axis %d is out of range", a))
        return false;
      const int64_t want = (g.in[a] - 1) * g.stride[a] + extra[a] +
                           g.dilation[a] * (g.kernel[a] - 1) + 1 - pads[a] - pads[g.rank + a];
      c.require(g.out[a] == std::max<int64_t>(want, 0) || g.in[a] == 0,
                "result has dim %lld on spatial axis %d; expected %lld",
                static_cast<long long>(g.out[a]), a, static_cast<long long>(want));
    }
    return c.ok();
  }

  template <class T>
  static void pack_weights(const void* ctx, int64_t product, Range i, Range k, T* dst) {
    const auto& s = *static_cast<const ConvContext<T>*>(ctx);
    const ConvShape& shape = *s.shape;
    const int64_t taps = shape.taps();
    const T* w = s.w + product % shape.groups * shape.channels * shape.outputs * taps;
    for (int64_t i0 = i.begin; i0 < i.end; i0 += kGemmMr, dst += kGemmMr * k.size()) {
      for (int64_t t = k.begin; t < k.end; ++t) {
        const T* row = w + t / taps * shape.outputs * taps + t % taps;
        for (int64_t r = 0; r < kGemmMr; ++r)
          dst[(t - k.begin) * kGemmMr + r] = i0 + r < i.end ? row[(i0 + r) * taps] : T{};
      }
    }
  }

  template <class T>
  void run_as(const RunArgs& args, const ConvOperands<T>& operands) const {
    const T* x = operands.x.load(args, 0);
    const T* w = operands.w.load(args, 1);
    const BiasStore<T> store{&shape, operands.bias.load(args, 2), args.out[0], dtype};
    const ConvContext<T> ctx{&shape, x, w, &store, BiasStore<T>::store};
    GemmTask<T> task;
    task.batch = shape.products();
    task.m = shape.outputs;
    task.n = shape.positions();
    task.k = shape.terms();
    task.ctx = &ctx;
    task.pack_a = pack_weights<T>;
    task.pack_b = [](const void* p, int64_t product, Range j, Range k, T* dst) {
      const auto& s = *static_cast<const ConvContext<T>*>(p);
      const int64_t image = s.shape->channels * s.shape->window.in_volume();
      pack_spread<T>(s.shape->window, s.x + product * image, j, k, dst);
    };
    task.store = [](const void* p, int64_t product, Range i, Range j,
                    const typename GemmAcc<T>::Type* tile) {
      const auto& s = *static_cast<const ConvContext<T>*>(p);
      s.store(s.store_ctx, product, i, j, tile);
    };
    gemm<T>(task, static_cast<char*>(args.workspace) + operands.product_scratch, args.parallel);
  }

  const char* run(const RunArgs& args) const {
    if (dtype == DType::f64)
      run_as<double>(args, f64);
    else
      run_as<float>(args, f32);
    return nullptr;
  }
};

}  // namespace

bool read_window(Checker& c, const Dims& x, const Dims& w, const Dims& y, Window& g) {
  if (!c.require(x.rank >= 3 && w.rank == x.rank && y.rank == x.rank,
                 "ranks of x, w and y are %d, %d and %d; expected one rank of at least 3", x.rank,
                 w.rank, y.rank))
    return false;
  g.rank = x.rank - 2;
  int64_t pads[2 * kMaxRank] = {};
  c.integers_or("strides", g.rank, 1, kMaxStep, 1, g.stride);
  c.integers_or("dilations", g.rank, 1, kMaxStep, 1, g.dilation);
  c.integers_or("pads", 2 * g.rank, -kMaxStep, kMaxStep, 0, pads);
  for (int a = 0; c.ok() && a < g.rank; ++a) {
    g.in[a] = x[a + 2];
    g.out[a] = y[a + 2];
    g.kernel[a] = w[a + 2];
    g.pad[a] = pads[a];
    if (!c.require(g.kernel[a] >= 1 && g.kernel[a] - 1 <= (int64_t{1} << 48) / g.dilation[a],
                   "kernel has dim %lld with dilation %lld on spatial axis %d, out of range",
                   static_cast<long long>(g.kernel[a]), static_cast<long long>(g.dilation[a]), a))
      return false;
    const int64_t room =
        g.in[a] + pads[a] + pads[g.rank + a] - g.dilation[a] * (g.kernel[a] - 1) - 1;
    const int64_t want = room < 0 ? 0 : room / g.stride[a] + 1;
    c.require(g.out[a] == want, "result has dim %lld on spatial axis %d; expected %lld",
              static_cast<long long>(g.out[a]), a, static_cast<long long>(want));
  }
  return c.ok();
}

bool read_conv(Checker& c, const Dims& x, const Dims& w, const Dims& y, ConvShape& shape) {
  if (!read_window(c, x, w, y, shape.window)) return false;
  shape.groups = c.integer_or("group", 1, INT64_MAX, 1);
  shape.batch = x[0];
  shape.channels = w[1];
  shape.outputs = w[0] / shape.groups;
  c.require(x[1] % shape.groups == 0 && x[1] / shape.groups == w[1],
            "x has %lld channels and w %lld per group; they do not agree with group %lld",
            static_cast<long long>(x[1]), static_cast<long long>(w[1]),
            static_cast<long long>(shape.groups));
  c.require(w[0] % shape.groups == 0 && y[1] == w[0] && y[0] == x[0],
            "w makes %lld channels in group %lld; the result is %lld x %lld for a batch of %lld",
            static_cast<long long>(w[0]), static_cast<long long>(shape.groups),
            static_cast<long long>(y[0]), static_cast<long long>(y[1]),
            static_cast<long long>(x[0]));
  return c.ok();
}

template <class T>
void run_conv(const ConvShape& shape, const T* x, const T* w, const void* ctx,
              void (*store)(const void*, int64_t, Range, Range, const typename GemmAcc<T>::Type*),
              void* workspace, const Parallel& parallel) {
  const ConvContext<T> context{&shape, x, w, ctx, store};
  GemmTask<T> task;
  task.batch = shape.products();
  task.m = shape.outputs;
  task.n = shape.positions();
  task.k = shape.terms();
  task.ctx = &context;
  task.pack_a = [](const void* p, int64_t product, Range i, Range k, T* dst) {
    const auto& s = *static_cast<const ConvContext<T>*>(p);
    const int64_t terms = s.shape->terms();
    pack_rows<T>(s.w + product % s.shape->groups * s.shape->outputs * terms, terms, 1, i, k, dst);
  };
  task.pack_b = [](const void* p, int64_t product, Range j, Range k, T* dst) {
    const auto& s = *static_cast<const ConvContext<T>*>(p);
    const int64_t image = s.shape->channels * s.shape->window.in_volume();
    pack_patches<T>(s.shape->window, s.x + product * image, j, k, dst);
  };
  task.store = [](const void* p, int64_t product, Range i, Range j,
                  const typename GemmAcc<T>::Type* tile) {
    const auto& s = *static_cast<const ConvContext<T>*>(p);
    s.store(s.store_ctx, product, i, j, tile);
  };
  gemm<T>(task, workspace, parallel);
}

template void run_conv<std::uint32_t>(
    const ConvShape&, const std::uint32_t*, const std::uint32_t*, const void*,
    void (*)(const void*, int64_t, Range, Range, const std::uint32_t*), void*, const Parallel&);

const Kernel conv_kernel = make_kernel<Conv>("ref.conv");
const Kernel conv_transpose_kernel = make_kernel<ConvTranspose>("ref.conv_transpose");

}  // namespace frit::kernels::ref
