// SPDX-License-Identifier: Apache-2.0
// Convolutions: plain, transposed, integer, deformable, quantized.
#include "base/dtypes.h"
#include "compiler/ops/spatial.h"
#include "compiler/ops/subgraph.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

void expect_same_type(const Inference& in, int i, int as) {
  if (in.dtype(i) != in.dtype(as))
    in.refuse("operands {} and {} must have one type, found {} and {}", as, i,
              dtype_name(in.dtype(as)), dtype_name(in.dtype(i)));
}

void check_bias(const Inference& in, int i, const Dim& channels) {
  if (!in.has(i)) return;
  in.expect_rank(i, 1, 1);
  in.unify(channels, in.dims(i)[0], "output channels and bias");
}

void infer_conv(Inference& in) {
  in.expect_float(0);
  expect_same_type(in, 1, 0);
  Shape dims = conv_dims(in, 0, 1);
  check_bias(in, 2, dims[1]);
  if (in.has(2)) expect_same_type(in, 2, 0);
  TensorType result = infer_epilogue(in, {in.dtype(0), std::move(dims)}, 3);
  in.set(0, result.dtype, std::move(result.dims));
}

void infer_conv_transpose(Inference& in) {
  in.expect_float(0);
  expect_same_type(in, 1, 0);
  const Shape &x = in.dims(0), &w = in.dims(1);
  if (x.size() < 3) in.refuse("operand 0 must have rank 3 or more, found {}", to_string(x));
  if (w.size() != x.size())
    in.refuse("the weights must have the rank of the input, {}; found {}", to_string(x),
              to_string(w));
  const std::int64_t group = in.integer("group", 1, std::int64_t{1} << 31);
  in.unify(x[1], w[0], "input channels and weight channels");
  if (w[0].is_const() && w[0].value() % group != 0)
    in.refuse("{} input channels do not divide into {} groups", w[0].value(), group);
  // Pads may be negative here: they then extend the result.
  const int n = static_cast<int>(x.size()) - 2;
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  const Ints& strides = in.ints("strides", n, 1, kFar);
  const Ints& dilations = in.ints("dilations", n, 1, kFar);
  const Ints& pads = in.ints("pads", 2 * n, -kFar, kFar);
  const Ints& extra = in.ints("output_padding", n, 0, kFar);
  Shape dims{x[0], w[1] * Dim(group)};
  for (int i = 0; i < n; ++i) {
    const Dim &d = x[at(i + 2)], &k = w[at(i + 2)];
    if (k.bounds().hi < 1) in.refuse("the kernel {} must have sizes of 1 or more", to_string(w));
    // stride * (d - 1) + output_padding + extent - pads
    dims.push_back((d - Dim(1)) * Dim(strides[at(i)]) + Dim(extra[at(i)]) +
                   (k - Dim(1)) * Dim(dilations[at(i)]) + Dim(1) - Dim(pads[at(i)]) -
                   Dim(pads[at(i + n)]));
  }
  check_bias(in, 2, dims[1]);
  if (in.has(2)) expect_same_type(in, 2, 0);
  TensorType result = infer_epilogue(in, {in.dtype(0), std::move(dims)}, 3);
  in.set(0, result.dtype, std::move(result.dims));
}

// A zero point: one value, or one per channel.
void check_zero(const Inference& in, int i, int of, const Dim& channels) {
  if (!in.has(i)) return;
  expect_same_type(in, i, of);
  if (in.rank(i) > 1)
    in.refuse("operand {} must have rank 0 or 1, found {}", i, to_string(in.type(i)));
  if (in.rank(i) == 1 && in.dims(i)[0] != Dim(1))
    in.unify(channels, in.dims(i)[0], "output channels and weight zero points");
}

void expect_byte(const Inference& in, int i) {
  if (in.dtype(i) != DType::u8 && in.dtype(i) != DType::i8)
    in.refuse("operand {} must be u8 or i8, found {}", i, dtype_name(in.dtype(i)));
}

void infer_conv_integer(Inference& in) {
  expect_byte(in, 0);
  expect_byte(in, 1);
  Shape dims = conv_dims(in, 0, 1);
  if (in.has(2)) {
    in.expect_scalar(2);
    expect_same_type(in, 2, 0);
  }
  check_zero(in, 3, 1, dims[1]);
  in.set(0, DType::i32, std::move(dims));
}

