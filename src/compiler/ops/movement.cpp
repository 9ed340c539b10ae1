// SPDX-License-Identifier: Apache-2.0
// Ops that rearrange or repeat elements without choosing ranges: reshape, transpose, expand…
#include <algorithm>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// Sizes both shapes have are taken out first, which keeps products small and quotients exact.
void cancel(Shape& a, Shape& b) {
  for (auto it = a.begin(); it != a.end();) {
    const auto same = std::ranges::find(b, *it);
    const bool zero = it->bounds().lo <= 0 && it->bounds().hi >= 0;
    if (same == b.end() || (zero && it->is_const())) {
      ++it;
      continue;
    }
    b.erase(same);
    it = a.erase(it);
  }
}

void check_counts(const Inference& in, const Shape& from, const Shape& to) {
  Shape a = from, b = to;
  cancel(a, b);
  if (element_count(a).never_equals(element_count(b)))
    in.refuse("{} elements of {} cannot become dims {}", element_count(from).to_string(),
              to_string(from), to_string(to));
}

// ONNX Reshape: 0 copies a dim unless allowzero, -1 takes what is left.
Shape requested_dims(const Inference& in, const Shape& request) {
  const Shape& from = in.dims(0);
  const bool copies = in.attrs().i("allowzero") == 0;
  Shape dims;
  int open = -1;
  for (std::size_t i = 0; i < request.size(); ++i) {
    const Dim& d = request[i];
    if (d == Dim(-1)) {
      if (open >= 0) in.refuse("the shape {} holds -1 more than once", to_string(request));
      open = static_cast<int>(i);
      dims.push_back(1);
    } else if (d == Dim(0) && copies) {
      if (i >= from.size())
        in.refuse("the shape {} copies dim {}, but the operand has rank {}", to_string(request), i,
                  from.size());
      dims.push_back(from[i]);
    } else if (d.bounds().hi < 0) {
      in.refuse("the shape {} holds a negative size", to_string(request));
    } else {
      dims.push_back(d);
    }
  }
  if (open < 0) return dims;
  Shape a = from, b = dims;
  cancel(a, b);
  const Dim known = element_count(b), all = element_count(a);
  if (known == Dim(0)) in.refuse("the shape {} leaves -1 undefined", to_string(request));
  dims[at(open)] = floor_div(all, known);
  if (all.is_const() && known.is_const() && all.value() % known.value() != 0)
    in.refuse("{} elements of {} cannot become {}", element_count(from).to_string(),
              to_string(from), to_string(request));
  return dims;
}

void infer_reshape(Inference& in) {
  if (!in.has(1)) {
    const TensorType* to = in.hint(0);
    if (to == nullptr) in.refuse("without shape operand the result needs its type beforehand");
    const Shape dims = to->dims;
    check_counts(in, in.dims(0), dims);
    in.set(0, in.dtype(0), dims);
  } else {
    in.expect_rank(1, 1, 1);
    in.expect_index(1);
    if (const auto request = in.elements(1)) {
      const Shape dims = requested_dims(in, *request);
      check_counts(in, in.dims(0), dims);
      in.set(0, in.dtype(0), dims);
    } else {
      const Dim& rank = in.dims(1)[0];
      const bool sane = rank.is_const() && rank.value() <= 64;
      in.set_unknown(0, in.dtype(0), sane ? static_cast<int>(rank.value()) : -1,
                     "the shape operand");
    }
  }
  if (auto contents = in.elements(0)) in.set_elements(0, std::move(*contents));
}

void infer_transpose(Inference& in) {
  const int rank = in.rank(0);
  const Ints& perm = in.ints("perm", rank, 0, rank - 1);
  std::vector<bool> seen(at(rank), false);
  Shape dims;
  for (std::int64_t axis : perm) {
    const auto a = static_cast<std::size_t>(axis);
    if (seen[a]) in.refuse("attribute 'perm' names axis {} twice", axis);
    seen[a] = true;
    dims.push_back(in.dims(0)[a]);
  }
  in.set(0, in.dtype(0), std::move(dims));
  if (rank > 1) return;
  if (auto contents = in.elements(0)) in.set_elements(0, std::move(*contents));
}

