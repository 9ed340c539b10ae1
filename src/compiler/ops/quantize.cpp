// SPDX-License-Identifier: Apache-2.0
#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// Scale (operand 1) and zero point (operand 2): one value; one per slice of `axis`; or, with a
// block size, x's dims with `axis` divided by it, rounded up.
void check_parameters(const Inference& in) {
  const Shape &x = in.dims(0), &scale = in.dims(1);
  const std::int64_t block = in.integer("block", 0, std::int64_t{1} << 40);
  const bool single = scale.empty() || (scale.size() == 1 && scale[0] == Dim(1));
  if (block != 0) {
    const int axis = in.axis("axis", in.rank(0));
    Shape expected = x;
    expected[at(axis)] = ceil_div(x[at(axis)], block);
    bool agrees = scale.size() == x.size();
    for (std::size_t a = 0; agrees && a < x.size(); ++a)
      agrees = !scale[a].never_equals(expected[a]);
    if (!agrees)
      in.refuse("blocks of {} on axis {} need a scale of dims {}, found {}", block, axis,
                to_string(expected), to_string(scale));
  } else if (!single) {
    in.expect_rank(1, 1, 1);
    const int axis = in.axis("axis", in.rank(0));
    in.unify(x[at(axis)], scale[0], "the quantized axis and the scale");
  }
  if (!in.has(2)) return;
  const Shape& zero = in.dims(2);
  if (element_count(zero).never_equals(element_count(scale)))
    in.refuse("scale and zero point must have the same dims, found {} and {}", to_string(scale),
              to_string(zero));
}

bool is_quantized(DType t) {
  const int bits = dtype_bits(t);
  return (is_int(t) && bits <= 32) || (is_float(t) && bits <= 8);
}

void infer_quantize(Inference& in) {
  if (in.dtype(0) != DType::i32) in.expect_float(0);
  in.expect_float(1);
  const DType to = in.dtype_attr("to");
  if (!is_quantized(to)) in.refuse("cannot quantize to {}", dtype_name(to));
  check_parameters(in);
  if (in.has(2)) in.expect_dtype(2, to);
  in.set(0, to, in.dims(0));
}

void infer_dequantize(Inference& in) {
  if (!is_quantized(in.dtype(0)))
    in.refuse("operand 0 must have a quantized type, found {}", dtype_name(in.dtype(0)));
  in.expect_float(1);
  check_parameters(in);
  if (in.has(2)) in.expect_dtype(2, in.dtype(0));
  const TensorType* declared = in.hint(0);
  if (declared != nullptr && !is_float(declared->dtype))
    in.refuse("the result must have a floating type, found {}", dtype_name(declared->dtype));
  in.set(0, declared != nullptr ? declared->dtype : in.dtype(1), in.dims(0));
}

void infer_dynamic_quantize(Inference& in) {
  in.expect_dtype(0, DType::f32);
  in.set(0, DType::u8, in.dims(0));
  in.set(1, DType::f32, {});
  in.set(2, DType::u8, {});
}

constexpr AttrDef kQuantizeAttrs[] = {{"axis", AttrKind::integer},
                                      {"block", AttrKind::integer},
                                      {"to", AttrKind::integer},
                                      {"saturate", AttrKind::integer, false}};
constexpr AttrDef kDequantizeAttrs[] = {{"axis", AttrKind::integer}, {"block", AttrKind::integer}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema quantize = {.name = "quantize",
                                   .min_operands = 2,
                                   .max_operands = 3,
                                   .attrs = kQuantizeAttrs,
                                   .infer = infer_quantize};
constinit const Schema dequantize = {.name = "dequantize",
                                     .min_operands = 2,
                                     .max_operands = 3,
                                     .attrs = kDequantizeAttrs,
                                     .infer = infer_dequantize};
constinit const Schema dynamic_quantize = {.name = "dynamic_quantize",
                                           .min_operands = 1,
                                           .max_operands = 1,
                                           .min_results = 3,
                                           .max_results = 3,
                                           .infer = infer_dynamic_quantize};

}  // namespace frit::ops