void infer_qlinear_conv(Inference& in) {
  // x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?
  expect_byte(in, 0);
  expect_byte(in, 3);
  expect_byte(in, 7);
  Shape dims = conv_dims(in, 0, 3);
  for (int i : {1, 2, 6, 7}) in.expect_scalar(i);
  for (int i : {1, 4, 6}) in.expect_float(i);
  expect_same_type(in, 2, 0);
  check_zero(in, 5, 3, dims[1]);
  if (in.rank(4) > 1) in.refuse("operand 4 must have rank 0 or 1, found {}", to_string(in.type(4)));
  if (in.rank(4) == 1 && in.dims(4)[0] != Dim(1))
    in.unify(dims[1], in.dims(4)[0], "output channels and weight scales");
  check_bias(in, 8, dims[1]);
  if (in.has(8)) in.expect_dtype(8, DType::i32);
  in.set(0, in.dtype(7), std::move(dims));
}

void infer_deform_conv(Inference& in) {
  in.expect_float(0);
  for (int i : {1, 2}) expect_same_type(in, i, 0);
  in.expect_rank(0, 4, 4);
  Shape dims = conv_dims(in, 0, 1);
  const Dim taps = in.dims(1)[2] * in.dims(1)[3];
  const std::int64_t groups = in.integer("offset_group", 1, std::int64_t{1} << 31);
  if (in.dims(0)[1].is_const() && in.dims(0)[1].value() % groups != 0)
    in.refuse("{} channels do not divide into {} offset groups", in.dims(0)[1].value(), groups);
  const auto check_field = [&](int i, const Dim& channels, const char* what) {
    in.expect_rank(i, 4, 4);
    in.unify(in.dims(i)[0], dims[0], "batch sizes");
    in.unify(in.dims(i)[1], channels, what);
    for (std::size_t a : {2U, 3U}) in.unify(in.dims(i)[a], dims[a], "sizes of the offset field");
  };
  check_field(2, taps * Dim(2 * groups), "offset channels and two per kernel element and group");
  check_bias(in, 3, dims[1]);
  if (in.has(3)) expect_same_type(in, 3, 0);
  if (in.has(4)) {
    expect_same_type(in, 4, 0);
    check_field(4, taps * Dim(groups), "mask channels and one per kernel element and group");
  }
  in.set(0, in.dtype(0), std::move(dims));
}

constexpr AttrDef kConvAttrs[] = {{"strides", AttrKind::integers},
                                  {"dilations", AttrKind::integers},
                                  {"pads", AttrKind::integers},
                                  {"group", AttrKind::integer}};
constexpr AttrDef kTransposeAttrs[] = {{"strides", AttrKind::integers},
                                       {"dilations", AttrKind::integers},
                                       {"pads", AttrKind::integers},
                                       {"group", AttrKind::integer},
                                       {"output_padding", AttrKind::integers}};
constexpr AttrDef kDeformAttrs[] = {{"strides", AttrKind::integers},
                                    {"dilations", AttrKind::integers},
                                    {"pads", AttrKind::integers},
                                    {"group", AttrKind::integer},
                                    {"offset_group", AttrKind::integer}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema conv = {.name = "conv",
                               .min_operands = 2,
                               .max_operands = -1,
                               .traits = kEpilogue,
                               .attrs = kConvAttrs,
                               .max_subgraphs = 1,
                               .infer = infer_conv};
constinit const Schema conv_transpose = {.name = "conv_transpose",
                                         .min_operands = 2,
                                         .max_operands = -1,
                                         .traits = kEpilogue,
                                         .attrs = kTransposeAttrs,
                                         .max_subgraphs = 1,
                                         .infer = infer_conv_transpose};
constinit const Schema conv_integer = {.name = "conv_integer",
                                       .min_operands = 2,
                                       .max_operands = 4,
                                       .attrs = kConvAttrs,
                                       .infer = infer_conv_integer};
constinit const Schema deform_conv = {.name = "deform_conv",
                                      .min_operands = 3,
                                      .max_operands = 5,
                                      .attrs = kDeformAttrs,
                                      .infer = infer_deform_conv};
constinit const Schema qlinear_conv = {.name = "qlinear_conv",
                                       .min_operands = 8,
                                       .max_operands = 9,
                                       .attrs = kConvAttrs,
                                       .infer = infer_qlinear_conv};

}  // namespace frit::ops
