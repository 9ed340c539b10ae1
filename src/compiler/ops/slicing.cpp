// SPDX-License-Identifier: Apache-2.0
// Ops that take ranges of axes apart or put them together: concat, slice, split, pad.
#include "compiler/ops/slicing.h"

#include <algorithm>
#include <limits>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// A bound counted from the front, clamped to lo…hi; nothing if its sign is unknown. Constants near
// the limits of 64 bits mean "to the end" and are clamped before they meet the extent.
std::optional<Dim> clamped(const Dim& bound, const Dim& extent, const Dim& lo, const Dim& hi) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;
  if (bound.is_const() && bound.value() >= kFar) return hi;
  if (bound.is_const() && bound.value() <= -kFar) return lo;
  const Bounds range = bound.bounds();
  if (range.lo >= 0) return max(min(bound, hi), lo);
  if (range.hi < 0) return max(min(extent + bound, hi), lo);
  return std::nullopt;
}

}  // namespace

std::optional<SliceRange> slice_range(const Dim& extent, const Dim& start, const Dim& end,
                                      std::int64_t step) {
  const bool forward = step > 0;
  const Dim last = extent - Dim(1);
  const auto from = forward ? clamped(start, extent, 0, extent)
                            : clamped(start, extent, extent == Dim(0) ? Dim(-1) : Dim(0), last);
  const auto to = forward ? clamped(end, extent, 0, extent) : clamped(end, extent, -1, last);
  if (!from || !to) return std::nullopt;
  // The step is bounded first: -INT64_MIN does not exist, and no axis is that long.
  constexpr std::int64_t kLongest = std::int64_t{1} << 60;
  const std::int64_t stride = forward ? std::min(step, kLongest) : -std::max(step, -kLongest);
  const Dim length = forward ? *to - *from : *from - *to;
  return SliceRange{*from, max(ceil_div(length, stride), 0)};
}

namespace {

void infer_concat(Inference& in) {
  const int rank = in.rank(0);
  const int axis = in.axis("axis", rank);
  Shape dims = in.dims(0);
  bool known = rank == 1;
  Shape contents;
  for (int i = 0; i < in.operand_count(); ++i) {
    if (in.dtype(i) != in.dtype(0) || in.rank(i) != rank)
      in.refuse("operand {} must have the type and rank of operand 0, {}; found {}", i,
                to_string(in.type(0)), to_string(in.type(i)));
    for (int a = 0; a < rank; ++a) {
      Dim& d = dims[at(a)];
      const Dim& other = in.dims(i)[at(a)];
      if (a != axis)
        d = in.unify(d, other, fmt::format("axis {} of operands 0 and {}", a, i));
      else if (i > 0)
        d = d + other;
    }
    if (!known) continue;
    const auto part = in.elements(i);
    known = part && contents.size() + part->size() <= static_cast<std::size_t>(kMaxElements);
    if (known) contents.insert(contents.end(), part->begin(), part->end());
  }
  in.set(0, in.dtype(0), std::move(dims));
  if (known) in.set_elements(0, std::move(contents));
}

void slice_elements(Inference& in, std::int64_t start, std::int64_t step) {
  const auto contents = in.elements(0);
  const Shape& dims = in.node().result()->dims();
  if (!contents || dims.size() != 1 || !dims[0].is_const() || dims[0].value() > kMaxElements)
    return;
  Shape part;
  for (std::int64_t i = 0; i < dims[0].value(); ++i) {
    const std::int64_t index = start + i * step;  // checked to lie inside by the caller
    if (index < 0 || index >= static_cast<std::int64_t>(contents->size())) return;
    part.push_back((*contents)[static_cast<std::size_t>(index)]);
  }
  in.set_elements(0, std::move(part));
}

void infer_static_slice(Inference& in) {
  constexpr std::int64_t kFar = std::int64_t{1} << 48;
  const int rank = in.rank(0);
  const Ints& starts = in.ints("starts", rank, 0, kFar);
  const Ints& steps = in.ints("steps", rank, -kFar, kFar);
  const TensorType* to = in.hint(0);
  if (to == nullptr || to->rank() != rank)
    in.refuse("without operands the result needs its type beforehand, of rank {}", rank);
  const Shape sizes = to->dims;
  for (int a = 0; a < rank; ++a) {
    const Dim &size = sizes[at(a)], &extent = in.dims(0)[at(a)];
    if (steps[at(a)] == 0) in.refuse("the step of axis {} is 0", a);
    if (size.bounds().lo < 1) continue;
    const Dim start = starts[at(a)];
    const Dim last = start + (size - Dim(1)) * Dim(steps[at(a)]);
    if (max(start, last).bounds().lo >= extent.bounds().hi ||
        (max(start, last) - extent).bounds().lo >= 0 || last.bounds().hi < 0)
      in.refuse("axis {}: {} elements from {} by {} leave the extent {}", a, size.to_string(),
                starts[at(a)], steps[at(a)], extent.to_string());
  }
  in.set(0, in.dtype(0), sizes);
  if (rank == 1) slice_elements(in, starts[0], steps[0]);
}

// An operand list of integers, one per sliced axis.
std::optional<Shape> slice_operand(const Inference& in, int i, std::size_t count) {
  if (!in.has(i)) return std::nullopt;
  in.expect_rank(i, 1, 1);
  in.expect_index(i);
  auto values = in.elements(i);
  if (values && values->size() != count)
    in.refuse("operand {} must hold {} numbers, found {}", i, count, values->size());
  return values;
}

// The axes a dynamic slice names; nothing if they are unknown.
std::optional<std::vector<int>> sliced_axes(const Inference& in, std::size_t count) {
  std::vector<int> axes;
  const auto given = slice_operand(in, 3, count);
  if (in.has(3) && !given) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    if (given && !(*given)[i].is_const()) return std::nullopt;
    const int axis =
        in.normalize_axis(given ? (*given)[i].value() : static_cast<std::int64_t>(i), in.rank(0));
    if (std::ranges::find(axes, axis) != axes.end()) in.refuse("axis {} is named twice", axis);
    axes.push_back(axis);
  }
  return axes;
}

