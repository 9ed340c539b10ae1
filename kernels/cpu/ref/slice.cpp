// SPDX-License-Identifier: Apache-2.0
// Movement ops that take tensors apart and put them together: slice, split, concat,
// reverse_sequence.
#include <algorithm>
#include <new>

#include "kernels/cpu/ref/checker.h"
#include "kernels/cpu/ref/shape_operand.h"
#include "kernels/cpu/ref/state.h"
#include "kernels/cpu/ref/strided_copy.h"

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// The part of one axis that a slice takes.
struct AxisSlice {
  int64_t start = 0;
  int64_t step = 1;
  int64_t size = 0;
};

/// ONNX's clamping of start and end on an axis of `dim` elements; step is not 0.
AxisSlice clamp_slice(int64_t dim, int64_t start, int64_t end, int64_t step) {
  AxisSlice s;
  if (dim == 0) return s;
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  // A longer step takes one element at most, and its negation or product must not overflow.
  s.step = std::clamp(step, -dim - 1, dim + 1);
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    s.size = end > start ? (end - start - 1) / s.step + 1 : 0;
  } else {
    start = std::clamp<int64_t>(start, 0, dim - 1);
    end = std::clamp<int64_t>(end, -1, dim - 1);
    s.size = start > end ? (start - end - 1) / -s.step + 1 : 0;
  }
  s.start = start;
  return s;
}

struct Slice {
  Dims x, y;
  AxisSlice axes[kMaxRank];
  IndexVector starts, ends, names, steps;
  int bits = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "slice");
    if (!c.tensors(1, 5, 1, 1)) return c.error();
    c.dtype_out(0, c.in(0).dtype);
    bits = dtype_bits(c.in(0).dtype);
    x = c.dims_in(0);
    y = c.dims_out(0);
    c.require(x.rank == y.rank, "operand has rank %d and result %d", x.rank, y.rank);
    starts = index_vector(c, 1, 0, x.rank);
    if (starts.present()) {
      c.require(c.in(2).present(), "operand 1 (starts) needs operand 2 (ends)");
      ends = index_vector(c, 2, starts.count, starts.count);
      names = index_vector(c, 3, starts.count, starts.count);
      steps = index_vector(c, 4, starts.count, starts.count);
    } else {
      for (int i = 2; i < c.in_count(); ++i)
        c.require(!c.in(i).present(), "operand %d needs operand 1 (starts)", i);
      read_static(c);
    }
    return c.error();
  }

  void read_static(Checker& c) {
    int64_t from[kMaxRank] = {};
    int64_t step[kMaxRank] = {};
    c.integers("starts", x.rank, -1, INT64_MAX, from);
    c.integers("steps", x.rank, INT64_MIN, INT64_MAX, step);
    for (int a = 0; c.ok() && a < x.rank; ++a) {
      AxisSlice& s = axes[a];
      s = {from[a], std::clamp(step[a], -x[a] - 1, x[a] + 1), y[a]};
      c.require(step[a] != 0, "attribute 'steps' is 0 on axis %d", a);
      if (y[a] == 0) continue;
      // Divided, not multiplied: (size - 1) * step may overflow.
      const int64_t room = s.step > 0 ? x[a] - 1 - s.start : s.start;
      const int64_t stride = s.step > 0 ? s.step : -s.step;
      c.require(c.ok() && s.start >= 0 && s.start < x[a] && (y[a] - 1) <= room / stride,
                "%lld elements from %lld in steps of %lld leave the %lld of axis %d",
                static_cast<long long>(y[a]), static_cast<long long>(s.start),
                static_cast<long long>(s.step), static_cast<long long>(x[a]), a);
    }
  }

  const char* read_dynamic(const RunArgs& args, AxisSlice* to) const {
    int named[kMaxRank] = {};
    const int count = static_cast<int>(starts.count);
    if (const char* e =
            read_axes(names, names.present() ? args.in[3] : nullptr, count, x.rank, named))
      return e;
    for (int a = 0; a < x.rank; ++a) to[a] = {0, 1, x[a]};
    for (int i = 0; i < count; ++i) {
      const int64_t step = steps.present() ? steps.at(args.in[4], i) : 1;
      if (step == 0) return "slice: the steps operand holds a 0; steps must not be zero";
      const int a = named[i];
      to[a] = clamp_slice(x[a], starts.at(args.in[1], i), ends.at(args.in[2], i), step);
    }
    for (int a = 0; a < x.rank; ++a)
      if (to[a].size != y[a])
        return "slice: starts, ends and steps give other dims than this engine was built for; "
               "rebuild it for them";
    return nullptr;
  }

  const char* run(const RunArgs& args) const {
    AxisSlice dynamic[kMaxRank];
    if (starts.present())
      if (const char* e = read_dynamic(args, dynamic)) return e;
    const AxisSlice* use = starts.present() ? dynamic : axes;
    if (y.volume() == 0) return nullptr;
    StridedCopy copy;
    for (int a = 0; a < x.rank; ++a) {
      copy.src_offset += use[a].start * x.stride(a);
      if (y[a] > 1) copy.add(y[a], use[a].step * x.stride(a), y.stride(a));
    }
    copy.run(bits, args.in[0], args.out[0], args.parallel);
    return nullptr;
  }
};

/// Sizes of the parts that concat joins and split makes; as many as the step has.
struct Parts {
  int64_t* sizes = nullptr;
  int count = 0;
  int64_t outer = 1, inner = 1, total = 0;
  int bits = 0;

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { delete[] sizes; }

