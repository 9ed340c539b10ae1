// SPDX-License-Identifier: Apache-2.0
// One test per rule of the verifier: a good plan, one thing made wrong, the words of the refusal.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/support/sample_plan.h"

namespace frit::plan {
namespace {

using test::f32_tensor;
using test::kernel_step;

struct Case {
  const char* expected;  ///< part of the message
  std::function<void(Plan&)> damage;
};

void expect_refused(const Case& c) {
  Plan p = test::sample().plan;
  c.damage(p);
  const Status s = verify(p, 256, 0);
  EXPECT_EQ(s.code(), Code::invalid_engine) << c.expected;
  EXPECT_NE(std::string(s.message()).find(c.expected), std::string::npos)
      << "expected: " << c.expected << "\nfound: " << s.message();
}

TEST(Verify, AcceptsTheSample) {
  const Status s = verify(test::sample().plan, 256, 0);
  EXPECT_TRUE(s.ok()) << s.message();
}

TEST(Verify, Tensors) {
  const Case cases[] = {
      {"bytes for its dims", [](Plan& p) { p.tensors[2].bytes = 8; }},
      {"type, rank or strides", [](Plan& p) { p.tensors[2].dtype = DType::string; }},
      {"type, rank or strides", [](Plan& p) { p.tensors[2].dtype = static_cast<DType>(77); }},
      {"type, rank or strides", [](Plan& p) { p.tensors[2].strides = {1}; }},
      {"stride is negative",
       [](Plan& p) {
         p.tensors[2].strides = {-16, 1};
       }},
      {"2^48",
       [](Plan& p) {
         p.tensors[2].dims = {1LL << 40, 1LL << 40};
       }},
      {"unknown symbol",
       [](Plan& p) {
         p.tensors[2].dims = {-1, 16};
       }},
      {"leaves its storage", [](Plan& p) { p.tensors[4].offset = 832; }},
      {"leaves its storage", [](Plan& p) { p.tensors[4].offset = ~std::uint64_t{63}; }},
      {"misaligned", [](Plan& p) { p.tensors[4].offset = 260; }},
      {"constant is out of range", [](Plan& p) { p.tensors[1].index = 1; }},
      {"binding is out of range", [](Plan& p) { p.tensors[0].index = -1; }},
      {"location is unknown", [](Plan& p) { p.tensors[2].location = static_cast<Location>(9); }},
      {"circle", [](Plan& p) { p.tensors[2].alias_of = 3; }},
      {"circle", [](Plan& p) { p.tensors[2].alias_of = 2; }},
      {"out of range or goes", [](Plan& p) { p.tensors[3].alias_of = 99; }},
      {"within the tensor", [](Plan& p) { p.tensors[3].offset = 64; }},
  };
  for (const Case& c : cases) expect_refused(c);
}

TEST(Verify, RawSections) {
  const Case cases[] = {
      {"constant 0", [](Plan& p) { p.constants[0].offset = 256; }},
      {"constant 0", [](Plan& p) { p.constants[0].bytes = ~std::uint64_t{0}; }},
      {"constant 0", [](Plan& p) { p.constants[0].offset = 8; }},
      {"code image 0",
       [](Plan& p) {
         p.images = {{"c", "cubin", "sm_90", 0, 1}};
       }},
  };
  for (const Case& c : cases) expect_refused(c);
}

TEST(Verify, Edges) {
  const Case cases[] = {
      {"name of its own", [](Plan& p) { p.bindings[1].name = "x"; }},
      {"name of its own", [](Plan& p) { p.bindings[0].name = ""; }},
      {"inputs must come",
       [](Plan& p) {
         p.bindings.push_back(p.bindings[0]);
         p.bindings[2].name = "x2";
       }},
      {"out of range", [](Plan& p) { p.bindings[0].tensor = 6; }},
      {"differ", [](Plan& p) { p.bindings[0].tensor = 2; }},
      {"differ", [](Plan& p) { p.bindings[0].dims = {64}; }},
      {"range of input",
       [](Plan& p) {
         p.profiles[0].inputs[0].opt = {4, 17};
       }},
      {"expected inputs", [](Plan& p) { p.profiles[0].inputs[0].binding = 1; }},
      {"module names", [](Plan& p) { p.modules[0].name = "../evil"; }},
      {"module names", [](Plan& p) { p.modules.push_back(p.modules[0]); }},
      {"name of a backend", [](Plan& p) { p.backend = ""; }},
      {"arena", [](Plan& p) { p.arena_bytes = ~std::uint64_t{0}; }},
      {"arena", [](Plan& p) { p.arena_lower_bound = 4096; }},
      {"streams", [](Plan& p) { p.streams = 0; }},
      {"symbol 0",
       [](Plan& p) {
         p.symbols = {{"s", 5, 4, 0}};
       }},
      {"symbol 0",
       [](Plan& p) {
         p.symbols = {{"s", 1, 4, 0}};
       }},
      {"instruction 0",
       [](Plan& p) {
         p.shape_program = {{ShapeOp::add, 0, 0, 0}};
       }},
      {"instruction 0",
       [](Plan& p) {
         p.shape_program = {{ShapeOp::input_dim, 0, 2, 0}};
       }},
      {"instruction 0",
       [](Plan& p) {
         p.shape_program = {{ShapeOp::input_value, 0, 0, 0}};
       }},
      {"instruction 0",
       [](Plan& p) {
         p.shape_program = {{static_cast<ShapeOp>(99), 0, 0, 0}};
       }},
  };
  for (const Case& c : cases) expect_refused(c);
}

TEST(Verify, StepForms) {
  const Case cases[] = {
      {"known kind", [](Plan& p) { p.steps[0].kind = static_cast<StepKind>(50); }},
      {"names no kernel", [](Plan& p) { p.steps[0].kernel = ""; }},
      {"not in the engine's list", [](Plan& p) { p.modules.clear(); }},
      {"input is not a tensor", [](Plan& p) { p.steps[0].inputs[0] = 6; }},
      {"input is not a tensor", [](Plan& p) { p.steps[0].inputs[0] = -2; }},
      {"output is not a tensor", [](Plan& p) { p.steps[0].outputs[0] = 1 << 30; }},
      {"read-only", [](Plan& p) { p.steps[0].outputs[0] = 0; }},
      {"read-only", [](Plan& p) { p.steps[0].outputs[0] = 1; }},
      {"no storage",
       [](Plan& p) {
         p.tensors[2].location = Location::none;
         p.tensors[3].location = Location::none;
       }},
      {"workspace", [](Plan& p) { p.steps[0].workspace_bytes = 1 << 20; }},
      {"workspace", [](Plan& p) { p.steps[0].workspace_offset = 520; }},
      {"stream", [](Plan& p) { p.steps[0].stream = 1; }},
      {"in-place",
       [](Plan& p) {
         p.steps[0].in_place = {{2, 0}};
       }},
      {"attribute", [](Plan& p) { p.steps[0].attrs[0].kind = static_cast<Attr::Kind>(9); }},
      {"number of blocks", [](Plan& p) { p.steps[0].blocks.resize(1); }},
      {"number of blocks", [](Plan& p) { p.steps[0].kind = StepKind::branch; }},
      {"equal size", [](Plan& p) { p.steps[2].inputs.push_back(4); }},
      {"`value`", [](Plan& p) { p.steps[2].kind = StepKind::fill; }},
      {"code image", [](Plan& p) { p.steps[0].kind = StepKind::launch; }},
  };
  for (const Case& c : cases) expect_refused(c);
}

TEST(Verify, Dataflow) {
  const Case cases[] = {
      {"before it is written", [](Plan& p) { std::swap(p.steps[0], p.steps[1]); }},
      {"not completely written", [](Plan& p) { p.steps.pop_back(); }},
      {"overwrites an operand", [](Plan& p) { p.tensors[4].offset = 0; }},
      {"overwrites an operand", [](Plan& p) { p.tensors[4].offset = 192; }},
      {"workspace", [](Plan& p) { p.steps[1].workspace_bytes = 64; }},
      {"workspace",
       [](Plan& p) {
         p.steps[1].workspace_offset = 448;
         p.steps[1].workspace_bytes = 64;
       }},
      // A third tensor over the first destroys it before its last use.
      {"other data replaced it",
       [](Plan& p) {
         p.tensors.push_back(f32_tensor({16}, Location::arena, kNone, 128));
         p.tensors.push_back(f32_tensor({16}, Location::constant, 0, 0));
         p.steps.insert(p.steps.begin() + 1, kernel_step("clobber", "", "k", {7}, {6}));
       }},
      {"overlaps another result",
       [](Plan& p) {
         p.tensors.push_back(f32_tensor({16}, Location::arena, kNone, 320));
         p.steps[1].outputs.push_back(6);
       }},
  };
  for (const Case& c : cases) expect_refused(c);
}

TEST(Verify, InPlaceMustBeDeclared) {
  Plan p = test::sample().plan;
  p.tensors[4].offset = 0;
  p.steps[1].in_place = {{0, 0}};
  const Status s = verify(p, 256, 0);
  EXPECT_TRUE(s.ok()) << s.message();
}

TEST(Verify, PartsMakeAWhole) {
  Plan p = test::sample().plan;
  // Two halves written by two steps, read as one.
  p.tensors.push_back(f32_tensor({32}, Location::arena, kNone, 0));
  p.tensors.push_back(f32_tensor({32}, Location::arena, kNone, 128));
  p.tensors.push_back(f32_tensor({32}, Location::constant, 0, 0));
  p.tensors[6].alias_of = p.tensors[7].alias_of = 2;
  p.steps[0] = kernel_step("low", "", "k", {8}, {6});
  p.steps.insert(p.steps.begin() + 1, kernel_step("high", "", "k", {8}, {7}));
  EXPECT_TRUE(verify(p, 256, 0).ok());
  p.steps.erase(p.steps.begin() + 1);
  EXPECT_FALSE(verify(p, 256, 0).ok());
}

// x > 0 decides which of two blocks writes the result.
Plan branching() {
  Plan p = test::sample().plan;
  Tensor cond = f32_tensor({}, Location::arena, kNone, 512);
  cond.dtype = DType::boolean;
  cond.bytes = 1;
  p.tensors.push_back(cond);
  Step s;
  s.kind = StepKind::branch;
  s.name = "choose";
  s.inputs = {6};
  s.outputs = {4};
  s.blocks.resize(2);
  s.blocks[0].steps = {kernel_step("then", "", "k", {3, 3}, {4})};
  s.blocks[1].steps = {kernel_step("else", "", "k", {3}, {4})};
  p.steps[0].workspace_bytes = 0;
  p.steps[0].outputs.push_back(6);
  p.steps[1] = s;
  return p;
}

TEST(Verify, Branches) {
  EXPECT_TRUE(verify(branching(), 256, 0).ok()) << verify(branching(), 256, 0).message();
  Plan p = branching();
  p.steps[1].blocks[1].steps.clear();
  EXPECT_NE(std::string(verify(p, 256, 0).message()).find("not every path"), std::string::npos);
  // What one block defines is unknown to the other and after the step.
  p = branching();
  p.steps[1].outputs.clear();
  EXPECT_NE(std::string(verify(p, 256, 0).message()).find("before it is written"),
            std::string::npos);
}

TEST(Verify, Loops) {
  Plan p = branching();
  Tensor trip = f32_tensor({}, Location::constant, 0, 0);
  trip.dtype = DType::i64;
  trip.bytes = 8;
  p.tensors.push_back(trip);
  Step& s = p.steps[1];
  s.kind = StepKind::loop;
  s.inputs = {7, kNone};
  s.outputs = {kNone, kNone, 4};
  s.blocks.pop_back();
  s.blocks[0].steps = {kernel_step("body", "", "k", {4, 3}, {4})};
  s.blocks[0].steps[0].in_place = {{0, 0}};
  // The state has no value before the loop.
  EXPECT_NE(std::string(verify(p, 256, 0).message()).find("not every path"), std::string::npos);
  p.steps.insert(p.steps.begin() + 1, kernel_step("init", "", "k", {3}, {4}));
  EXPECT_TRUE(verify(p, 256, 0).ok()) << verify(p, 256, 0).message();
  // The body destroys what its next iteration reads.
  Plan q = p;
  q.tensors.push_back(f32_tensor({16}, Location::arena, kNone, 0));
  q.steps[2].blocks[0].steps.push_back(kernel_step("clobber", "", "k", {4}, {8}));
  EXPECT_NE(std::string(verify(q, 256, 0).message()).find("replaced it"), std::string::npos);
  // A loop without any end.
  p.steps[2].inputs[0] = kNone;
  EXPECT_NE(std::string(verify(p, 256, 0).message()).find("would not end"), std::string::npos);
}

TEST(Verify, DepthIsBounded) {
  Plan p = branching();
  for (int i = 0; i < 20; ++i) {
    Step outer = p.steps[1];
    outer.blocks[0].steps = {p.steps[1]};
    p.steps[1] = outer;
  }
  EXPECT_NE(std::string(verify(p, 256, 0).message()).find("nested"), std::string::npos);
}

}  // namespace
}  // namespace frit::plan
