// SPDX-License-Identifier: Apache-2.0
// Normalizations.
#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

void expect_same_type(const Inference& in, int i) {
  if (in.dtype(i) != in.dtype(0))
    in.refuse("operands 0 and {} must have one type, found {} and {}", i, dtype_name(in.dtype(0)),
              dtype_name(in.dtype(i)));
}

void check_epsilon(const Inference& in) {
  const double epsilon = in.attrs().f("epsilon");
  if (!(epsilon >= 0)) in.refuse("attribute 'epsilon' must be 0 or more, found {}", epsilon);
}

// Optional operand i broadcasts into x's dims from `axis` on.
void check_affine(const Inference& in, int i, int axis) {
  if (!in.has(i)) return;
  expect_same_type(in, i);
  const Shape normalized(in.dims(0).begin() + axis, in.dims(0).end());
  const Shape& p = in.dims(i);
  bool fits = p.size() <= normalized.size();
  const std::size_t lead = fits ? normalized.size() - p.size() : 0;
  for (std::size_t a = 0; fits && a < p.size(); ++a)
    fits = !p[a].never_equals(1) || !p[a].never_equals(normalized[lead + a]);
  if (!fits)
    in.refuse("operand {} must broadcast to the normalized dims {}, found {}", i,
              to_string(normalized), to_string(p));
}

void infer_layer_norm(Inference& in) {
  in.expect_float(0);
  const int axis = in.axis("axis", in.rank(0));
  check_epsilon(in);
  check_affine(in, 1, axis);
  check_affine(in, 2, axis);
  in.set(0, in.dtype(0), in.dims(0));
  Shape outer = in.dims(0);
  for (int a = axis; a < in.rank(0); ++a) outer[at(a)] = 1;
  const DType wide = in.dtype(0) == DType::f64 ? DType::f64 : DType::f32;
  for (int r : {1, 2}) {
    const TensorType* declared = in.hint(r);
    const bool other = declared != nullptr && is_float(declared->dtype);
    in.set(r, other ? declared->dtype : wide, outer);
  }
}

void infer_rms_norm(Inference& in) {
  in.expect_float(0);
  const int axis = in.axis("axis", in.rank(0));
  check_epsilon(in);
  check_affine(in, 1, axis);
  in.set(0, in.dtype(0), in.dims(0));
}

// Operands first…last hold one number per channel (dim 1 of x).
void check_per_channel(const Inference& in, int first, int last) {
  if (in.rank(0) < 2)
    in.refuse("operand 0 must have rank 2 or more, found {}", to_string(in.type(0)));
  for (int i = first; i <= last; ++i) {
    in.expect_float(i);
    in.expect_rank(i, 1, 1);
    in.unify(in.dims(0)[1], in.dims(i)[0], fmt::format("channels and operand {}", i));
  }
}

void infer_group_norm(Inference& in) {
  in.expect_float(0);
  check_epsilon(in);
  check_per_channel(in, 1, 2);
  const std::int64_t groups = in.integer("groups", 1, std::int64_t{1} << 31);
  const Dim& channels = in.dims(0)[1];
  if (channels.is_const() && channels.value() % groups != 0)
    in.refuse("{} channels do not divide into {} groups", channels.value(), groups);
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_batch_norm(Inference& in) {
  in.expect_float(0);
  check_epsilon(in);
  check_per_channel(in, 1, 4);
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_lrn(Inference& in) {
  in.expect_float(0);
  check_per_channel(in, 1, 0);
  in.integer("size", 1, std::int64_t{1} << 31);
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_lp_norm(Inference& in) {
  in.expect_float(0);
  in.axis("axis", in.rank(0));
  in.integer("p", 1, 2);
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_mvn(Inference& in) {
  in.expect_float(0);
  in.axes("axes", in.rank(0));
  in.set(0, in.dtype(0), in.dims(0));
}

constexpr AttrDef kAxisEpsilon[] = {{"axis", AttrKind::integer}, {"epsilon", AttrKind::real}};
constexpr AttrDef kGroupAttrs[] = {{"groups", AttrKind::integer}, {"epsilon", AttrKind::real}};
constexpr AttrDef kBatchAttrs[] = {{"epsilon", AttrKind::real}};
constexpr AttrDef kLrnAttrs[] = {{"alpha", AttrKind::real},
                                 {"beta", AttrKind::real},
                                 {"bias", AttrKind::real},
                                 {"size", AttrKind::integer}};
constexpr AttrDef kLpAttrs[] = {{"axis", AttrKind::integer}, {"p", AttrKind::integer}};
constexpr AttrDef kMvnAttrs[] = {{"axes", AttrKind::integers}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema layer_norm = {.name = "layer_norm",
                                     .min_operands = 1,
                                     .max_operands = 3,
                                     .max_results = 3,
                                     .attrs = kAxisEpsilon,
                                     .infer = infer_layer_norm};
constinit const Schema rms_norm = {.name = "rms_norm",
                                   .min_operands = 1,
                                   .max_operands = 2,
                                   .attrs = kAxisEpsilon,
                                   .infer = infer_rms_norm};
constinit const Schema group_norm = {.name = "group_norm",
                                     .min_operands = 3,
                                     .max_operands = 3,
                                     .attrs = kGroupAttrs,
                                     .infer = infer_group_norm};
constinit const Schema batch_norm = {.name = "batch_norm",
                                     .min_operands = 5,
                                     .max_operands = 5,
                                     .attrs = kBatchAttrs,
                                     .infer = infer_batch_norm};
constinit const Schema lrn = {
    .name = "lrn", .min_operands = 1, .max_operands = 1, .attrs = kLrnAttrs, .infer = infer_lrn};
constinit const Schema lp_norm = {.name = "lp_norm",
                                  .min_operands = 1,
                                  .max_operands = 1,
                                  .attrs = kLpAttrs,
                                  .infer = infer_lp_norm};
constinit const Schema mvn = {
    .name = "mvn", .min_operands = 1, .max_operands = 1, .attrs = kMvnAttrs, .infer = infer_mvn};

}  // namespace frit::ops
