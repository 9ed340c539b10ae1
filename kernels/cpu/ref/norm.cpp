// SPDX-License-Identifier: Apache-2.0
// Normalizations whose groups of elements lie together in memory. All compute in f64.
#include <cmath>

#include "kernels/cpu/ref/reduce_plan.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

bool is_norm_type(DType t) {
  return is_real(t) && bits(t) >= 8;
}

bool check_types(Checker& c, int count) {
  for (int i = 0; i < count; ++i)
    c.require(!c.in(i).present() || is_norm_type(c.in(i).dtype),
              "operand %d has type %s; expected a float of 8 bits or more", i,
              dtype_name(c.in(i).dtype));
  c.dtype_out(0, c.in(0).dtype);
  return c.shape_out(0, c.dims_in(0));
}

double read_epsilon(Checker& c) {
  const double epsilon = c.real("epsilon");
  c.require(epsilon >= 0 && std::isfinite(epsilon),
            "attribute 'epsilon' is %g; expected a finite number of 0 or more", epsilon);
  return epsilon;
}

/// Elements [offset, offset + n) in tiles of f64.
template <class F>
void for_tiles(DType t, const void* x, int64_t offset, int64_t n, F&& f) {
  alignas(64) double tile[kTile];
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t count = std::min(kTile, n - i);
    load_run(t, x, offset + i, count, tile);
    f(tile, i, count);
  }
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments_of(DType t, const void* x, int64_t offset, int64_t n) {
  Moments m;
  double sum = 0;
  for_tiles(t, x, offset, n,
            [&](const double* v, int64_t, int64_t count) { sum += sum_of(v, count); });
  m.mean = sum / static_cast<double>(n);
  sum = 0;
  for_tiles(t, x, offset, n, [&](double* v, int64_t, int64_t count) {
    for (int64_t j = 0; j < count; ++j) v[j] = (v[j] - m.mean) * (v[j] - m.mean);
    sum += sum_of(v, count);
  });
  m.variance = sum / static_cast<double>(n);
  return m;
}

/// An optional operand that broadcasts over the elements of one row, as f64.
struct RowOperand {
  bool present = false;
  BroadcastView view;

  void plan(Checker& c, int i, const Dims& row) {
    present = c.in(i).present();
    if (present) view.plan(c, i, row);
  }
  /// n of its elements from element `at` of the row on.
  void read(const void* data, int64_t at, int64_t n, double* to) const {
    TileBuffer buffer;
    const void* tile = view.tile(data, at, n, buffer);
    load_run(compute_of(view.dtype()) == Compute::f64 ? DType::f64 : DType::f32, tile, 0, n, to);
  }
};

/// layer_norm, and rms_norm, which neither subtracts the mean nor adds a bias.
struct RowNorm {
  bool rms = false;
  DType dtype = DType::undefined;
  DType mean_type = DType::undefined;
  DType inverse_type = DType::undefined;
  int64_t rows = 0;
  int64_t n = 0;
  double epsilon = 0;
  RowOperand scale, bias;

  const char* prepare(Checker& c) {
    if (!c.tensors(1, rms ? 2 : 3, 0, rms ? 1 : 3) || !check_types(c, c.in_count()))
      return c.error();
    const Dims d = c.dims_in(0);
    c.require(d.rank > 0, "operand 0 is a scalar; expected an axis to normalize");
    const int axis = static_cast<int>(c.integer("axis", 0, std::max(d.rank - 1, 0)));
    epsilon = read_epsilon(c);
    if (!c.ok()) return c.error();
    dtype = c.in(0).dtype;
    rows = d.product(0, axis);
    n = d.product(axis, d.rank);
    Dims row;
    Dims outer = d;
    for (int a = axis; a < d.rank; ++a) {
      row[row.rank++] = d[a];
      outer[a] = 1;
    }
    scale.plan(c, 1, row);
    if (!rms) bias.plan(c, 2, row);
    for (int r = 1; r < c.out_count(); ++r) {
      if (!c.out(r).present()) continue;
      c.require(is_norm_type(c.out(r).dtype), "result %d has type %s; expected a float", r,
                dtype_name(c.out(r).dtype));
      c.shape_out(r, outer);
    }
    mean_type = c.out(1).dtype;
    inverse_type = c.out(2).dtype;
    return c.error();
  }

  void row(const RunArgs& args, int64_t r) const {
    const int64_t at = r * n;
    double mean = 0;
    double square = 0;
    if (rms) {
      for_tiles(dtype, args.in[0], at, n, [&](double* v, int64_t, int64_t count) {
        for (int64_t j = 0; j < count; ++j) v[j] *= v[j];
        square += sum_of(v, count);
      });
      square /= static_cast<double>(n);
    } else {
      const Moments m = moments_of(dtype, args.in[0], at, n);
      mean = m.mean;
      square = m.variance;
    }
    const double inverse = 1 / std::sqrt(square + epsilon);
    for_tiles(dtype, args.in[0], at, n, [&](double* v, int64_t i, int64_t count) {
      alignas(64) double factor[kTile];
      for (int64_t j = 0; j < count; ++j) v[j] = (v[j] - mean) * inverse;
      if (scale.present) {
        scale.read(args.in[1], i, count, factor);
        for (int64_t j = 0; j < count; ++j) v[j] *= factor[j];
      }
      if (bias.present) {
        bias.read(args.in[2], i, count, factor);
        for (int64_t j = 0; j < count; ++j) v[j] += factor[j];
      }
      store_run(dtype, v, args.out[0], at + i, count);
    });
    if (mean_type != DType::undefined) store_f64(mean_type, args.out[1], r, mean);
    if (inverse_type != DType::undefined) store_f64(inverse_type, args.out[2], r, inverse);
  }