void infer_dynamic_slice(Inference& in) {
  const int rank = in.rank(0);
  if (!in.has(1) || !in.has(2)) in.refuse("operands starts and ends must come together");
  in.expect_rank(1, 1, 1);
  in.expect_index(1);
  const Dim count = in.dims(1)[0];
  if (!count.is_const()) return in.set_unknown(0, in.dtype(0), rank, "the starts");
  if (count.value() > rank)
    in.refuse("at most {} starts expected for {}, found {}", rank, to_string(in.type(0)),
              count.value());
  const auto n = static_cast<std::size_t>(count.value());
  const auto axes = sliced_axes(in, n);
  if (!axes) return in.set_unknown(0, in.dtype(0), rank, "the axes");
  const auto starts = slice_operand(in, 1, n), ends = slice_operand(in, 2, n),
             steps = slice_operand(in, 4, n);
  Shape dims = in.dims(0);
  std::optional<SliceRange> range;
  std::int64_t step = 1;
  for (std::size_t i = 0; i < n; ++i) {
    Dim& d = dims[at((*axes)[i])];
    const bool step_known = !in.has(4) || (steps && (*steps)[i].is_const());
    step = step_known && steps ? (*steps)[i].value() : 1;
    if (step == 0) in.refuse("the step of axis {} is 0", (*axes)[i]);
    range.reset();
    if (starts && ends && step_known) range = slice_range(d, (*starts)[i], (*ends)[i], step);
    d = range ? range->size : in.unknown_dim(0, (*axes)[i], rank, {0, d.bounds().hi});
  }
  in.set(0, in.dtype(0), std::move(dims));
  if (rank == 1 && n == 1 && range && range->start.is_const() && range->start.value() >= 0 &&
      std::abs(step) <= kMaxElements)
    slice_elements(in, range->start.value(), step);
}

void infer_slice(Inference& in) {
  const bool from_attributes = in.attrs().has("starts") || in.attrs().has("steps");
  bool from_operands = false;
  for (int i = 1; i < in.operand_count(); ++i) from_operands = from_operands || in.has(i);
  if (from_attributes == from_operands)
    in.refuse("either attributes 'starts' and 'steps' or operands expected, found {}",
              from_operands ? "both" : "neither");
  from_operands ? infer_dynamic_slice(in) : infer_static_slice(in);
}

