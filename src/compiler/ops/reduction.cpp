// SPDX-License-Identifier: Apache-2.0
// Reductions, scans and softmax.
#include <algorithm>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// x without the axes, or with size 1 there.
Shape reduced(const Shape& x, const std::vector<bool>& drop, bool keep) {
  Shape dims;
  for (std::size_t a = 0; a < x.size(); ++a) {
    if (!drop[a])
      dims.push_back(x[a]);
    else if (keep)
      dims.push_back(1);
  }
  return dims;
}

void reduce_elements(Inference& in, const std::string& kind) {
  const auto contents = in.elements(0);
  if (!contents || contents->empty() || in.rank(0) != 1) return;
  if (contents->size() > static_cast<std::size_t>(kMaxElements)) return;
  try {
    Dim total = contents->front();
    for (std::size_t i = 1; i < contents->size(); ++i) {
      const Dim& d = (*contents)[i];
      if (kind == "sum")
        total = total + d;
      else if (kind == "prod")
        total = total * d;
      else if (kind == "max")
        total = max(total, d);
      else if (kind == "min")
        total = min(total, d);
      else
        return;
    }
    in.set_elements(0, {total});
  } catch (const Error&) {
    // The value left 64 bits: it wraps at run time, so nothing is known about it.
  }
}

void infer_reduce(Inference& in) {
  const std::string& kind = in.choice("kind", {"sum", "mean", "max", "min", "prod", "l1", "l2",
                                               "sum_square", "log_sum", "log_sum_exp"});
  if (in.dtype(0) != DType::boolean || (kind != "max" && kind != "min")) in.expect_numeric(0);
  const int rank = in.rank(0);
  const bool keep = in.integer("keepdims", 0, 1) != 0;
  if (in.attrs().has("axes") == in.has(1))
    in.refuse("either attribute 'axes' or operand 1 expected, found {}",
              in.has(1) ? "both" : "neither");
  std::vector<bool> drop(at(rank), false);
  if (in.has(1)) {
    in.expect_rank(1, 1, 1);
    in.expect_index(1);
    const auto given = in.elements(1);
    if (!given || !is_static(*given))
      return in.set_unknown(0, in.dtype(0), keep ? rank : -1, "the axes");
    for (const Dim& a : *given) {
      const std::size_t axis = at(in.normalize_axis(a.value(), rank));
      if (drop[axis]) in.refuse("axis {} is named twice", axis);
      drop[axis] = true;
    }
    if (given->empty() && in.attrs().i("noop_with_empty_axes") == 0) drop.assign(at(rank), true);
  } else {
    for (std::int64_t a : in.axes("axes", rank)) drop[static_cast<std::size_t>(a)] = true;
  }
  in.set(0, in.dtype(0), reduced(in.dims(0), drop, keep));
  if (rank == 1 && drop[0]) reduce_elements(in, kind);
}

void infer_arg_reduce(Inference& in) {
  in.expect_numeric(0);
  in.choice("kind", {"max", "min"});
  in.integer("select_last", 0, 1);
  std::vector<bool> drop(at(in.rank(0)), false);
  const int axis = in.axis("axis", in.rank(0));
  drop[at(axis)] = true;
  if (in.dims(0)[at(axis)] == Dim(0)) in.refuse("axis {} is empty", axis);
  in.set(0, DType::i64, reduced(in.dims(0), drop, in.integer("keepdims", 0, 1) != 0));
}

void infer_scan(Inference& in) {
  in.expect_numeric(0);
  if (in.attrs().has("axis") == in.has(1))
    in.refuse("either attribute 'axis' or operand 1 expected, found {}",
              in.has(1) ? "both" : "neither");
  if (in.has(1)) {
    in.expect_scalar(1);
    in.expect_index(1);
    const auto axis = in.element(1);
    if (axis && axis->is_const()) in.normalize_axis(axis->value(), in.rank(0));
  } else {
    in.axis("axis", in.rank(0));
  }
  in.integer("exclusive", 0, 1);
  in.integer("reverse", 0, 1);
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_softmax(Inference& in) {
  in.expect_float(0);
  in.axis("axis", in.rank(0));
  if (in.attrs().has("log")) in.integer("log", 0, 1);
  in.set(0, in.dtype(0), in.dims(0));
}

constexpr AttrDef kReduceAttrs[] = {{"kind", AttrKind::text},
                                    {"axes", AttrKind::integers, false},
                                    {"keepdims", AttrKind::integer},
                                    {"noop_with_empty_axes", AttrKind::integer, false}};
constexpr AttrDef kArgAttrs[] = {{"kind", AttrKind::text},
                                 {"axis", AttrKind::integer},
                                 {"keepdims", AttrKind::integer},
                                 {"select_last", AttrKind::integer}};
constexpr AttrDef kScanAttrs[] = {{"axis", AttrKind::integer, false},
                                  {"exclusive", AttrKind::integer},
                                  {"reverse", AttrKind::integer}};
constexpr AttrDef kSoftmaxAttrs[] = {{"axis", AttrKind::integer}, {"log", AttrKind::integer}};
constexpr AttrDef kHardmaxAttrs[] = {{"axis", AttrKind::integer}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema reduce = {.name = "reduce",
                                 .min_operands = 1,
                                 .max_operands = 2,
                                 .attrs = kReduceAttrs,
                                 .infer = infer_reduce};
constinit const Schema arg_reduce = {.name = "arg_reduce",
                                     .min_operands = 1,
                                     .max_operands = 1,
                                     .attrs = kArgAttrs,
                                     .infer = infer_arg_reduce};
constinit const Schema cumsum = {.name = "cumsum",
                                 .min_operands = 1,
                                 .max_operands = 2,
                                 .attrs = kScanAttrs,
                                 .infer = infer_scan};
constinit const Schema cumprod = {.name = "cumprod",
                                  .min_operands = 1,
                                  .max_operands = 2,
                                  .attrs = kScanAttrs,
                                  .infer = infer_scan};
constinit const Schema softmax = {.name = "softmax",
                                  .min_operands = 1,
                                  .max_operands = 1,
                                  .attrs = kSoftmaxAttrs,
                                  .infer = infer_softmax};
constinit const Schema hardmax = {.name = "hardmax",
                                  .min_operands = 1,
                                  .max_operands = 1,
                                  .attrs = kHardmaxAttrs,
                                  .infer = infer_softmax};

}  // namespace frit::ops