  const char* run(const RunArgs& args) const {
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, n));
    args.parallel(rows, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) row(args, r);
    });
    return nullptr;
  }
};

struct LayerNorm : RowNorm {
  const char* prepare(PrepareArgs& args) {
    Checker c(args, "layer_norm");
    if (!c.require(c.out_count() > 0 && c.out(0).present(), "result 0 is required but absent"))
      return c.error();
    return RowNorm::prepare(c);
  }
};

struct RmsNorm : RowNorm {
  const char* prepare(PrepareArgs& args) {
    rms = true;
    Checker c(args, "rms_norm");
    if (!c.require(c.out_count() > 0 && c.out(0).present(), "result 0 is required but absent"))
      return c.error();
    return RowNorm::prepare(c);
  }
};

/// An operand with one number per channel, dim 1 of operand 0.
bool check_channels(Checker& c, int first, int last) {
  const Dims d = c.dims_in(0);
  if (!c.require(d.rank >= 2, "operand 0 has rank %d; expected 2 or more", d.rank)) return false;
  for (int i = first; i <= last; ++i) c.shape_in(i, {d[1]});
  return c.ok();
}

/// y = x * factor + offset over n elements from `at` on.
void apply_affine(DType t, const RunArgs& args, int64_t at, int64_t n, double mean, double factor,
                  double offset) {
  for_tiles(t, args.in[0], at, n, [&](double* v, int64_t i, int64_t count) {
    for (int64_t j = 0; j < count; ++j) v[j] = (v[j] - mean) * factor + offset;
    store_run(t, v, args.out[0], at + i, count);
  });
}

struct GroupNorm {
  DType dtype = DType::undefined, scale = DType::undefined, bias = DType::undefined;
  int64_t batch = 0, channels = 0, groups = 1, area = 0;
  double epsilon = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "group_norm");
    if (!c.tensors(3, 3, 1, 1) || !check_types(c, 3) || !check_channels(c, 1, 2)) return c.error();
    const Dims d = c.dims_in(0);
    batch = d[0];
    channels = d[1];
    area = d.product(2, d.rank);
    groups = c.integer("groups", 1, std::max<int64_t>(channels, 1));
    c.require(channels % groups == 0, "%lld channels do not divide into %lld groups",
              static_cast<long long>(channels), static_cast<long long>(groups));
    epsilon = read_epsilon(c);
    dtype = c.in(0).dtype;
    scale = c.in(1).dtype;
    bias = c.in(2).dtype;
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    const int64_t members = channels / groups;
    args.parallel(batch * groups, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t g = begin; g < end; ++g) {
        const int64_t at = g * members * area;
        if (members * area == 0) continue;
        const Moments m = moments_of(dtype, args.in[0], at, members * area);
        const double inverse = 1 / std::sqrt(m.variance + epsilon);
        for (int64_t k = 0; k < members; ++k) {
          const int64_t channel = g % groups * members + k;
          apply_affine(dtype, args, at + k * area, area, m.mean,
                       inverse * load_f64(scale, args.in[1], channel),
                       load_f64(bias, args.in[2], channel));
        }
      }
    });
    return nullptr;
  }
};

struct BatchNorm {
  DType types[5] = {};
  int64_t planes = 0, channels = 0, area = 0;
  double epsilon = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "batch_norm");
    if (!c.tensors(5, 5, 1, 1) || !check_types(c, 5) || !check_channels(c, 1, 4)) return c.error();
    const Dims d = c.dims_in(0);
    channels = d[1];
    planes = d[0] * channels;
    area = d.product(2, d.rank);
    epsilon = read_epsilon(c);
    for (int i = 0; i < 5; ++i) types[i] = c.in(i).dtype;
    return c.error();
  }

  const char* run(const RunArgs& args) const {
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, area));
    args.parallel(planes, grain, [&](int64_t begin, int64_t end, int) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t channel = p % channels;
        const auto at = [&](int i) { return load_f64(types[i], args.in[i], channel); };
        apply_affine(types[0], args, p * area, area, at(3), at(1) / std::sqrt(at(4) + epsilon),
                     at(2));
      }
    });
    return nullptr;
  }
};

}  // namespace

const Kernel layer_norm_kernel = make_kernel<LayerNorm>("ref.layer_norm");
const Kernel rms_norm_kernel = make_kernel<RmsNorm>("ref.rms_norm");
const Kernel group_norm_kernel = make_kernel<GroupNorm>("ref.group_norm");
const Kernel batch_norm_kernel = make_kernel<BatchNorm>("ref.batch_norm");

}  // namespace frit::kernels::ref
