// SPDX-License-Identifier: Apache-2.0
// Graph results, constants, and ops that make data out of shapes.
#include <cmath>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

void infer_return(Inference& in) {
  for (int i = 0; i < in.operand_count(); ++i) in.type(i);
}

void infer_constant(Inference& in) {
  const Tensor& value = in.attrs().tensor("value");
  if (!value.defined()) in.refuse("attribute 'value' must hold a tensor, found an undefined one");
  in.set(0, value.dtype(), make_shape(value.dims()));
}

void infer_shape(Inference& in) {
  const int rank = in.rank(0);
  const std::int64_t start = in.integer("start", 0, rank);
  const std::int64_t end = in.integer("end", start, rank);
  const Shape& dims = in.dims(0);
  Shape part(dims.begin() + start, dims.begin() + end);
  in.set(0, DType::i64, {Dim(end - start)});
  in.set_elements(0, std::move(part));
}

// ceil((limit - start) / delta), at least 0; the difference is rounded to the type as ONNX has it.
Dim real_range_count(const Inference& in, double start, double limit, double delta) {
  double difference = limit - start;
  if (in.dtype(0) == DType::f32) difference = static_cast<float>(difference);
  const double count = std::ceil(difference / delta);
  if (!std::isfinite(count) || count > static_cast<double>(kMaxBytes))
    in.refuse("from {} to {} by {} is not a countable range", start, limit, delta);
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(count));
}

void infer_range(Inference& in) {
  for (int i = 0; i < 3; ++i) {
    in.expect_scalar(i);
    in.expect_numeric(i);
    if (in.dtype(i) != in.dtype(0))
      in.refuse("start, limit and delta must have one type, found {} and {}",
                dtype_name(in.dtype(0)), dtype_name(in.dtype(i)));
  }
  if (is_float(in.dtype(0))) {
    double v[3] = {};
    for (int i = 0; i < 3; ++i)
      if (!scalar_constant(in.node().operand(i), v[i]))
        return in.set_unknown(0, in.dtype(0), 1, "start, limit and delta");
    if (v[2] == 0) in.refuse("delta must not be 0");
    return in.set(0, in.dtype(0), {real_range_count(in, v[0], v[1], v[2])});
  }
  const auto start = in.element(0), limit = in.element(1), delta = in.element(2);
  if (!start || !limit || !delta || !delta->is_const())
    return in.set_unknown(0, in.dtype(0), 1, "start, limit and delta");
  const std::int64_t step = delta->value();
  if (step == 0) in.refuse("delta must not be 0");
  const Dim length = step > 0 ? *limit - *start : *start - *limit;
  const Dim magnitude = step > 0 ? *delta : Dim(0) - *delta;
  const Dim count = max(ceil_div(length, magnitude), 0);
  in.set(0, in.dtype(0), {count});
  if (!count.is_const() || count.value() > kMaxElements) return;
  Shape values;
  for (std::int64_t i = 0; i < count.value(); ++i) values.push_back(*start + Dim(i) * *delta);
  in.set_elements(0, std::move(values));
}

void infer_eye_like(Inference& in) {
  in.expect_rank(0, 2, 2);
  in.set(0, in.dtype_attr("to"), in.dims(0));
}

constexpr AttrDef kConstantAttrs[] = {{"value", AttrKind::tensor}};
constexpr AttrDef kShapeAttrs[] = {{"start", AttrKind::integer}, {"end", AttrKind::integer}};
constexpr AttrDef kEyeLikeAttrs[] = {{"k", AttrKind::integer}, {"to", AttrKind::integer}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema ret = {.name = "return",
                              .max_operands = -1,
                              .min_results = 0,
                              .max_results = 0,
                              .traits = kTerminator,
                              .infer = infer_return};
constinit const Schema constant = {
    .name = "constant", .attrs = kConstantAttrs, .infer = infer_constant};
constinit const Schema shape = {.name = "shape",
                                .min_operands = 1,
                                .max_operands = 1,
                                .attrs = kShapeAttrs,
                                .infer = infer_shape};
constinit const Schema range = {
    .name = "range", .min_operands = 3, .max_operands = 3, .infer = infer_range};
constinit const Schema eye_like = {.name = "eye_like",
                                   .min_operands = 1,
                                   .max_operands = 1,
                                   .attrs = kEyeLikeAttrs,
                                   .infer = infer_eye_like};

}  // namespace frit::ops
