// SPDX-License-Identifier: Apache-2.0
// Recurrent layers (LSTM, GRU, plain RNN), computed in f64 whatever the stored type.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/ref/gemm.h"
#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

enum RnnKind { kLstm, kGru, kRnn };

enum class Act {
  sigmoid,
  tanh,
  relu,
  affine,
  leakyrelu,
  thresholdedrelu,
  scaledtanh,
  hardsigmoid,
  elu,
  softsign,
  softplus,
};

/// An activation with its parameters.
struct Activation {
  Act act = Act::sigmoid;
  double alpha = 0;
  double beta = 0;

  double operator()(double x) const {
    switch (act) {
      case Act::sigmoid:
        return 1 / (1 + std::exp(-x));
      case Act::tanh:
        return std::tanh(x);
      case Act::relu:
        return x < 0 ? 0 : x;
      case Act::affine:
        return alpha * x + beta;
      case Act::leakyrelu:
        return x < 0 ? alpha * x : x;
      case Act::thresholdedrelu:
        return x > alpha ? x : 0;
      case Act::scaledtanh:
        return alpha * std::tanh(beta * x);
      case Act::hardsigmoid:
        return std::clamp(alpha * x + beta, 0.0, 1.0);
      case Act::elu:
        return x < 0 ? alpha * std::expm1(x) : x;
      case Act::softsign:
        return x / (1 + std::fabs(x));
      case Act::softplus:
        return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    }
    return x;
  }
};

struct ActName {
  const char* name;
  Act act;
  double alpha, beta;  ///< ONNX's defaults
};

constexpr ActName kActs[] = {
    {"sigmoid", Act::sigmoid, 0, 0},
    {"tanh", Act::tanh, 0, 0},
    {"relu", Act::relu, 0, 0},
    {"affine", Act::affine, 1, 0},
    {"leakyrelu", Act::leakyrelu, 0.01, 0},
    {"thresholdedrelu", Act::thresholdedrelu, 1, 0},
    {"scaledtanh", Act::scaledtanh, 1, 1},
    {"hardsigmoid", Act::hardsigmoid, 0.2, 0.5},
    {"elu", Act::elu, 1, 0},
    {"softsign", Act::softsign, 0, 0},
    {"softplus", Act::softplus, 0, 0},
};

/// True if `text` starts with `name`, underscores aside, and then ends or has a comma; `text` moves
/// on.
bool take_name(const char*& text, const char* name) {
  const char* t = text;
  for (; *name != '\0'; ++name, ++t) {
    while (*t == '_') ++t;
    if (*t != *name) return false;
  }
  if (*t != '\0' && *t != ',') return false;
  text = *t == ',' ? t + 1 : t;
  return true;
}

/// rows x columns = a [rows, depth] · b [columns, depth]ᵀ, all dense f64.
struct Product {
  const double* a;
  const double* b;
  double* y;
  int64_t columns, depth, y_stride;

  void run(int64_t rows, void* workspace, const Parallel& parallel) const {
    GemmTask<double> task;
    task.m = rows;
    task.n = columns;
    task.k = depth;
    task.ctx = this;
    task.pack_a = [](const void* p, int64_t, Range i, Range k, double* dst) {
      const auto& s = *static_cast<const Product*>(p);
      pack_rows<double>(s.a, s.depth, 1, i, k, dst);
    };
    task.pack_b = [](const void* p, int64_t, Range j, Range k, double* dst) {
      const auto& s = *static_cast<const Product*>(p);
      pack_columns<double>(s.b, 1, s.depth, j, k, dst);
    };
    task.store = [](const void* p, int64_t, Range i, Range j, const double* tile) {
      const auto& s = *static_cast<const Product*>(p);
      for (int64_t r = i.begin; r < i.end; ++r)
        std::copy_n(tile + (r - i.begin) * kGemmCols, j.size(), s.y + r * s.y_stride + j.begin);
    };
    gemm<double>(task, workspace, parallel);
  }
};

