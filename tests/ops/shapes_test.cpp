// SPDX-License-Identifier: Apache-2.0
// Result dims of movement, slicing, indexing and reduction ops.
#include <cmath>

#include "tests/ops/build.h"

namespace frit::ir::test {
namespace {

using I = std::int64_t;

Value* x(const char* type) {
  return scratch().x(type);
}
Value* i64(std::vector<I> values) {
  return scratch().i64(std::move(values));
}

TEST(Data, constants_shapes_ranges) {
  EXPECT_EQ(outcome(ops::constant, {}, {{"value", Tensor(DType::u4, {2, 3})}}), "u4[2,3]");
  EXPECT_REFUSAL(outcome(ops::constant, {}, {{"value", Tensor()}}), "undefined");
  EXPECT_EQ(outcome(ops::shape, {x("f32[2,N]")}, {{"start", I{1}}, {"end", I{2}}}), "i64[1]");
  EXPECT_REFUSAL(outcome(ops::shape, {x("f32[2,N]")}, {{"start", I{1}}, {"end", I{3}}}),
                 "'end' must lie in 1…2, found 3");
  const auto range = [](double a, double b, double c) {
    Emitter& e = scratch().emit;
    return outcome(ops::range, {e.constant_scalar(DType::f32, a), e.constant_scalar(DType::f32, b),
                                e.constant_scalar(DType::f32, c)});
  };
  EXPECT_EQ(range(0, 1, 0.3), "f32[4]");
  EXPECT_EQ(range(1, 0, 0.3), "f32[0]");
  EXPECT_REFUSAL(range(0, 1, 0), "delta must not be 0");
  EXPECT_REFUSAL(range(0, 1e30, 1), "not a countable range");
  EXPECT_REFUSAL(range(0, NAN, 1), "not a countable range");
  EXPECT_EQ(outcome(ops::eye_like, {x("i64[3,N]")}, {{"k", I{1}}, {"to", I{1}}}), "f32[3,N]");
  EXPECT_REFUSAL(outcome(ops::eye_like, {x("i64[3]")}, {{"k", I{1}}, {"to", I{1}}}), "rank 2");
}

TEST(Movement, reshape) {
  const auto to = [](const char* from, std::vector<I> shape) {
    return outcome(ops::reshape, {x(from), i64(std::move(shape))});
  };
  EXPECT_EQ(to("f32[2,3,4]", {4, -1}), "f32[4,6]");
  EXPECT_EQ(to("f32[N,12,64]", {0, -1}), "f32[N,768]");
  EXPECT_EQ(to("f32[N,12,64]", {-1, 64}), "f32[12*N,64]");
  EXPECT_EQ(to("f32[N,M+1,8]", {-1, 0}).substr(0, 4), "f32[");
  EXPECT_EQ(to("f32[2]", {}), "reshape: 2 elements of [2] cannot become dims []");
  EXPECT_EQ(to("f32[1]", {}), "f32[]");
  EXPECT_REFUSAL(to("f32[6]", {-1, -1}), "more than once");
  EXPECT_REFUSAL(to("f32[6]", {1, 0}), "copies dim 1, but the operand has rank 1");
  EXPECT_REFUSAL(to("f32[6]", {4, -1}), "6 elements of [6] cannot become [4,-1]");
  EXPECT_REFUSAL(to("f32[6]", {-2, 3}), "negative size");
  EXPECT_REFUSAL(to("f32[0]", {0, -1}), "leaves -1 undefined");
  EXPECT_EQ(outcome(ops::reshape, {x("f32[0,3]"), i64({3, 0})}, {{"allowzero", I{1}}}), "f32[3,0]");
  EXPECT_REFUSAL(outcome(ops::reshape, {x("f32[6]")}), "type beforehand");
  EXPECT_EQ(outcome_as(ops::reshape, {x("f32[6,N]")}, {}, {"f32[3,2*N]"}), "f32[3,2*N]");
  EXPECT_REFUSAL(outcome_as(ops::reshape, {x("f32[6,N]")}, {}, {"f32[7,N]"}), "cannot become");
  EXPECT_EQ(outcome_as(ops::reshape, {x("f32[6]"), x("i64[2]")}, {}, {"f32[2,3]"}), "f32[2,3]");
  EXPECT_EQ(outcome(ops::reshape, {x("f32[6]"), x("i64[2]")}).substr(0, 5), "f32[u");
  EXPECT_REFUSAL(outcome(ops::reshape, {x("f32[6]"), x("i64[N]")}), "the rank of result 0 depends");
}

TEST(Movement, transpose_expand_tile) {
  const auto transpose = [](Ints perm) {
    return outcome(ops::transpose, {x("f32[2,N,4]")}, {{"perm", std::move(perm)}});
  };
  EXPECT_EQ(transpose({2, 0, 1}), "f32[4,2,N]");
  EXPECT_REFUSAL(transpose({0, 1}), "'perm' must have 3 entries, found 2");
  EXPECT_REFUSAL(transpose({0, 1, 1}), "axis 1 twice");
  EXPECT_REFUSAL(transpose({0, 1, 3}), "outside 0…2");
  EXPECT_EQ(outcome(ops::expand, {x("f32[3,1]"), i64({2, 1, 6})}), "f32[2,3,6]");
  EXPECT_EQ(outcome_as(ops::expand, {x("f32[1,N]")}, {}, {"f32[4,2,N]"}), "f32[4,2,N]");
  EXPECT_REFUSAL(outcome_as(ops::expand, {x("f32[3]")}, {}, {"f32[4]"}), "do not broadcast to [4]");
  EXPECT_EQ(outcome(ops::tile, {x("f32[N,2]")}, {{"repeats", Ints{2, 3}}}), "f32[2*N,6]");
  EXPECT_REFUSAL(outcome(ops::tile, {x("f32[2]")}, {{"repeats", Ints{-1}}}), "holds -1");
  EXPECT_REFUSAL(outcome(ops::tile, {x("f32[2]")}), "found neither");
  EXPECT_REFUSAL(outcome(ops::tile, {x("f32[2]"), i64({2})}, {{"repeats", Ints{1}}}), "found both");
}

TEST(Movement, blocks_triangles_sequences) {
  EXPECT_EQ(outcome(ops::depth_to_space, {x("f32[N,8,2,3]")},
                    {{"block", I{2}}, {"mode", std::string("CRD")}}),
            "f32[N,2,4,6]");
  EXPECT_REFUSAL(outcome(ops::depth_to_space, {x("f32[N,6,2,3]")},
                         {{"block", I{2}}, {"mode", std::string("DCR")}}),
                 "channel count 6 is not a multiple of 4");
  EXPECT_REFUSAL(outcome(ops::depth_to_space, {x("f32[N,8,2,3]")},
                         {{"block", I{0}}, {"mode", std::string("DCR")}}),
                 "'block' must lie in 1…32768, found 0");
  EXPECT_REFUSAL(outcome(ops::depth_to_space, {x("f32[N,8,2,3]")},
                         {{"block", I{2}}, {"mode", std::string("ABC")}}),
                 "one of DCR, CRD; found 'ABC'");
  EXPECT_EQ(outcome(ops::space_to_depth, {x("f32[N,2,4,6]")}, {{"block", I{2}}}), "f32[N,8,2,3]");
  EXPECT_EQ(outcome(ops::trilu, {x("i64[N,2,4]")}, {{"upper", I{0}}}), "i64[N,2,4]");
  EXPECT_REFUSAL(outcome(ops::trilu, {x("i64[4]")}, {{"upper", I{0}}}), "rank 2 or more");
  const Attrs axes{{"batch_axis", I{1}}, {"time_axis", I{0}}};
  EXPECT_EQ(outcome(ops::reverse_sequence, {x("f32[4,N]"), x("i64[N]")}, axes), "f32[4,N]");
  EXPECT_REFUSAL(outcome(ops::reverse_sequence, {x("f32[4,3]"), x("i64[2]")}, axes), "3 and 2");
}

TEST(Slicing, concat) {
  const auto concat = [](std::vector<const char*> types, I axis) {
    std::vector<Value*> operands;
    for (const char* t : types) operands.push_back(x(t));
    return outcome(ops::concat, operands, {{"axis", axis}});
  };
  EXPECT_EQ(concat({"f32[2,N]", "f32[2,3]", "f32[2,N]"}, 1), "f32[2,2*N + 3]");
  EXPECT_EQ(concat({"f32[N,1]", "f32[4,1]"}, 1), "f32[4,2]");
  EXPECT_REFUSAL(concat({"f32[2,3]", "f32[4,3]"}, 1), "axis 0 of operands 0 and 1: 2 and 4 differ");
  EXPECT_REFUSAL(concat({"f32[2,3]", "f16[2,3]"}, 1), "operand 1 must have the type");
  EXPECT_REFUSAL(concat({"f32[2,3]"}, 2),
                 "'axis' must name an axis of a tensor of rank 2, found 2");
  EXPECT_REFUSAL(concat({"f32[2,3]"}, -1), "found -1");
  EXPECT_REFUSAL(concat({"f32[]"}, 0), "rank 0");
}

TEST(Slicing, static_slice) {
  const auto slice = [](const char* from, Ints starts, Ints steps, const char* to) {
    return outcome_as(ops::slice, {x(from)},
                      {{"starts", std::move(starts)}, {"steps", std::move(steps)}}, {to});
  };
  EXPECT_EQ(slice("f32[10,N]", {1, 0}, {3, 1}, "f32[3,N]"), "f32[3,N]");
  EXPECT_EQ(slice("f32[10]", {9}, {-1}, "f32[10]"), "f32[10]");
  EXPECT_EQ(slice("f32[10]", {10}, {1}, "f32[0]"), "f32[0]");
  EXPECT_REFUSAL(slice("f32[10]", {1}, {3}, "f32[4]"), "leave the extent 10");
  EXPECT_REFUSAL(slice("f32[10]", {9}, {-1}, "f32[11]"), "leave the extent 10");
  EXPECT_REFUSAL(slice("f32[N]", {1}, {1}, "f32[N]"), "leave the extent N");
  EXPECT_REFUSAL(slice("f32[10]", {-1}, {1}, "f32[1]"), "'starts' holds -1");
  EXPECT_REFUSAL(slice("f32[10]", {0}, {0}, "f32[1]"), "step of axis 0 is 0");
  EXPECT_REFUSAL(slice("f32[10]", {0, 0}, {1, 1}, "f32[1]"), "must have 1 entries");
}

TEST(Slicing, dynamic_slice_with_known_operands) {
  const auto slice = [](const char* from, I start, I end, I step) {
    return outcome(ops::slice, {x(from), i64({start}), i64({end}), i64({-1}), i64({step})});
  };
  EXPECT_EQ(slice("f32[2,10]", 1, 8, 3), "f32[2,3]");
  EXPECT_EQ(slice("f32[2,10]", -3, INT64_MAX, 1), "f32[2,3]");
  EXPECT_EQ(slice("f32[2,10]", INT64_MAX, INT64_MIN, -1), "f32[2,10]");
  EXPECT_EQ(slice("f32[2,10]", 8, 2, -4), "f32[2,2]");
  EXPECT_EQ(slice("f32[2,10]", 5, 2, 1), "f32[2,0]");
  EXPECT_EQ(slice("f32[2,10]", -1, INT64_MIN, INT64_MIN), "f32[2,1]");
  EXPECT_EQ(slice("f32[2,0]", 0, 5, -1), "f32[2,0]");
  EXPECT_EQ(slice("f32[2,N]", 1, INT64_MAX, 1), "f32[2,N - 1]");
  EXPECT_EQ(slice("f32[2,H]", 0, -4, 1), "f32[2,H - 4]");
  EXPECT_EQ(slice("f32[2,H]", 0, 16, 1), "f32[2,16]");
  EXPECT_EQ(slice("f32[2,H]", -2, INT64_MAX, 1), "f32[2,2]");
  EXPECT_EQ(slice("f32[2,2*H]", 0, INT64_MAX, 2), "f32[2,H]");
  EXPECT_EQ(slice("f32[2,N]", -1, INT64_MIN, -1), "f32[2,N]");
  EXPECT_REFUSAL(slice("f32[2,3]", 0, 1, 0), "step of axis 1 is 0");
  EXPECT_REFUSAL(outcome(ops::slice, {x("f32[2]"), i64({0}), i64({1}), i64({1})}),
                 "axis 1 is outside");
  EXPECT_REFUSAL(outcome(ops::slice, {x("f32[2]"), i64({0, 0}), i64({1, 1})}), "at most 1 starts");
  EXPECT_REFUSAL(outcome(ops::slice, {x("f32[2]"), i64({0})}), "must come together");
  EXPECT_REFUSAL(outcome(ops::slice, {x("f32[2]")}), "found neither");
  const std::string open = outcome(ops::slice, {x("f32[2,N]"), x("i64[1]"), i64({4}), i64({0})});
  EXPECT_EQ(open.substr(0, 5), "f32[u");
  EXPECT_EQ(open.substr(open.size() - 3), ",N]");
}

TEST(Slicing, split_and_pad) {
  const auto split = [](std::vector<std::string> parts) {
    return outcome_as(ops::split, {x("f32[2,N+3]")}, {{"axis", I{1}}}, std::move(parts));
  };
  EXPECT_EQ(split({"f32[2,N]", "f32[2,3]"}), "f32[2,N]; f32[2,3]");
  EXPECT_REFUSAL(split({"f32[2,N]", "f32[2,4]"}), "add up to N + 4, but it has N + 3 elements");
  EXPECT_REFUSAL(split({"f32[1,N]", "f32[2,3]"}), "declared as f32[1,N]");
  EXPECT_REFUSAL(outcome(ops::split, {x("f32[4]")}, {{"axis", I{0}}}, 2), "type beforehand");
  const auto pad = [](const char* from, Ints pads, const char* mode) {
    return outcome(ops::pad, {x(from)}, {{"pads", std::move(pads)}, {"mode", std::string(mode)}});
  };
  EXPECT_EQ(pad("f32[2,N]", {0, 1, 0, 2}, "constant"), "f32[2,N + 3]");
  EXPECT_EQ(pad("f32[5]", {-1, -2}, "edge"), "f32[2]");
  EXPECT_REFUSAL(pad("f32[5]", {-3, -3}, "edge"), "must not be negative");
  EXPECT_REFUSAL(pad("f32[0]", {1, 0}, "edge"), "axis 0 is empty");
  EXPECT_REFUSAL(pad("f32[5]", {1}, "edge"), "must have 2 entries");
  EXPECT_REFUSAL(pad("f32[5]", {1, 1}, "mirror"), "one of constant, edge, reflect, wrap");
  EXPECT_EQ(outcome(ops::pad, {x("f32[2,N]"), nullptr, i64({1, 1}), i64({-1})},
                    {{"mode", std::string("wrap")}}),
            "f32[2,N + 2]");
  EXPECT_REFUSAL(
      outcome(ops::pad, {x("f32[2]"), nullptr, i64({1, 1, 1})}, {{"mode", std::string("wrap")}}),
      "2 pads expected, found 3");
}

TEST(Indexing, gathers_and_scatters) {
  const Attrs axis1{{"axis", I{1}}};
  EXPECT_EQ(outcome(ops::gather, {x("f32[2,N,4]"), x("i64[3,5]")}, axis1), "f32[2,3,5,4]");
  EXPECT_REFUSAL(outcome(ops::gather, {x("f32[2,4]"), x("f32[3]")}, axis1),
                 "i32 or i64, found f32");
  EXPECT_EQ(outcome(ops::gather_elements, {x("f32[2,N]"), x("i32[2,7]")}, axis1), "f32[2,7]");
  EXPECT_REFUSAL(outcome(ops::gather_elements, {x("f32[2,N]"), x("i32[2]")}, axis1), "rank 2");
  const auto gather_nd = [](const char* indices, I batch) {
    return outcome(ops::gather_nd, {x("f32[2,3,4]"), x(indices)}, {{"batch_dims", batch}});
  };
  EXPECT_EQ(gather_nd("i64[5,2]", 0), "f32[5,4]");
  EXPECT_EQ(gather_nd("i64[2,7,1]", 1), "f32[2,7,4]");
  EXPECT_REFUSAL(gather_nd("i64[5,4]", 0), "1 to 3 entries, found 4");
  EXPECT_REFUSAL(gather_nd("i64[5,N]", 0), "the length of an index");
  EXPECT_REFUSAL(gather_nd("i64[2,2]", 2), "batch_dims 2 must be below");
  const Attrs none{{"reduction", std::string("none")}};
  Attrs elements = none;
  elements.set("axis", I{0});
  EXPECT_EQ(outcome(ops::scatter_elements, {x("f32[4]"), x("i64[2]"), x("f32[2]")}, elements),
            "f32[4]");
  EXPECT_REFUSAL(outcome(ops::scatter_elements, {x("f32[4]"), x("i64[2]"), x("f32[3]")}, elements),
                 "updates must have dims [2], found [3]");
  EXPECT_EQ(outcome(ops::scatter_nd, {x("f32[4,N]"), x("i64[2,1]"), x("f32[2,N]")}, none),
            "f32[4,N]");
  EXPECT_REFUSAL(outcome(ops::scatter_nd, {x("f32[4,N]"), x("i64[2,1]"), x("f32[2]")}, none),
                 "updates must have dims [2,N]");
}

TEST(Indexing, one_hot_topk_arg) {
  EXPECT_EQ(outcome(ops::one_hot, {x("i64[2,3]"), i64({10}), x("f32[2]")}, {{"axis", I{1}}}),
            "f32[2,10,3]");
  EXPECT_EQ(
      outcome(ops::one_hot, {x("i64[2]"), x("i64[]"), x("f32[2]")}, {{"axis", I{1}}}).substr(0, 7),
      "f32[2,u");
  Attrs topk{{"axis", I{1}}, {"largest", I{1}}, {"sorted", I{1}}};
  EXPECT_EQ(outcome(ops::topk, {x("f32[2,9]"), i64({4})}, topk, 2), "f32[2,4]; i64[2,4]");
  topk.set("k", I{4});
  EXPECT_EQ(outcome(ops::topk, {x("f32[2,9]")}, topk, 1), "f32[2,4]");
  EXPECT_REFUSAL(outcome(ops::topk, {x("f32[2,3]")}, topk, 2), "k must lie in 0…3, found 4");
  const Attrs arg{
      {"kind", std::string("max")}, {"axis", I{0}}, {"keepdims", I{0}}, {"select_last", I{0}}};
  EXPECT_EQ(outcome(ops::arg_reduce, {x("f32[2,N]")}, arg), "i64[N]");
  EXPECT_REFUSAL(outcome(ops::arg_reduce, {x("f32[0,N]")}, arg), "axis 0 is empty");
}

TEST(Reduction, dims) {
  const auto reduce = [](const char* from, Ints axes, I keep) {
    return outcome(ops::reduce, {x(from)},
                   {{"kind", std::string("mean")}, {"axes", std::move(axes)}, {"keepdims", keep}});
  };
  EXPECT_EQ(reduce("f32[2,N,4]", {0, 2}, 0), "f32[N]");
  EXPECT_EQ(reduce("f32[2,N,4]", {1}, 1), "f32[2,1,4]");
  EXPECT_EQ(reduce("f32[2]", {}, 0), "f32[2]");
  EXPECT_REFUSAL(reduce("f32[2]", {1}, 0), "increasing axes below 1");
  EXPECT_REFUSAL(reduce("f32[2,2]", {1, 0}, 0), "found 0 after 1");
  EXPECT_REFUSAL(reduce("bool[2,2]", {1}, 0), "numeric");
  const Attrs open{{"kind", std::string("sum")}, {"keepdims", I{1}}};
  EXPECT_EQ(outcome(ops::reduce, {x("f32[2,3]"), i64({-1})}, open), "f32[2,1]");
  EXPECT_EQ(outcome(ops::reduce, {x("f32[2,3]"), i64({})}, open), "f32[1,1]");
  EXPECT_EQ(outcome(ops::reduce, {x("f32[2,3]"), x("i64[1]")}, open).substr(0, 5), "f32[u");
  EXPECT_REFUSAL(outcome(ops::reduce, {x("f32[2,3]"), i64({1, -1})}, open),
                 "axis 1 is named twice");
  const Attrs scan{{"axis", I{1}}, {"exclusive", I{0}}, {"reverse", I{1}}};
  EXPECT_EQ(outcome(ops::cumsum, {x("i32[2,N]")}, scan), "i32[2,N]");
  EXPECT_REFUSAL(outcome(ops::cumsum, {x("i32[2]")}, scan), "'axis' must name");
  EXPECT_EQ(outcome(ops::softmax, {x("f16[2,N]")}, {{"axis", I{1}}, {"log", I{0}}}), "f16[2,N]");
  EXPECT_REFUSAL(outcome(ops::softmax, {x("f16[]")}, {{"axis", I{0}}, {"log", I{0}}}), "rank 0");
}

}  // namespace
}  // namespace frit::ir::test
