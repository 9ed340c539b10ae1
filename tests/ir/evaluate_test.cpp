// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/sample.h"
#include "compiler/ir/text.h"

namespace frit::ir {
namespace {

std::vector<Tensor> run(const std::string& text, std::vector<Tensor> inputs,
                        const EvaluateOptions& options = {}) {
  Graph graph;
  parse(text, graph);
  return evaluate(graph, inputs, options);
}

std::vector<double> numbers(const Tensor& tensor) {
  return tensor.to_f64();
}

using V = std::vector<double>;

TEST(Evaluate, PointwiseAndMovement) {
  const auto out = run(R"(graph (%x: f32[2,3]) {
    %t = transpose(%x) {perm = [1, 0]}
    %c = constant f32[2] dense<10, 20>
    %s = add(%t, %c)
    %i = cast(%s) {to = i32}
    return %s, %i })",
                       {Tensor::from_f32({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(out[0].dims(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(numbers(out[0]), (V{11, 24, 12, 25, 13, 26}));
  EXPECT_EQ(out[1].dtype(), DType::i32);
}

TEST(Evaluate, RegionsAndEpilogues) {
  const auto region = run(R"(graph (%a: f32[2], %b: f32[1]) {
    %y, %z = region(%a, %b) graph (%p: f32[2], %q: f32[1]) {
      %s = mul(%p, %q)
      %l = less(%s, %p)
      return %s, %l
    }
    return %y, %z })",
                          {Tensor::from_f32({2}, {2, -3}), Tensor::from_f32({1}, {2})});
  EXPECT_EQ(numbers(region[0]), (V{4, -6}));
  EXPECT_EQ(numbers(region[1]), (V{0, 1}));

  const auto product =
      run(R"(graph (%a: f32[1,2], %b: f32[2,2], %r: f32[2]) {
    %y = matmul(%a, %b, _, %r) {trans_a = 0, trans_b = 0} graph (%p: f32[1,2], %q: f32[2]) {
      %s = add(%p, %q)
      %t = relu(%s)
      return %t
    }
    return %y })",
          {Tensor::from_f32({1, 2}, {1, 2}), Tensor::from_f32({2, 2}, {1, 2, 3, 4}),
           Tensor::from_f32({2}, {1, -50})});
  EXPECT_EQ(numbers(product[0]), (V{8, 0}));
}

TEST(Evaluate, SymbolsComeFromInputs) {
  const std::string text = R"(graph [N in 1..4] (%x: f32[N,2]) {
    %n = shape(%x) {start = 0, end = 1}
    %y = reshape(%x) : f32[2*N]
    return %n, %y })";
  const auto out = run(text, {Tensor::from_f32({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(out[0].to_i64(), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(out[1].dims(), (std::vector<std::int64_t>{6}));
  EXPECT_THROW(run(text, {Tensor(DType::f32, {5, 2})}), Error);  // beyond the bounds
  EXPECT_THROW(run(text, {Tensor(DType::f32, {3, 3})}), Error);
  EXPECT_THROW(run(text, {Tensor(DType::f16, {3, 2})}), Error);
  EXPECT_THROW(run(text, {}), Error);
}

TEST(Evaluate, SizesThatDependOnData) {
  const auto out = run(R"(graph (%x: f32[6], %s: i64[2]) {
    %y = reshape(%x, %s)
    %z = relu(%y)
    return %z })",
                       {Tensor::from_f32({6}, {1, -2, 3, 4, 5, 6}), Tensor::from_i64({2, -1})});
  EXPECT_EQ(out[0].dims(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(numbers(out[0]), (V{1, 0, 3, 4, 5, 6}));
}

TEST(Evaluate, IfTakesOneBranch) {
  const std::string text = R"(graph (%c: bool[], %x: f32[2]) {
    %y = if(%c) graph () { %a = neg(%x) return %a } graph () { return %x }
    return %y })";
  const Tensor x = Tensor::from_f32({2}, {1, 2});
  EXPECT_EQ(numbers(run(text, {Tensor::scalar(DType::boolean, 1), x})[0]), (V{-1, -2}));
  EXPECT_EQ(numbers(run(text, {Tensor::scalar(DType::boolean, 0), x})[0]), (V{1, 2}));
}

TEST(Evaluate, LoopsCarryAndStack) {
  const std::string text = R"(graph (%n: i64[], %x: f32[2]) {
    %last, %all = loop(%n, _, %x) : f32[2], ? graph (%i: i64[], %c: bool[], %v: f32[2]) {
      %w = add(%v, %x)
      return %c, %w, %w
    }
    return %last, %all })";
  const auto out = run(text, {Tensor::scalar(DType::i64, 3), Tensor::from_f32({2}, {1, 10})});
  EXPECT_EQ(numbers(out[0]), (V{4, 40}));
  EXPECT_EQ(out[1].dims(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(numbers(out[1]), (V{2, 20, 3, 30, 4, 40}));
  const auto none = run(text, {Tensor::scalar(DType::i64, 0), Tensor::from_f32({2}, {1, 10})});
  EXPECT_EQ(none[1].dims(), (std::vector<std::int64_t>{0, 2}));
}

TEST(Evaluate, StopsOnRequestAndAtTheMemoryLimit) {
  const std::string text = R"(graph (%x: f32[1000]) {
    %a = neg(%x)
    %b = neg(%a)
    %c = neg(%b)
    return %c })";
  const Tensor x(DType::f32, {1000});
  EvaluateOptions options;
  options.memory_limit = 9000;  // two live intermediates at a time fit, all three would not
  EXPECT_NO_THROW(run(text, {x}, options));
  options.memory_limit = 7000;
  try {
    run(text, {x}, options);
    FAIL() << "the limit was not kept";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::out_of_memory);
  }
  options = {};
  options.cancelled = [] { return true; };
  try {
    run(text, {x}, options);
    FAIL() << "the request to stop was not heard";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::cancelled);
  }
}

