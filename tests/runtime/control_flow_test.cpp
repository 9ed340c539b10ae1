// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runtime/context.h"
#include "tests/support/sample_plan.h"

namespace frit::runtime {
namespace {

using plan::Location;
using plan::StepKind;
using test::f32_tensor;
using test::kernel_step;

plan::Tensor scalar(DType dtype, Location location, std::int32_t index, std::uint64_t offset) {
  plan::Tensor t = f32_tensor({}, location, index, offset);
  t.dtype = dtype;
  t.bytes = dtype == DType::i64 ? 8 : 1;
  return t;
}

// Runs a plan of one input x[64] and one output y[64].
std::vector<float> run(const test::Sample& s, float x_value) {
  const auto bytes = s.write();
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  if (!bytes.ok()) return {};
  EngineOptions options;
  options.cpu_threads = 2;
  options.module_dir = FRIT_TEST_MODULES;
  const auto engine = Engine::load_memory(*bytes, options);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  auto c = Context::create(*engine, {});
  std::vector<float> x(64, x_value), y(64);
  EXPECT_TRUE((*c)->set_address(0, x.data(), 256).ok());
  EXPECT_TRUE((*c)->set_address(1, y.data(), 256).ok());
  const Status status = (*c)->enqueue(nullptr);
  EXPECT_TRUE(status.ok()) << status.message();
  return y;
}

TEST(ControlFlow, BranchTakesOneBlock) {
  test::Sample s = test::sample();
  plan::Plan& p = s.plan;
  p.tensors.push_back(scalar(DType::boolean, Location::arena, plan::kNone, 512));
  plan::Step fill;
  fill.kind = StepKind::fill;
  fill.name = "seven";
  fill.outputs = {4};
  fill.attrs = {{"value", plan::Attr::Kind::integer, 0x40E00000, 0, "", {}, {}}};
  plan::Step branch;
  branch.kind = StepKind::branch;
  branch.name = "choose";
  branch.inputs = {6};
  branch.outputs = {4};
  branch.blocks.resize(2);
  branch.blocks[0].steps = {kernel_step("twice", "testkit", "testkit.add", {0, 0}, {4})};
  branch.blocks[1].steps = {fill};
  p.tensors[0].dims = p.bindings[0].dims = {64};
  p.profiles.clear();
  p.steps = {kernel_step("test", "testkit", "testkit.positive", {0}, {6}), branch, p.steps[2]};
  EXPECT_EQ(run(s, 2.0f), std::vector<float>(64, 4.0f));
  EXPECT_EQ(run(s, -2.0f), std::vector<float>(64, 7.0f));
}

// state = x; `trips` times: state = state + x.
test::Sample looping(std::int64_t trips) {
  test::Sample s = test::sample();
  plan::Plan& p = s.plan;
  s.weights.emplace_back(2);
  std::memcpy(s.weights[1].data(), &trips, 8);
  p.constants.push_back({"trips", DType::i64, 0, 8, 0});
  p.tensors.push_back(scalar(DType::i64, Location::constant, 1, 0));
  p.tensors.push_back(scalar(DType::i64, Location::arena, plan::kNone, 512));
  plan::Step init = p.steps[2];
  init.inputs = {0};
  init.outputs = {4};
  plan::Step loop;
  loop.kind = StepKind::loop;
  loop.name = "loop";
  loop.inputs = {6, plan::kNone};
  loop.outputs = {7, plan::kNone, 4};
  loop.blocks.resize(1);
  loop.blocks[0].steps = {kernel_step("body", "testkit", "testkit.add", {4, 0}, {4})};
  loop.blocks[0].steps[0].in_place = {{0, 0}};
  p.tensors[0].dims = p.bindings[0].dims = {64};
  p.profiles.clear();
  p.steps = {init, loop, p.steps[2]};
  return s;
}

TEST(ControlFlow, LoopCountsTrips) {
  EXPECT_EQ(run(looping(0), 3.0f), std::vector<float>(64, 3.0f));
  EXPECT_EQ(run(looping(1), 3.0f), std::vector<float>(64, 6.0f));
  EXPECT_EQ(run(looping(9), 3.0f), std::vector<float>(64, 30.0f));
}

TEST(ControlFlow, LoopStopsOnItsCondition) {
  // Adds -1 (x) until the state is no longer positive: 0 after the first pass already.
  test::Sample s = looping(100);
  plan::Plan& p = s.plan;
  p.tensors.push_back(scalar(DType::boolean, Location::arena, plan::kNone, 576));
  plan::Step& loop = p.steps[1];
  loop.outputs[1] = 8;
  loop.blocks[0].steps.push_back(kernel_step("more", "testkit", "testkit.positive", {4}, {8}));
  EXPECT_EQ(run(s, -1.0f), std::vector<float>(64, -2.0f));
  EXPECT_EQ(run(s, 1.0f), std::vector<float>(64, 101.0f));
}

}  // namespace
}  // namespace frit::runtime