void check_expansion(const Inference& in, const Shape& from, const Shape& to) {
  bool fits = from.size() <= to.size();
  const std::size_t lead = fits ? to.size() - from.size() : 0;
  for (std::size_t i = 0; fits && i < from.size(); ++i)
    fits = !from[i].never_equals(1) || !from[i].never_equals(to[lead + i]);
  if (!fits) in.refuse("dims {} do not broadcast to {}", to_string(from), to_string(to));
}

void infer_expand(Inference& in) {
  if (!in.has(1)) {
    const TensorType* to = in.hint(0);
    if (to == nullptr) in.refuse("without shape operand the result needs its type beforehand");
    const Shape dims = to->dims;
    check_expansion(in, in.dims(0), dims);
    in.set(0, in.dtype(0), dims);
  } else {
    in.expect_rank(1, 1, 1);
    in.expect_index(1);
    if (const auto request = in.elements(1)) {
      in.set(0, in.dtype(0), in.broadcast(in.dims(0), *request));
    } else {
      const Dim& count = in.dims(1)[0];
      const bool sane = count.is_const() && count.value() <= 64;
      const int rank = sane ? std::max(static_cast<int>(count.value()), in.rank(0)) : -1;
      in.set_unknown(0, in.dtype(0), rank, "the shape operand");
    }
  }
  const Shape& to = in.node().result()->dims();
  if (to.size() > 1) return;
  const Dim count = element_count(to);
  const auto contents = in.elements(0);
  if (!contents || !count.is_const() || count.value() > kMaxElements) return;
  if (contents->size() == 1)
    in.set_elements(0, Shape(static_cast<std::size_t>(count.value()), contents->front()));
  else
    in.set_elements(0, *contents);
}

void infer_tile(Inference& in) {
  const int rank = in.rank(0);
  Shape repeats;
  if (in.attrs().has("repeats") == in.has(1))
    in.refuse("either attribute 'repeats' or operand 1 expected, found {}",
              in.has(1) ? "both" : "neither");
  if (in.has(1)) {
    in.expect_rank(1, 1, 1);
    in.expect_index(1);
    const auto known = in.elements(1);
    if (!known) return in.set_unknown(0, in.dtype(0), rank, "the repeats");
    if (known->size() != at(rank)) in.refuse("{} repeats expected, found {}", rank, known->size());
    repeats = *known;
  } else {
    repeats = make_shape(in.ints("repeats", rank, 0, std::int64_t{1} << 48));
  }
  Shape dims = in.dims(0);
  for (int i = 0; i < rank; ++i) {
    if (repeats[at(i)].bounds().hi < 0) in.refuse("repeats must not be negative");
    dims[at(i)] = dims[at(i)] * repeats[at(i)];
  }
  in.set(0, in.dtype(0), std::move(dims));
}

// floor(d / n) where n must divide d.
Dim divided(const Inference& in, const Dim& d, std::int64_t n, const char* what) {
  if (d.is_const() && d.value() % n != 0)
    in.refuse("{} {} is not a multiple of {}", what, d.value(), n);
  return floor_div(d, n);
}

constexpr std::int64_t kMaxBlock = 1 << 15;

void infer_depth_to_space(Inference& in) {
  in.expect_rank(0, 4, 4);
  const std::int64_t block = in.integer("block", 1, kMaxBlock);
  in.choice("mode", {"DCR", "CRD"});
  const Shape& d = in.dims(0);
  in.set(0, in.dtype(0),
         {d[0], divided(in, d[1], block * block, "the channel count"), d[2] * Dim(block),
          d[3] * Dim(block)});
}