struct Rnn {
  RnnKind kind = kLstm;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, gates = 0;
  int directions = 1;
  bool reverse_first = false, batch_major = false, linear_before_reset = false,
       input_forget = false;
  double clip = 0;
  Activation acts[6];
  DType dtype = DType::undefined;
  DType lens_type = DType::undefined;
  bool has_y[3] = {};
  Converted<double> x, w, r, b, h0, c0, p;
  std::uint64_t from_x = 0, from_h = 0, h_at = 0, c_at = 0, reset_at = 0, product = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "rnn");
    if (!c.tensors(3, 8, 0, 3)) return c.error();
    kind = static_cast<RnnKind>(c.choice("kind", {"lstm", "gru", "rnn"}));
    const int direction = c.choice_or("direction", {"forward", "reverse", "bidirectional"}, 0);
    directions = direction == 2 ? 2 : 1;
    reverse_first = direction == 1;
    batch_major = c.integer_or("layout", 0, 1, 0) != 0;
    linear_before_reset = c.integer_or("linear_before_reset", 0, 1, 0) != 0;
    input_forget = c.integer_or("input_forget", 0, 1, 0) != 0;
    clip = c.real_or("clip", 0);
    gates = kind == kLstm ? 4 : kind == kGru ? 3 : 1;
    read_operands(c);
    read_activations(c);
    if (!c.ok()) return c.error();
    Converted<double>* const all[] = {&x, &w, &r, &b, nullptr, &h0, &c0, &p};
    for (int i = 0; i < 8; ++i)
      if (all[i] != nullptr) all[i]->plan(c, c.in(i));
    const auto doubles = [&](int64_t n) {
      return c.scratch(static_cast<std::uint64_t>(n) * sizeof(double));
    };
    from_x = doubles(steps * batch * gates * hidden);
    from_h = doubles(batch * gates * hidden);
    h_at = doubles(batch * hidden);
    c_at = doubles(batch * hidden);
    reset_at = doubles(batch * hidden);
    product = c.scratch(gemm_workspace<double>(c.threads()));
    return c.error();
  }

  void read_operands(Checker& c) {
    const Dims dx = c.dims_in(0);
    const Dims dr = c.dims_in(2);
    dtype = c.in(0).dtype;
    c.require(is_wide_float(dtype), "operand 0 has type %s; expected f16, bf16, f32 or f64",
              dtype_name(dtype));
    for (const int i : {1, 2, 3, 5, 6, 7})
      if (c.in(i).present()) c.dtype_in(i, dtype);
    if (!c.require(dx.rank == 3 && dr.rank == 3, "x has rank %d and r %d; expected 3", dx.rank,
                   dr.rank))
      return;
    steps = dx[batch_major ? 1 : 0];
    batch = dx[batch_major ? 0 : 1];
    inputs = dx[2];
    hidden = dr[2];
    if (!c.require(hidden <= int64_t{1} << 40 &&
                       steps * batch <= (int64_t{1} << 48) / std::max<int64_t>(gates * hidden, 1),
                   "a hidden size of %lld over %lld steps is too large",
                   static_cast<long long>(hidden), static_cast<long long>(steps)))
      return;
    c.integer_or("hidden", hidden, hidden, hidden);
    const int64_t d = directions;
    c.shape_in(1, {d, gates * hidden, inputs});
    c.shape_in(2, {d, gates * hidden, hidden});
    if (c.in(3).present()) c.shape_in(3, {d, 2 * gates * hidden});
    if (c.in(4).present()) check_index_vector(c, 4, batch, batch);
    lens_type = c.in(4).dtype;
    for (const int i : {5, 6}) {
      if (!c.in(i).present()) continue;
      batch_major ? c.shape_in(i, {batch, d, hidden}) : c.shape_in(i, {d, batch, hidden});
    }
    if (c.in(7).present()) c.shape_in(7, {d, 3 * hidden});
    c.require(kind == kLstm || (!c.in(6).present() && !c.in(7).present() && !c.out(2).present()),
              "operands 6 and 7 and result 2 are for kind lstm only");
    Dims y = batch_major ? Dims{4, {batch, steps, d, hidden}} : Dims{4, {steps, d, batch, hidden}};
    Dims last = batch_major ? Dims{3, {batch, d, hidden}} : Dims{3, {d, batch, hidden}};
    for (int i = 0; i < 3; ++i) {
      has_y[i] = c.out(i).present();
      if (!has_y[i]) continue;
      c.dtype_out(i, dtype);
      c.shape_out(i, i == 0 ? y : last);
    }
  }

  void read_activations(Checker& c) {
    const int per = kind == kLstm ? 3 : kind == kGru ? 2 : 1;
    const int count = per * directions;
    const char* names = c.has("activations") ? c.text("activations") : "";
    const bool defaults = *names == '\0';
    for (int i = 0; i < count; ++i) {
      if (defaults) {
        acts[i].act = kind != kRnn && i % per == 0 ? Act::sigmoid : Act::tanh;
        continue;
      }
      bool known = false;
      for (const ActName& a : kActs) {
        if (!take_name(names, a.name)) continue;
        acts[i] = {a.act, a.alpha, a.beta};
        known = true;
        break;
      }
      if (!c.require(known, "activation %d ('%.30s') is missing or unknown", i, names)) return;
    }
    c.require(*names == '\0', "attribute 'activations' has more than %d names", count);
    double values[6] = {};
    const auto given = [&](const char* name) {
      const Attr* a = c.args().find(name);
      return a != nullptr && a->count != 0 && c.reals(name, count, values);
    };
    if (given("act_alpha"))
      for (int i = 0; i < count; ++i) acts[i].alpha = values[i];
    if (given("act_beta"))
      for (int i = 0; i < count; ++i) acts[i].beta = values[i];
  }

  double limited(double v) const { return clip > 0 ? std::clamp(v, -clip, clip) : v; }

  int64_t length(const RunArgs& args, int64_t b_at) const {
    return lens_type == DType::undefined ? steps : index_at(lens_type, args.in[4], b_at);
  }

  /// Offset of the state of direction d, sequence s, in h0, c0, y_h and y_c.
  int64_t state_offset(int d, int64_t s) const {
    return (batch_major ? s * directions + d : d * batch + s) * hidden;
  }
  int64_t y_offset(int d, int64_t t, int64_t s) const {
    return (batch_major ? (s * steps + t) * directions + d : (t * directions + d) * batch + s) *
           hidden;
  }

  /// Everything one direction works on.
  struct Pass {
    int d;
    const double *w, *r, *b, *p;
    double *from_x, *from_h, *h, *c, *reset;
    const Activation* act;
    void* product;

    double bias(int64_t i) const { return b != nullptr ? b[i] : 0; }
  };

  /// The new state of an LSTM cell; `fx` and `fh` hold the four gates (i, o, f, c).
  void step_lstm(const Pass& s, const double* fx, const double* fh, double* h, double* c) const {
    const int64_t n = hidden;
    for (int64_t k = 0; k < n; ++k) {
      const auto sum = [&](int64_t gate) {
        const int64_t i = gate * n + k;
        return fx[i] + fh[i] + s.bias(i) + s.bias(4 * n + i);
      };
      const auto peep = [&](int64_t gate, double cell) {
        return s.p != nullptr ? s.p[gate * n + k] * cell : 0;
      };
      const double in = s.act[0](limited(sum(0) + peep(0, c[k])));
      const double forget = input_forget ? 1 - in : s.act[0](limited(sum(2) + peep(2, c[k])));
      const double fresh = s.act[1](limited(sum(3)));
      c[k] = forget * c[k] + in * fresh;
      const double out = s.act[0](limited(sum(1) + peep(1, c[k])));
      h[k] = out * s.act[2](c[k]);
    }
  }

  void step_rnn(const Pass& s, const double* fx, const double* fh, double* h) const {
    for (int64_t k = 0; k < hidden; ++k)
      h[k] = s.act[0](limited(fx[k] + fh[k] + s.bias(k) + s.bias(hidden + k)));
  }

  /// Gates z and r of a GRU into fh, and what multiplies R for the candidate into `reset`.
  void gates_gru(const Pass& s, const double* fx, double* fh, const double* h,
                 double* reset) const {
    const int64_t n = hidden;
    for (int64_t i = 0; i < 2 * n; ++i)
      fh[i] = s.act[0](limited(fx[i] + fh[i] + s.bias(i) + s.bias(3 * n + i)));
    for (int64_t k = 0; k < n; ++k) reset[k] = fh[n + k] * h[k];
  }

  void step_gru(const Pass& s, const double* fx, const double* fh, double* h) const {
    const int64_t n = hidden;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t i = 2 * n + k;
      const double recurrent = fh[i] + s.bias(3 * n + i);
      const double scaled = linear_before_reset ? fh[n + k] * recurrent : recurrent;
      const double fresh = s.act[1](limited(fx[i] + scaled + s.bias(i)));
      h[k] = (1 - fh[k]) * fresh + fh[k] * h[k];
    }
  }

  void run_direction(const RunArgs& args, const Pass& s) const {
    const int64_t width = gates * hidden;
    const bool reverse = s.d == 1 || reverse_first;
    const bool two_stage = kind == kGru && !linear_before_reset;
    const int64_t first = two_stage ? 2 * hidden : width;
    for (int64_t step = 0; step < steps; ++step) {
      Product{s.h, s.r, s.from_h, first, hidden, width}.run(batch, s.product, args.parallel);
      if (kind == kGru)
        for (int64_t q = 0; q < batch; ++q) {
          const int64_t len = length(args, q);
          if (step >= len) continue;
          const int64_t t = reverse ? len - 1 - step : step;
          const double* fx = s.from_x + (batch_major ? q * steps + t : t * batch + q) * width;
          gates_gru(s, fx, s.from_h + q * width, s.h + q * hidden, s.reset + q * hidden);
        }
      if (two_stage)
        Product{s.reset, s.r + 2 * hidden * hidden, s.from_h + 2 * hidden, hidden, hidden, width}
            .run(batch, s.product, args.parallel);
      for (int64_t q = 0; q < batch; ++q) {
        const int64_t len = length(args, q);
        if (step >= len) continue;
        const int64_t t = reverse ? len - 1 - step : step;
        const double* fx = s.from_x + (batch_major ? q * steps + t : t * batch + q) * width;
        const double* fh = s.from_h + q * width;
        double* h = s.h + q * hidden;
        if (kind == kLstm) step_lstm(s, fx, fh, h, s.c + q * hidden);
        if (kind == kGru) step_gru(s, fx, fh, h);
        if (kind == kRnn) step_rnn(s, fx, fh, h);
        if (has_y[0]) write_run<double>(dtype, h, hidden, args.out[0], y_offset(s.d, t, q));
      }
    }
  }

  /// Zeros past the end of short sequences, and the final states.
  void finish(const RunArgs& args, const Pass& s) const {
    std::fill_n(s.reset, hidden, 0.0);
    for (int64_t q = 0; q < batch; ++q) {
      for (int64_t t = length(args, q); has_y[0] && t < steps; ++t)
        write_run<double>(dtype, s.reset, hidden, args.out[0], y_offset(s.d, t, q));
      if (has_y[1])
        write_run<double>(dtype, s.h + q * hidden, hidden, args.out[1], state_offset(s.d, q));
      if (has_y[2])
        write_run<double>(dtype, s.c + q * hidden, hidden, args.out[2], state_offset(s.d, q));
    }
  }

  const char* run(const RunArgs& args) const {
    for (int64_t q = 0; q < batch; ++q)
      if (length(args, q) < 0 || length(args, q) > steps)
        return "rnn: a sequence length is negative or longer than the operand; check the lengths";
    if (batch == 0 || hidden == 0) return nullptr;
    const auto at = [&](std::uint64_t offset) {
      return reinterpret_cast<double*>(static_cast<char*>(args.workspace) + offset);
    };
    const double* px = x.load(args, 0);
    const double* pw = w.load(args, 1);
    const double* pr = r.load(args, 2);
    const double* pb = b.load(args, 3);
    const double* ph = h0.load(args, 5);
    const double* pc = c0.load(args, 6);
    const double* pp = p.load(args, 7);
    const int64_t width = gates * hidden;
    const int per = kind == kLstm ? 3 : kind == kGru ? 2 : 1;
    for (int d = 0; d < directions; ++d) {
      const Pass s{d,
                   pw + d * width * inputs,
                   pr + d * width * hidden,
                   pb != nullptr ? pb + d * 2 * width : nullptr,
                   pp != nullptr ? pp + d * 3 * hidden : nullptr,
                   at(from_x),
                   at(from_h),
                   at(h_at),
                   at(c_at),
                   at(reset_at),
                   acts + d * per,
                   at(product)};
      for (int64_t q = 0; q < batch; ++q)
        for (int64_t k = 0; k < hidden; ++k) {
          s.h[q * hidden + k] = ph != nullptr ? ph[state_offset(d, q) + k] : 0;
          s.c[q * hidden + k] = pc != nullptr ? pc[state_offset(d, q) + k] : 0;
          s.reset[q * hidden + k] = 0;
        }
      Product{px, s.w, s.from_x, width, inputs, width}.run(steps * batch, s.product, args.parallel);
      run_direction(args, s);
      finish(args, s);
    }
    return nullptr;
  }
};

}  // namespace

const Kernel rnn_kernel = make_kernel<Rnn>("ref.rnn");

}  // namespace frit::kernels::ref
