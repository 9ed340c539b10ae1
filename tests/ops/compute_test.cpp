// SPDX-License-Identifier: Apache-2.0
// Result dims of convolution, matrix product, pooling, normalization, resampling, recurrence,
// quantization and control flow.
#include "tests/ops/build.h"

namespace frit::ir::test {
namespace {

using I = std::int64_t;
using S = std::string;

Value* x(const char* type) {
  return scratch().x(type);
}
Value* i64(std::vector<I> values) {
  return scratch().i64(std::move(values));
}

Attrs conv_attrs(Ints strides, Ints dilations, Ints pads, I group = 1) {
  return {{"strides", std::move(strides)},
          {"dilations", std::move(dilations)},
          {"pads", std::move(pads)},
          {"group", group}};
}

TEST(Conv, dims) {
  const Attrs stem = conv_attrs({2, 2}, {1, 1}, {3, 3, 3, 3});
  EXPECT_EQ(outcome(ops::conv, {x("f32[N,3,224,224]"), x("f32[64,3,7,7]"), x("f32[64]")}, stem),
            "f32[N,64,112,112]");
  EXPECT_EQ(outcome(ops::conv, {x("f32[1,3,2*H,H]"), x("f32[8,3,7,7]")}, stem),
            "f32[1,8,H,floor_div(H - 1, 2) + 1]");
  EXPECT_EQ(outcome(ops::conv, {x("f32[2,8,H]"), x("f32[8,1,3]")}, conv_attrs({1}, {2}, {2, 2}, 8)),
            "f32[2,8,H]");
  const Attrs plain = conv_attrs({1}, {1}, {0, 0});
  const auto conv = [&](const char* a, const char* w, Attrs attrs) {
    return outcome(ops::conv, {x(a), x(w)}, std::move(attrs));
  };
  EXPECT_REFUSAL(conv("f32[1,3,8]", "f32[4,2,3]", plain), "3 and 2 differ");
  EXPECT_REFUSAL(conv("f32[1,3,2]", "f32[4,3,3]", plain),
                 "window of 3 elements does not fit the padded input of 2");
  EXPECT_REFUSAL(conv("f32[1,3,8]", "f32[4,3,0]", plain), "sizes of 1 or more");
  EXPECT_REFUSAL(conv("f32[1,3,8]", "f32[4,3,3]", conv_attrs({0}, {1}, {0, 0})),
                 "'strides' holds 0");
  EXPECT_REFUSAL(conv("f32[1,3,8]", "f32[4,3,3]", conv_attrs({1}, {1}, {0, -1})),
                 "'pads' holds -1");
  EXPECT_REFUSAL(conv("f32[1,3,8]", "f32[4,3,3]", conv_attrs({1}, {1}, {0})),
                 "'pads' must have 2 entries");
  EXPECT_REFUSAL(conv("f32[1,4,8]", "f32[3,2,3]", conv_attrs({1}, {1}, {0, 0}, 2)),
                 "do not divide into 2 groups");
  EXPECT_REFUSAL(conv("f32[1,4,8]", "f32[3,2,3]", conv_attrs({1}, {1}, {0, 0}, 0)),
                 "'group' must lie in");
  EXPECT_REFUSAL(conv("f32[1,4]", "f32[3,4]", conv_attrs({}, {}, {})), "rank 3 or more");
  EXPECT_REFUSAL(conv("f32[1,4,8]", "f16[3,4,3]", plain), "found f32 and f16");
  EXPECT_REFUSAL(outcome(ops::conv, {x("f32[1,4,8]"), x("f32[3,4,3]"), x("f32[4]")}, plain),
                 "3 and 4 differ");
}

TEST(Conv, relatives) {
  Attrs up = conv_attrs({2, 2}, {1, 1}, {1, 1, 1, 1});
  up.set("output_padding", Ints{1, 1});
  EXPECT_EQ(outcome(ops::conv_transpose, {x("f32[N,8,7,H]"), x("f32[8,4,3,3]")}, up),
            "f32[N,4,14,2*H]");
  EXPECT_REFUSAL(outcome(ops::conv_transpose, {x("f32[N,8,7,7]"), x("f32[4,8,3,3]")}, up),
                 "8 and 4");
  const Attrs plain = conv_attrs({1, 1}, {1, 1}, {0, 0, 0, 0});
  EXPECT_EQ(outcome(ops::conv_integer, {x("u8[1,1,3,3]"), x("i8[1,1,2,2]"), x("u8[]")}, plain),
            "i32[1,1,2,2]");
  EXPECT_REFUSAL(outcome(ops::conv_integer, {x("f32[1,1,3,3]"), x("i8[1,1,2,2]")}, plain),
                 "u8 or i8");
  Attrs deform = plain;
  deform.set("offset_group", I{1});
  EXPECT_EQ(
      outcome(ops::deform_conv, {x("f32[1,1,3,3]"), x("f32[1,1,2,2]"), x("f32[1,8,2,2]")}, deform),
      "f32[1,1,2,2]");
  EXPECT_REFUSAL(
      outcome(ops::deform_conv, {x("f32[1,1,3,3]"), x("f32[1,1,2,2]"), x("f32[1,4,2,2]")}, deform),
      "4 and 8 differ");
  EXPECT_EQ(outcome(ops::qlinear_conv,
                    {x("u8[1,1,3,3]"), x("f32[]"), x("u8[]"), x("i8[4,1,2,2]"), x("f32[4]"),
                     x("i8[4]"), x("f32[]"), x("u8[]")},
                    plain),
            "u8[1,4,2,2]");
}

TEST(Matmul, dims) {
  const auto matmul = [](const char* a, const char* b, I ta = 0, I tb = 0) {
    return outcome(ops::matmul, {x(a), x(b)}, {{"trans_a", ta}, {"trans_b", tb}});
  };
  EXPECT_EQ(matmul("f32[N,3]", "f32[3,4]"), "f32[N,4]");
  EXPECT_EQ(matmul("f32[3,N]", "f32[4,3]", 1, 1), "f32[N,4]");
  EXPECT_EQ(matmul("f32[2,1,5,3]", "f32[7,3,4]"), "f32[2,7,5,4]");
  EXPECT_EQ(matmul("f32[3]", "f32[2,3,4]"), "f32[2,4]");
  EXPECT_EQ(matmul("f32[2,4,3]", "f32[3]"), "f32[2,4]");
  EXPECT_EQ(matmul("f32[3]", "f32[3]"), "f32[]");
  EXPECT_REFUSAL(matmul("f32[2,3]", "f32[4,5]"), "inner sizes of [2,3] and [4,5] differ: 3 and 4");
  EXPECT_REFUSAL(matmul("f32[2,3]", "f32[3,5]", 1), "[2,3] (transposed)");
  EXPECT_REFUSAL(matmul("f32[]", "f32[3]"), "rank 1 or more");
  EXPECT_REFUSAL(matmul("f32[3]", "f32[3]", 1), "a vector cannot be transposed");
  EXPECT_REFUSAL(matmul("f32[2,3]", "f16[3,2]"), "one type");
  EXPECT_REFUSAL(matmul("f32[2,3]", "f32[3,2]", 2), "'trans_a' must lie in 0…1");
  const Attrs flat{{"trans_a", I{0}}, {"trans_b", I{0}}};
  EXPECT_EQ(outcome(ops::matmul, {x("f32[N,3]"), x("f32[3,4]"), x("f32[4]")}, flat), "f32[N,4]");
  EXPECT_REFUSAL(outcome(ops::matmul, {x("f32[1,3]"), x("f32[3,4]"), x("f32[2,4]")}, flat),
                 "the bias [2,4]");
  EXPECT_EQ(outcome(ops::matmul_integer, {x("u8[2,3]"), x("i8[3,4]"), x("u8[2]"), x("i8[4]")}),
            "i32[2,4]");
  EXPECT_REFUSAL(outcome(ops::matmul_integer, {x("u8[2,3]"), x("i8[3,4]"), x("u8[3]")}),
                 "3 and 2 differ");
  EXPECT_EQ(outcome(ops::qlinear_matmul, {x("u8[2,3]"), x("f32[]"), x("u8[]"), x("i8[3,4]"),
                                          x("f32[]"), x("i8[]"), x("f32[]"), x("i8[]")}),
            "i8[2,4]");
}

TEST(Einsum, dims) {
  const auto einsum = [](const char* equation, std::vector<const char*> types) {
    std::vector<Value*> operands;
    for (const char* t : types) operands.push_back(x(t));
    return outcome(ops::einsum, operands, {{"equation", S(equation)}});
  };
  EXPECT_EQ(einsum("ij, jk -> ik", {"f32[N,3]", "f32[3,4]"}), "f32[N,4]");
  EXPECT_EQ(einsum("ij,jk", {"f32[N,3]", "f32[3,4]"}), "f32[N,4]");
  EXPECT_EQ(einsum("ba", {"f32[2,3]"}), "f32[3,2]");
  EXPECT_EQ(einsum("...ij,...jk->...ik", {"f32[5,1,2,3]", "f32[7,3,4]"}), "f32[5,7,2,4]");
  EXPECT_EQ(einsum("ii->", {"f32[3,3]"}), "f32[]");
  EXPECT_EQ(einsum("->", {"f32[]"}), "f32[]");
  EXPECT_REFUSAL(einsum("ij,jk->ik", {"f32[2,3]", "f32[4,5]"}), "sizes 3 and 4");
  EXPECT_REFUSAL(einsum("ij->ik", {"f32[2,3]"}), "output label 'k'");
  EXPECT_REFUSAL(einsum("ij->ii", {"f32[2,3]"}), "names an output label twice");
  EXPECT_REFUSAL(einsum("i1->i", {"f32[2,3]"}), "may hold letters");
  EXPECT_REFUSAL(einsum("i", {"f32[2,3]"}), "term 'i' of the equation does not fit operand 0");
  EXPECT_REFUSAL(einsum("i,i", {"f32[2]"}), "2 terms for 1 operands");
  EXPECT_REFUSAL(einsum("......", {"f32[2]"}), "two ellipses");
}

Attrs pool_attrs(const char* kind, I kernel, I stride, I pad, I ceil) {
  return {{"kind", S(kind)},      {"kernel", Ints{kernel}}, {"strides", Ints{stride}},
          {"dilations", Ints{1}}, {"pads", Ints{pad, pad}}, {"ceil_mode", ceil}};
}

TEST(Pool, dims) {
  const auto pool = [](const char* from, Attrs attrs, int results = 1) {
    return outcome(ops::pool, {x(from)}, std::move(attrs), results);
  };
  EXPECT_EQ(pool("f32[N,3,112]", pool_attrs("max", 3, 2, 1, 0), 2), "f32[N,3,56]; i64[N,3,56]");
  EXPECT_EQ(pool("f32[1,3,6]", pool_attrs("max", 3, 2, 0, 0)), "f32[1,3,2]");
  EXPECT_EQ(pool("f32[1,3,6]", pool_attrs("max", 3, 2, 0, 1)), "f32[1,3,3]");
  EXPECT_EQ(pool("f32[1,3,2]", pool_attrs("average", 1, 2, 1, 1)), "f32[1,3,2]");
  EXPECT_EQ(pool("f32[1,3,2*H]", pool_attrs("average", 2, 2, 0, 0)), "f32[1,3,H]");
  EXPECT_REFUSAL(pool("f32[1,3,6]", pool_attrs("average", 3, 2, 0, 0), 2), "only max pooling");
  EXPECT_REFUSAL(pool("f32[1,3,2]", pool_attrs("max", 3, 1, 0, 0)), "does not fit");
  EXPECT_REFUSAL(pool("f32[1,3,2]", pool_attrs("max", 0, 1, 0, 0)), "'kernel' holds 0");
  EXPECT_REFUSAL(pool("f32[1,3,2]", pool_attrs("min", 1, 1, 0, 0)), "one of max, average, lp");
  EXPECT_REFUSAL(pool("f32[1,3]", pool_attrs("max", 1, 1, 0, 0)), "rank 3 or more");
  EXPECT_REFUSAL(pool("f32[1,3,8]", pool_attrs("lp", 2, 2, 0, 0)), "'p' must lie in");
  const Attrs unpool{{"kernel", Ints{2}}, {"strides", Ints{2}}, {"pads", Ints{0, 0}}};
  EXPECT_EQ(outcome(ops::max_unpool, {x("f32[1,3,4]"), x("i64[1,3,4]")}, unpool), "f32[1,3,8]");
  EXPECT_EQ(outcome(ops::max_unpool, {x("f32[1,3,4]"), x("i64[1,3,4]"), i64({1, 3, 9})}, unpool),
            "f32[1,3,9]");
}

TEST(Norm, operands) {
  const Attrs layer{{"axis", I{1}}, {"epsilon", 1e-5}};
  EXPECT_EQ(outcome(ops::layer_norm, {x("f16[N,4,8]"), x("f16[4,8]"), x("f16[8]")}, layer, 3),
            "f16[N,4,8]; f32[N,1,1]; f32[N,1,1]");
  EXPECT_REFUSAL(outcome(ops::layer_norm, {x("f32[N,8]"), x("f32[7]")}, layer),
                 "broadcast to the normalized dims [8], found [7]");
  EXPECT_REFUSAL(outcome(ops::layer_norm, {x("f32[N,8]")}, {{"axis", I{1}}, {"epsilon", -1.0}}),
                 "'epsilon'");
  EXPECT_EQ(outcome(ops::rms_norm, {x("f32[N,8]"), x("f32[8]")}, layer), "f32[N,8]");
  const auto group = [](const char* from, I groups) {
    return outcome(ops::group_norm, {x(from), x("f32[6]"), x("f32[6]")},
                   {{"groups", groups}, {"epsilon", 1e-5}});
  };
  EXPECT_EQ(group("f32[N,6,5]", 3), "f32[N,6,5]");
  EXPECT_REFUSAL(group("f32[N,6,5]", 4), "6 channels do not divide into 4 groups");
  EXPECT_REFUSAL(group("f32[N,4,5]", 2), "4 and 6 differ");
  EXPECT_REFUSAL(group("f32[6]", 2), "rank 2 or more");
  EXPECT_EQ(outcome(ops::batch_norm,
                    {x("f32[N,3,H]"), x("f32[3]"), x("f32[3]"), x("f32[3]"), x("f32[3]")},
                    {{"epsilon", 1e-5}}),
            "f32[N,3,H]");
  EXPECT_EQ(outcome(ops::lrn, {x("f32[1,3,4,4]")},
                    {{"alpha", 1.0}, {"beta", 1.0}, {"bias", 1.0}, {"size", I{3}}}),
            "f32[1,3,4,4]");
  EXPECT_REFUSAL(outcome(ops::lp_norm, {x("f32[2]")}, {{"axis", I{0}}, {"p", I{3}}}),
                 "'p' must lie in 1…2");
  EXPECT_EQ(outcome(ops::mvn, {x("f32[2,3]")}, {{"axes", Ints{0, 1}}}), "f32[2,3]");
}

TEST(Resize, dims) {
  const auto attrs = [](Reals scales) {
    return Attrs{
        {"mode", S("linear")}, {"coordinate", S("half_pixel")}, {"scales", std::move(scales)}};
  };
  EXPECT_EQ(outcome(ops::resize, {x("f32[N,3,H,10]")}, attrs({1, 1, 2, static_cast<double>(0.7F)})),
            "f32[N,3,2*H,7]");
  EXPECT_EQ(outcome(ops::resize, {x("f32[4*N]")}, attrs({0.5})), "f32[2*N]");
  EXPECT_EQ(outcome(ops::resize, {x("f32[N]")}, attrs({0.3})).substr(0, 5), "f32[u");
  EXPECT_EQ(outcome_as(ops::resize, {x("f32[4]")}, attrs({1.75}), {"f32[7]"}), "f32[7]");
  EXPECT_REFUSAL(outcome_as(ops::resize, {x("f32[4]")}, attrs({1.75}), {"f32[9]"}),
                 "size 9 is not 4 times 1.75");
  EXPECT_REFUSAL(outcome(ops::resize, {x("f32[4]")}, attrs({0.0})), "is not positive");
  EXPECT_REFUSAL(outcome(ops::resize, {x("f32[4]")}, attrs({1, 1})),
                 "'scales' must have 1 entries");
  EXPECT_EQ(outcome(ops::grid_sample, {x("f32[N,3,4,5]"), x("f32[N,6,7,2]")},
                    {{"mode", S("linear")}, {"padding", S("zeros")}, {"align_corners", I{0}}}),
            "f32[N,3,6,7]");
  EXPECT_EQ(outcome(ops::roi_align, {x("f32[2,3,8,8]"), x("f32[N,4]"), x("i64[N]")},
                    {{"mode", S("avg")},
                     {"output_height", I{5}},
                     {"output_width", I{6}},
                     {"sampling_ratio", I{2}},
                     {"spatial_scale", 1.0},
                     {"coordinate", S("half_pixel")}}),
            "f32[N,3,5,6]");
}

TEST(Rnn, dims) {
  const auto attrs = [](const char* direction, const char* activations, I layout) {
    return Attrs{{"kind", S("lstm")},
                 {"direction", S(direction)},
                 {"hidden", I{5}},
                 {"layout", layout},
                 {"activations", S(activations)}};
  };
  EXPECT_EQ(outcome(ops::rnn, {x("f32[N,M,3]"), x("f32[1,20,3]"), x("f32[1,20,5]"), x("f32[1,40]")},
                    attrs("forward", "sigmoid,tanh,tanh", 0), 3),
            "f32[N,1,M,5]; f32[1,M,5]; f32[1,M,5]");
  EXPECT_EQ(outcome(ops::rnn, {x("f32[N,M,3]"), x("f32[2,20,3]"), x("f32[2,20,5]")},
                    attrs("bidirectional", "sigmoid,tanh,tanh,sigmoid,tanh,tanh", 1), 3),
            "f32[N,M,2,5]; f32[N,2,5]; f32[N,2,5]");
  EXPECT_REFUSAL(outcome(ops::rnn, {x("f32[N,M,3]"), x("f32[1,15,3]"), x("f32[1,20,5]")},
                         attrs("forward", "sigmoid,tanh,tanh", 0)),
                 "input weights) must have dims [1,20,3], found [1,15,3]");
  EXPECT_REFUSAL(outcome(ops::rnn, {x("f32[N,M,3]"), x("f32[1,20,3]"), x("f32[1,20,5]")},
                         attrs("forward", "sigmoid,tanh", 0)),
                 "must name 3 functions");
}

TEST(Quantize, parameters) {
  const auto quantize = [](const char* from, const char* scale, I axis, I block) {
    return outcome(ops::quantize, {x(from), x(scale)},
                   {{"axis", axis}, {"block", block}, {"to", I{3}}});
  };
  EXPECT_EQ(quantize("f32[N,4]", "f32[]", 1, 0), "i8[N,4]");
  EXPECT_EQ(quantize("f32[N,4]", "f32[4]", 1, 0), "i8[N,4]");
  EXPECT_EQ(quantize("f32[N,9]", "f32[N,3]", 1, 4), "i8[N,9]");
  EXPECT_REFUSAL(quantize("f32[N,4]", "f32[3]", 1, 0), "4 and 3 differ");
  EXPECT_REFUSAL(quantize("f32[N,9]", "f32[N,2]", 1, 4), "need a scale of dims [N,3], found [N,2]");
  EXPECT_REFUSAL(quantize("f32[N,4]", "f32[4]", 2, 0), "'axis' must name");
  const Attrs plain{{"axis", I{0}}, {"block", I{0}}};
  EXPECT_EQ(outcome(ops::dequantize, {x("u4[8]"), x("f16[]"), x("u4[]")}, plain), "f16[8]");
  EXPECT_EQ(outcome_as(ops::dequantize, {x("i8[8]"), x("f32[]")}, plain, {"bf16[8]"}), "bf16[8]");
  EXPECT_REFUSAL(outcome(ops::dequantize, {x("i8[8]"), x("f32[]"), x("u8[]")}, plain),
                 "operand 2 must be i8, found u8");
  EXPECT_EQ(outcome(ops::dynamic_quantize, {x("f32[N]")}, {}, 3), "u8[N]; f32[]; u8[]");
}

TEST(Control, if_joins_branches) {
  Build in;
  const auto joined = [&](const char* yes, const char* no) {
    std::vector<Value*> operands{in.x("bool[]")};
    Node* node = in.graph.add(ops::if_, operands);
    for (const char* t : {yes, no}) {
      Graph& body = *node->add_subgraph();
      std::vector<Value*> captured{in.x(t)};
      body.add_output(body.add(ops::relu, captured)->result());
    }
    try {
      infer_types(*node);
      return to_string(node->result()->type);
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(joined("f32[2,N]", "f32[2,N]"), "f32[2,N]");
  EXPECT_EQ(joined("f32[2,N]", "f32[3,N]").substr(0, 5), "f32[u");
  EXPECT_REFUSAL(joined("f32[2]", "f16[2]"), "f32[2] in one branch and f16[2] in the other");
  EXPECT_REFUSAL(joined("f32[2]", "f32[]"), "rank 1 in one branch and 0 in the other");
}

// state' = concat(state, x); scan = x. Trip count and condition as given.
struct Growing : Build {
  Node* node = nullptr;
  explicit Growing(bool grow) {
    Value* item = x("f32[1,4]");
    std::vector<Value*> operands{emit.constant_scalar(DType::i64, 7), nullptr, x("f32[2,4]")};
    node = graph.add(ops::loop, operands, {}, 2);
    Graph& body = *node->add_subgraph();
    for (int i = 0; i < 3; ++i) body.add_input("", {});
    std::vector<Value*> parts{body.input(2)};
    if (grow) parts.push_back(item);
    Value* state = body.add(ops::concat, parts, {{"axis", I{0}}})->result();
    body.add_output(body.input(1));
    body.add_output(state);
    std::vector<Value*> captured{item};
    body.add_output(body.add(ops::relu, captured)->result());
    infer_types(*node);
  }
};

TEST(Control, loop_states_that_stay) {
  Growing in(false);
  EXPECT_EQ(to_string(in.node->result(0)->type), "f32[2,4]");
  EXPECT_EQ(to_string(in.node->result(1)->type), "f32[7,1,4]");
}

TEST(Control, loop_states_that_grow) {
  Growing in(true);
  const std::string grown = to_string(in.node->result(0)->type);
  EXPECT_EQ(grown.substr(0, 5), "f32[u");
  EXPECT_EQ(grown.substr(grown.size() - 3), ",4]");
  EXPECT_EQ(to_string(in.node->result(1)->type), "f32[7,1,4]");
  infer_types(*in.node);  // the widened body stays as it is
  EXPECT_EQ(to_string(in.node->result(0)->type), grown);
}

}  // namespace
}  // namespace frit::ir::test