TEST(Evaluate, ErrorsNameTheOrigin) {
  try {
    run(R"(graph (%x: f32[3], %i: i64[1]) {
      %y = gather(%x, %i) {axis = 0} from "Gather_7"
      return %y })",
        {Tensor(DType::f32, {3}), Tensor::from_i64({9})});
    FAIL() << "an index out of range was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.origin(), "Gather_7");
    EXPECT_EQ(error.code(), Code::execution_failed);
  }
}

TEST(Evaluate, OneNode) {
  Graph graph;
  parse("graph (%x: f32[2]) { %y = exp(%x) return %y }", graph);
  const Tensor x = Tensor::from_f32({2}, {0, 0});
  EXPECT_EQ(numbers(evaluate(*graph.first(), {{x}})[0]), (V{1, 1}));
}

TEST(Sample, RangesAndComparison) {
  Graph graph;
  parse("graph [N in 3..] (%i: i64[N], %x: f32[40]) { return %i, %x }", graph);
  SampleOptions options;
  options.ranges["i"] = {5, 6};
  options.ranges["x"] = {0, 1};
  const auto a = sample_inputs(graph, options), b = sample_inputs(graph, options);
  EXPECT_EQ(a[0].dims(), (std::vector<std::int64_t>{3}));
  for (std::int64_t v : a[0].to_i64()) EXPECT_TRUE(v == 5 || v == 6);
  for (double v : a[1].to_f64()) EXPECT_TRUE(v >= 0 && v <= 1);
  EXPECT_EQ(compare_results(a, b), "");
  const Tensor x = Tensor::from_f32({2}, {1, 2}), y = Tensor::from_f32({2}, {1, 2.1f});
  EXPECT_NE(compare_results({{x}}, {{y}}), "");
  EXPECT_NE(compare_results({{x}}, {{Tensor::from_f32({1, 2}, {1, 2})}}), "");
  EXPECT_NE(compare_results({{Tensor::from_i64({1})}}, {{Tensor::from_i64({2})}}), "");
}

}  // namespace
}  // namespace frit::ir
