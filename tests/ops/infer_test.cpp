// SPDX-License-Identifier: Apache-2.0
// Signatures, pointwise typing, broadcasting, hints, regions and epilogues.
#include "tests/ops/build.h"

namespace frit::ir::test {
namespace {

Value* x(const char* type) {
  return scratch().x(type);
}

TEST(Registry, every_schema_is_found_and_can_infer) {
  EXPECT_EQ(find_schema("no_such_op"), nullptr);
  EXPECT_EQ(find_schema("return"), &ops::ret);
  EXPECT_EQ(find_schema("if"), &ops::if_);
  int rows = 0;
  for (const Schema* schema : all_schemas()) {
    EXPECT_EQ(find_schema(schema->name), schema);
    EXPECT_NE(schema->infer, nullptr) << schema->name;
    if (schema->pointwise_row < 0) continue;
    EXPECT_EQ(schema->pointwise_row, rows) << schema->name;
    ++rows;
  }
  EXPECT_GT(rows, 60);
  EXPECT_TRUE(ops::add.has(kCommutative));
  EXPECT_FALSE(ops::sub.has(kCommutative));
  EXPECT_TRUE(ops::cast.has(kPointwise));
  ASSERT_EQ(ops::selu.attrs.size(), 2U);
  EXPECT_STREQ(ops::selu.attr("gamma")->name, "gamma");
  EXPECT_EQ(ops::relu.attr("alpha"), nullptr);
}

TEST(Signature, counts_and_attributes_are_checked) {
  EXPECT_REFUSAL(outcome(ops::add, {x("f32[2]")}), "2 to 2 operands expected, found 1");
  EXPECT_REFUSAL(outcome(ops::add, {x("f32[2]"), nullptr}), "operand 1 is required");
  EXPECT_REFUSAL(outcome(ops::leaky_relu, {x("f32[2]")}), "'alpha' is required");
  EXPECT_REFUSAL(outcome(ops::leaky_relu, {x("f32[2]")}, {{"alpha", std::int64_t{1}}}),
                 "'alpha' must be a real, found an integer");
  EXPECT_REFUSAL(outcome(ops::relu, {x("f32[2]")}, {{"slope", 1.0}}), "'slope' is unknown");
  EXPECT_REFUSAL(outcome(ops::relu, {x("f32[2]")}, {}, 2), "results expected, found 2");
}

TEST(Signature, a_refused_node_leaves_the_graph) {
  Build in;
  Value* a = in.x("f32[2]");
  EXPECT_THROW(in.emit.emit(ops::logical_not, {a}), Error);
  EXPECT_EQ(in.graph.node_count(), 0U);
  EXPECT_TRUE(a->uses().empty());
}

TEST(Signature, origin_is_named) {
  Build in;
  in.emit.origin = {"conv_12"};
  try {
    in.emit.emit(ops::logical_not, {in.x("f32[2]")});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.origin(), "conv_12");
    EXPECT_EQ(error.code(), Code::invalid_model);
  }
}

TEST(Pointwise, classes) {
  EXPECT_EQ(outcome(ops::exp, {x("f16[2,N]")}), "f16[2,N]");
  EXPECT_REFUSAL(outcome(ops::exp, {x("i32[2]")}), "exp: operand 0 must have a floating type");
  EXPECT_EQ(outcome(ops::add, {x("i8[2]"), x("i8[2]")}), "i8[2]");
  EXPECT_REFUSAL(outcome(ops::add, {x("bool[2]"), x("bool[2]")}), "numeric");
  EXPECT_REFUSAL(outcome(ops::add, {x("f32[2]"), x("f16[2]")}), "found f32 and f16");
  EXPECT_REFUSAL(outcome(ops::bit_and, {x("f32[2]"), x("f32[2]")}), "integer type");
  EXPECT_EQ(outcome(ops::less, {x("i64[3]"), x("i64[1]")}), "bool[3]");
  EXPECT_EQ(outcome(ops::equal, {x("bool[3]"), x("bool[]")}), "bool[3]");
  EXPECT_REFUSAL(outcome(ops::less, {x("bool[3]"), x("bool[]")}), "numeric");
  EXPECT_EQ(outcome(ops::is_nan, {x("bf16[3]")}), "bool[3]");
  EXPECT_EQ(outcome(ops::logical_and, {x("bool[3]"), x("bool[2,1]")}), "bool[2,3]");
  EXPECT_EQ(outcome(ops::where, {x("bool[3]"), x("i8[]"), x("i8[2,3]")}), "i8[2,3]");
  EXPECT_REFUSAL(outcome(ops::where, {x("i8[3]"), x("i8[]"), x("i8[3]")}),
                 "operand 0 must be bool, found i8");
  EXPECT_REFUSAL(outcome(ops::where, {x("bool[3]"), x("i8[]"), x("f32[3]")}),
                 "operands 1 and 2 must have one type");
}

TEST(Pointwise, broadcasting) {
  const auto add = [](const char* a, const char* b) { return outcome(ops::add, {x(a), x(b)}); };
  EXPECT_EQ(add("f32[2,1,4]", "f32[3,1]"), "f32[2,3,4]");
  EXPECT_EQ(add("f32[]", "f32[0,5]"), "f32[0,5]");
  EXPECT_EQ(add("f32[N,3]", "f32[1,3]"), "f32[N,3]");
  EXPECT_EQ(add("f32[N,3]", "f32[N,1]"), "f32[N,3]");
  EXPECT_EQ(add("f32[N]", "f32[M]"), "f32[max(M, N)]");
  EXPECT_EQ(add("f32[N]", "f32[8]"), "f32[8]");
  EXPECT_EQ(add("f32[H]", "f32[N]"), "f32[H]");  // H ≥ 16, so N is H or 1
  EXPECT_REFUSAL(add("f32[2]", "f32[3]"), "do not broadcast: sizes 2 and 3");
  EXPECT_REFUSAL(add("f32[H]", "f32[3]"), "sizes H and 3 are neither equal nor 1");
}

TEST(Pointwise, cast) {
  const auto cast = [](std::int64_t to) { return outcome(ops::cast, {x("f32[N]")}, {{"to", to}}); };
  EXPECT_EQ(cast(10), "f16[N]");
  EXPECT_EQ(cast(22), "i4[N]");
  EXPECT_REFUSAL(cast(8), "ONNX type of fixed size, found 8");
  EXPECT_REFUSAL(cast(999), "found 999");
  EXPECT_REFUSAL(cast(-1), "found -1");
}

TEST(Hints, must_agree) {
  EXPECT_EQ(outcome_as(ops::relu, {x("f32[2,3]")}, {}, {"f32[N,3]"}), "f32[2,3]");
  EXPECT_REFUSAL(outcome_as(ops::relu, {x("f32[2,3]")}, {}, {"f32[2,4]"}),
                 "result 0 is f32[2,3], but it was declared as f32[2,4]");
  EXPECT_REFUSAL(outcome_as(ops::relu, {x("f32[2,3]")}, {}, {"f16[2,3]"}), "declared as f16");
  EXPECT_REFUSAL(outcome_as(ops::relu, {x("f32[2,3]")}, {}, {"f32[6]"}), "declared as f32[6]");
}

TEST(Limits, sizes_beyond_reach_are_refused) {
  EXPECT_REFUSAL(outcome(ops::tile, {x("f32[1048576,1048576]")}, {{"repeats", Ints{4096, 4096}}}),
                 "at most 2^48 elements");
  EXPECT_REFUSAL(outcome(ops::tile, {x("f32[9000000000000000000]")}, {{"repeats", Ints{8}}}),
                 "exceeds 64 bits");
}

TEST(Limits, expressions_stay_short) {
  // An outer sum made one row squares the size at every step: either a symbol takes the place of
  // the polynomial, or the polynomial is refused; its text never explodes.
  Build in;
  Value* v = in.x("f32[N + M + 1]");
  std::string ended = "by itself";
  try {
    for (int i = 0; i < 30; ++i) {
      const Dim n = v->dims()[0];
      Value* square =
          in.emit.emit(ops::add, {in.emit.reshape(v, {n, 1}), in.emit.reshape(v, {1, n})});
      v = in.emit.emit(ops::reshape, {square, in.i64({-1})});
      ASSERT_LT(v->dims()[0].to_string().size(), 4096U);
    }
  } catch (const Error& error) {
    ended = error.message();
  }
  EXPECT_EQ(ended, "in reshape: a product of sizes has more than 1024 terms");
}

// out = relu(a + b) as the body of an op that owns one.
void fill_body(Graph& body, int inputs) {
  for (int i = 0; i < inputs; ++i) body.add_input("", {});
  std::vector<Value*> pair{body.input(0), body.input(inputs - 1)};
  Node* sum = body.add(ops::add, pair);
  std::vector<Value*> one{sum->result()};
  body.add_output(body.add(ops::relu, one)->result());
}

TEST(Region, results_follow_the_body) {
  Build in;
  std::vector<Value*> operands{in.x("f32[N,4]"), in.x("f32[4]")};
  Node* node = in.graph.add(ops::region, operands);
  fill_body(*node->add_subgraph(), 2);
  infer_types(*node);
  EXPECT_EQ(to_string(node->result()->type), "f32[N,4]");
  EXPECT_EQ(to_string(node->subgraph()->input(1)->type), "f32[4]");
}

TEST(Region, foreign_ops_and_captures_are_refused) {
  Build in;
  Value* a = in.x("f32[N,4]");
  std::vector<Value*> operands{a};
  Node* node = in.graph.add(ops::region, operands);
  Graph& body = *node->add_subgraph();
  body.add_input("", {});
  std::vector<Value*> captured{a};
  body.add_output(body.add(ops::relu, captured)->result());
  try {
    infer_types(*node);
    FAIL();
  } catch (const Error& error) {
    EXPECT_REFUSAL(error.message(), "must be a value of the subgraph");
  }
}

TEST(Epilogue, result_type_is_the_bodys) {
  Build in;
  Value *a = in.x("f32[N,8]"), *b = in.x("f32[8,4]");
  const auto made = [&](Value* extra) {
    std::vector<Value*> operands{a, b, nullptr, extra};
    Node* node = in.graph.add(ops::matmul, operands,
                              {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}});
    fill_body(*node->add_subgraph(), 2);
    try {
      infer_types(*node);
      return to_string(node->result()->type);
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(made(in.x("f32[N,4]")), "f32[N,4]");
  EXPECT_EQ(made(in.x("f32[]")), "f32[N,4]");
  EXPECT_REFUSAL(made(in.x("f32[3]")), "does not broadcast to the result's dims [N,4]");
  EXPECT_REFUSAL(made(in.x("f32[2,N,4]")), "does not broadcast");
  EXPECT_REFUSAL(made(in.x("f16[4]")), "add: operands 0 and 1 must have one type");
  EXPECT_REFUSAL(outcome(ops::matmul, {a, b, nullptr, in.x("f32[4]")},
                         {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}}, 1, in),
                 "3 operands without epilogue expected, found 4");
}

}  // namespace
}  // namespace frit::ir::test
