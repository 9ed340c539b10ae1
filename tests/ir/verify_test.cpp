// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/error.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

constexpr const char* kText = R"(graph [N in 1..8] (%c: bool[], %x: f32[N,3], %z: f32[3]) {
  %a = add(%x, %z) from "Add_0"
  %b = exp(%a)
  %r = region(%b, %z) graph (%p: f32[N,3], %q: f32[3]) {
    %s = mul(%p, %q)
    return %s
  }
  %y = if(%c) : f32[N,3] graph () { return %r } graph () { %n = neg(%b) return %n }
  return %y
})";

std::string error_of(const Graph& graph) {
  try {
    verify(graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::internal);
    return error.message();
  }
  return "";
}

struct VerifyTest : testing::Test {
  VerifyTest() { parse(kText, graph); }
  Node* node(std::string_view op) const {
    for (Node* n = graph.first(); n != nullptr; n = n->next())
      if (n->op() == op) return n;
    return nullptr;
  }
  void expect_error(const std::string& part) const {
    const std::string message = error_of(graph);
    EXPECT_NE(message.find(part), std::string::npos) << "found: " << message;
  }
  Graph graph;
};

TEST_F(VerifyTest, AcceptsAndLeavesTheGraphAlone) {
  const std::string before = print(graph);
  EXPECT_EQ(error_of(graph), "");
  EXPECT_EQ(print(graph), before);
}

TEST_F(VerifyTest, FindsReadsBeforeDefinitions) {
  graph.move_before(node("exp"), node("add"));
  expect_error("defined later");
}

TEST_F(VerifyTest, FindsReadsFromAnotherBranch) {
  Node* branch = node("if");
  branch->subgraph(0)->set_output(0, branch->subgraph(1)->output(0));
  expect_error("not around");
}

TEST_F(VerifyTest, FindsStaleTypes) {
  node("exp")->result()->type.dtype = DType::f16;
  expect_error("exp");
}

TEST_F(VerifyTest, FindsStaleSizes) {
  node("exp")->result()->type.dims[1] = Dim(4);
  expect_error("exp");
}

TEST_F(VerifyTest, FindsMissingTypes) {
  node("exp")->result()->type = {};
  expect_error("no type");
}

TEST_F(VerifyTest, FindsUnknownAttributes) {
  node("exp")->attrs.set("alpha", 1.0);
  expect_error("'alpha'");
}

TEST_F(VerifyTest, FindsAttributesOfAnotherKind) {
  Value* x = graph.input(1);
  Node* elu = graph.add(ops::elu, {{x}}, {{"alpha", std::int64_t{1}}});
  elu->result()->type = x->type;
  expect_error("'alpha'");
}

TEST_F(VerifyTest, FindsMissingOperands) {
  node("add")->set_operand(1, nullptr);
  expect_error("operand 1");
  node("add")->truncate_operands(1);
  expect_error("operands");
}

TEST_F(VerifyTest, FindsRegionsThatReadOutside) {
  node("region")->subgraph(0)->first()->set_operand(1, graph.input(2));
  expect_error("region");
}

TEST_F(VerifyTest, FindsBodiesOfAnotherType) {
  node("region")->subgraph(0)->input(1)->type.dims = {Dim(1)};
  expect_error("input 1 of the body");
}

TEST_F(VerifyTest, FindsAbsentOutputs) {
  graph.set_output(0, nullptr);
  expect_error("output 0");
}

TEST_F(VerifyTest, ErrorsNameTheOrigin) {
  node("add")->result()->type.dims[1] = Dim(7);
  try {
    verify(graph);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.origin(), "Add_0");
  }
}

}  // namespace
}  // namespace frit::ir