void infer_space_to_depth(Inference& in) {
  in.expect_rank(0, 4, 4);
  const std::int64_t block = in.integer("block", 1, kMaxBlock);
  const Shape& d = in.dims(0);
  in.set(0, in.dtype(0),
         {d[0], d[1] * Dim(block * block), divided(in, d[2], block, "the height"),
          divided(in, d[3], block, "the width")});
}

void infer_trilu(Inference& in) {
  if (in.rank(0) < 2) in.refuse("operand 0 must have rank 2 or more, found {}", in.rank(0));
  in.integer("upper", 0, 1);
  if (in.has(1)) {
    if (in.attrs().has("k")) in.refuse("either attribute 'k' or operand 1 expected, found both");
    in.expect_scalar(1);
    in.expect_dtype(1, DType::i64);
  }
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_reverse_sequence(Inference& in) {
  const int rank = in.rank(0);
  const int batch = in.axis("batch_axis", rank), time = in.axis("time_axis", rank);
  if (batch == time) in.refuse("batch_axis and time_axis must differ, both are {}", batch);
  in.expect_rank(1, 1, 1);
  in.expect_index(1);
  in.unify(in.dims(0)[at(batch)], in.dims(1)[0], "batch size and number of lengths");
  in.set(0, in.dtype(0), in.dims(0));
}

constexpr AttrDef kReshapeAttrs[] = {{"allowzero", AttrKind::integer, false}};
constexpr AttrDef kTransposeAttrs[] = {{"perm", AttrKind::integers}};
constexpr AttrDef kTileAttrs[] = {{"repeats", AttrKind::integers, false}};
constexpr AttrDef kDepthToSpaceAttrs[] = {{"block", AttrKind::integer}, {"mode", AttrKind::text}};
constexpr AttrDef kSpaceToDepthAttrs[] = {{"block", AttrKind::integer}};
constexpr AttrDef kTriluAttrs[] = {{"upper", AttrKind::integer}, {"k", AttrKind::integer, false}};
constexpr AttrDef kReverseAttrs[] = {{"batch_axis", AttrKind::integer},
                                     {"time_axis", AttrKind::integer}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema reshape = {.name = "reshape",
                                  .min_operands = 1,
                                  .max_operands = 2,
                                  .traits = kMovement,
                                  .attrs = kReshapeAttrs,
                                  .infer = infer_reshape};
constinit const Schema transpose = {.name = "transpose",
                                    .min_operands = 1,
                                    .max_operands = 1,
                                    .traits = kMovement,
                                    .attrs = kTransposeAttrs,
                                    .infer = infer_transpose};
constinit const Schema expand = {.name = "expand",
                                 .min_operands = 1,
                                 .max_operands = 2,
                                 .traits = kMovement,
                                 .infer = infer_expand};
constinit const Schema tile = {.name = "tile",
                               .min_operands = 1,
                               .max_operands = 2,
                               .traits = kMovement,
                               .attrs = kTileAttrs,
                               .infer = infer_tile};
constinit const Schema depth_to_space = {.name = "depth_to_space",
                                         .min_operands = 1,
                                         .max_operands = 1,
                                         .traits = kMovement,
                                         .attrs = kDepthToSpaceAttrs,
                                         .infer = infer_depth_to_space};
constinit const Schema space_to_depth = {.name = "space_to_depth",
                                         .min_operands = 1,
                                         .max_operands = 1,
                                         .traits = kMovement,
                                         .attrs = kSpaceToDepthAttrs,
                                         .infer = infer_space_to_depth};
constinit const Schema trilu = {.name = "trilu",
                                .min_operands = 1,
                                .max_operands = 2,
                                .attrs = kTriluAttrs,
                                .infer = infer_trilu};
constinit const Schema reverse_sequence = {.name = "reverse_sequence",
                                           .min_operands = 2,
                                           .max_operands = 2,
                                           .attrs = kReverseAttrs,
                                           .infer = infer_reverse_sequence};

}  // namespace frit::ops