  /// `part(i)` and `whole` must agree on all dims but those of `axis`, which add up.
  template <class Part>
  const char* read(Checker& c, const TensorDesc& whole_desc, int parts, Part&& part) {
    const Dims whole = Checker::dims_of(whole_desc);
    if (!c.require(whole.rank >= 1, "cannot work along an axis of a scalar")) return c.error();
    const int axis = static_cast<int>(c.integer("axis", 0, whole.rank - 1));
    sizes = new (std::nothrow) int64_t[static_cast<std::size_t>(parts)];
    if (!c.require(sizes != nullptr, "out of memory for %d parts", parts)) return c.error();
    count = parts;
    for (int i = 0; c.ok() && i < parts; ++i) {
      Dims d = Checker::dims_of(part(i));
      c.require(part(i).dtype == whole_desc.dtype, "part %d has type %s, the whole %s", i,
                dtype_name(part(i).dtype), dtype_name(whole_desc.dtype));
      sizes[i] = d.rank == whole.rank ? d[axis] : 0;
      if (d.rank == whole.rank) d[axis] = whole[axis];
      c.require(d == whole, "part %d differs from the whole in more than axis %d", i, axis);
      total += sizes[i];
      c.require(total <= whole[axis],
                "the parts up to %d have more than the %lld elements of axis %d", i,
                static_cast<long long>(whole[axis]), axis);
    }
    c.require(total == whole[axis], "the parts have %lld elements on axis %d, the whole %lld",
              static_cast<long long>(total), axis, static_cast<long long>(whole[axis]));
    outer = whole.product(0, axis);
    inner = whole.product(axis + 1, whole.rank);
    bits = dtype_bits(whole_desc.dtype);
    return c.error();
  }
};

struct Concat {
  Parts parts;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "concat");
    const int n = static_cast<int>(std::min<std::size_t>(args.in.size(), 1 << 20));
    if (!c.tensors(std::max(n, 1), std::max(n, 1), 1, 1)) return c.error();
    return parts.read(c, c.out(0), n, [&](int i) -> const TensorDesc& { return c.in(i); });
  }

  const char* run(const RunArgs& args) const {
    int64_t at = 0;
    for (int i = 0; i < parts.count; ++i) {
      const int64_t part = parts.sizes[i] * parts.inner;
      StridedCopy copy;
      copy.dst_offset = at;
      copy.add(parts.outer, part, parts.total * parts.inner);
      copy.add(part, 1, 1);
      copy.run(parts.bits, args.in[i], args.out[0], args.parallel);
      at += part;
    }
    return nullptr;
  }
};

struct Split {
  Parts parts;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "split");
    const int n = static_cast<int>(std::min<std::size_t>(args.out.size(), 1 << 20));
    if (!c.tensors(1, 1, std::max(n, 1), std::max(n, 1))) return c.error();
    return parts.read(c, c.in(0), n, [&](int i) -> const TensorDesc& { return c.out(i); });
  }

  const char* run(const RunArgs& args) const {
    int64_t at = 0;
    for (int i = 0; i < parts.count; ++i) {
      const int64_t part = parts.sizes[i] * parts.inner;
      StridedCopy copy;
      copy.src_offset = at;
      copy.add(parts.outer, parts.total * parts.inner, part);
      copy.add(part, 1, 1);
      copy.run(parts.bits, args.in[0], args.out[i], args.parallel);
      at += part;
    }
    return nullptr;
  }
};

struct ReverseSequence {
  Dims x;
  int batch = 0, time = 0, bits = 0;
  DType lens = DType::undefined;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "reverse_sequence");
    if (!c.tensors(2, 2, 1, 1)) return c.error();
    c.dtype_out(0, c.in(0).dtype);
    x = c.dims_in(0);
    c.shape_out(0, x);
    c.require(x.rank >= 2, "operand 0 has rank %d; expected at least 2", x.rank);
    batch = static_cast<int>(c.integer("batch_axis", 0, std::max(x.rank - 1, 0)));
    time = static_cast<int>(c.integer("time_axis", 0, std::max(x.rank - 1, 0)));
    c.require(batch != time, "batch_axis and time_axis are both %d", batch);
    if (c.ok()) check_index_vector(c, 1, x[batch], x[batch]);
    lens = c.in(1).dtype;
    bits = dtype_bits(c.in(0).dtype);
    return c.error();
  }

  /// Copies `count` time steps of sequence b, the source starting at `from` and moving by `step`.
  void copy_steps(const RunArgs& args, int64_t b, int64_t from, int64_t to, int64_t step,
                  int64_t count) const {
    StridedCopy copy;
    copy.src_offset = b * x.stride(batch) + from * x.stride(time);
    copy.dst_offset = b * x.stride(batch) + to * x.stride(time);
    for (int a = 0; a < x.rank; ++a) {
      if (a == time) copy.add(count, step * x.stride(a), x.stride(a));
      if (a != time && a != batch) copy.add(x[a], x.stride(a), x.stride(a));
    }
    copy.run(bits, args.in[0], args.out[0], args.parallel);
  }

  const char* run(const RunArgs& args) const {
    for (int64_t b = 0; b < x[batch]; ++b) {
      const int64_t len = index_at(lens, args.in[1], b);
      if (len < 0 || len > x[time])
        return "reverse_sequence: a sequence length is negative or longer than the time axis; "
               "check "
               "the lengths operand";
      copy_steps(args, b, len - 1, 0, -1, len);
      copy_steps(args, b, len, len, 1, x[time] - len);
    }
    return nullptr;
  }
};

}  // namespace

const Kernel slice_kernel = make_kernel<Slice>("ref.slice");
const Kernel concat_kernel = make_kernel<Concat>("ref.concat");
const Kernel split_kernel = make_kernel<Split>("ref.split");
const Kernel reverse_sequence_kernel = make_kernel<ReverseSequence>("ref.reverse_sequence");

}  // namespace frit::kernels::ref