void infer_split(Inference& in) {
  const int rank = in.rank(0);
  const int axis = in.axis("axis", rank);
  Dim sum = 0;
  std::vector<Shape> parts;
  for (int r = 0; r < in.result_count(); ++r) {
    const TensorType* part = in.hint(r);
    if (part == nullptr || part->rank() != rank)
      in.refuse("result {} needs its type beforehand, of rank {}", r, rank);
    parts.push_back(in.dims(0));
    parts.back()[at(axis)] = part->dims[at(axis)];
    sum = sum + part->dims[at(axis)];
  }
  const Dim& whole = in.dims(0)[at(axis)];
  if (sum.never_equals(whole))
    in.refuse("the parts of axis {} add up to {}, but it has {} elements", axis, sum.to_string(),
              whole.to_string());
  const auto contents = in.elements(0);
  std::size_t begin = 0;
  for (int r = 0; r < in.result_count(); ++r) {
    const Dim size = parts[at(r)][at(axis)];
    in.set(r, in.dtype(0), std::move(parts[at(r)]));
    if (rank != 1 || !contents || !sum.is_const()) continue;
    const std::size_t end = begin + static_cast<std::size_t>(size.value());
    if (end > contents->size()) continue;
    in.set_elements(r, Shape(contents->begin() + static_cast<std::ptrdiff_t>(begin),
                             contents->begin() + static_cast<std::ptrdiff_t>(end)));
    begin = end;
  }
}

// Begin and end padding per axis from operands 2 (pads) and 3 (axes); nothing if unknown.
std::optional<Shape> operand_pads(const Inference& in) {
  const int rank = in.rank(0);
  in.expect_rank(2, 1, 1);
  in.expect_index(2);
  const auto pads = in.elements(2);
  std::vector<int> axes;
  if (in.has(3)) {
    in.expect_rank(3, 1, 1);
    in.expect_index(3);
    const auto given = in.elements(3);
    if (!given || !is_static(*given)) return std::nullopt;
    for (const Dim& a : *given) {
      axes.push_back(in.normalize_axis(a.value(), rank));
      if (std::ranges::count(axes, axes.back()) > 1)
        in.refuse("axis {} is named twice", axes.back());
    }
  } else {
    for (int a = 0; a < rank; ++a) axes.push_back(a);
  }
  if (!pads) return std::nullopt;
  const std::size_t n = axes.size();
  if (pads->size() != 2 * n) in.refuse("{} pads expected, found {}", 2 * n, pads->size());
  Shape full(2 * at(rank), Dim(0));
  for (std::size_t i = 0; i < n; ++i) {
    full[at(axes[i])] = (*pads)[i];
    full[at(rank + axes[i])] = (*pads)[n + i];
  }
  return full;
}

void infer_pad(Inference& in) {
  constexpr std::int64_t kFar = std::int64_t{1} << 48;
  const int rank = in.rank(0);
  const std::string& mode = in.choice("mode", {"constant", "edge", "reflect", "wrap"});
  if (in.has(1)) {
    in.expect_scalar(1);
    in.expect_dtype(1, in.dtype(0));
  }
  if (in.attrs().has("pads") == in.has(2))
    in.refuse("either attribute 'pads' or operand 2 expected, found {}",
              in.has(2) ? "both" : "neither");
  std::optional<Shape> pads;
  if (in.has(2))
    pads = operand_pads(in);
  else
    pads = make_shape(in.ints("pads", 2 * rank, -kFar, kFar));
  if (!pads) return in.set_unknown(0, in.dtype(0), rank, "the pads");
  Shape dims = in.dims(0);
  for (int a = 0; a < rank; ++a) {
    const Dim &before = (*pads)[at(a)], &after = (*pads)[at(rank + a)];
    const Dim grown = dims[at(a)] + before + after;
    if (mode != "constant" && dims[at(a)] == Dim(0) && grown.bounds().lo > 0)
      in.refuse("mode '{}' needs elements to repeat, but axis {} is empty", mode, a);
    dims[at(a)] = grown;
  }
  in.set(0, in.dtype(0), std::move(dims));
}

constexpr AttrDef kAxisAttrs[] = {{"axis", AttrKind::integer}};
constexpr AttrDef kSliceAttrs[] = {{"starts", AttrKind::integers, false},
                                   {"steps", AttrKind::integers, false}};
constexpr AttrDef kPadAttrs[] = {{"mode", AttrKind::text}, {"pads", AttrKind::integers, false}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema concat = {.name = "concat",
                                 .min_operands = 1,
                                 .max_operands = -1,
                                 .attrs = kAxisAttrs,
                                 .infer = infer_concat};
constinit const Schema slice = {.name = "slice",
                                .min_operands = 1,
                                .max_operands = 5,
                                .traits = kMovement,
                                .attrs = kSliceAttrs,
                                .infer = infer_slice};
constinit const Schema split = {.name = "split",
                                .min_operands = 1,
                                .max_operands = 1,
                                .max_results = -1,
                                .traits = kMovement,
                                .attrs = kAxisAttrs,
                                .infer = infer_split};
constinit const Schema pad = {
    .name = "pad", .min_operands = 1, .max_operands = 4, .attrs = kPadAttrs, .infer = infer_pad};

}  // namespace frit::ops
