// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/ir/text.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::string again(const std::string& text) {
  Graph graph;
  parse(text, graph);
  return print(graph);
}

std::string error_of(const std::string& text) {
  try {
    again(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument) << error.message();
    return error.message();
  }
  return "no error";
}

void expect_error(const std::string& text, const std::string& part) {
  const std::string message = error_of(text);
  EXPECT_NE(message.find(part), std::string::npos) << message << "\nin:\n" << text;
}

// Prints, parses and prints: equal text, and for tensors equal bytes.
void expect_exact(const Tensor& tensor) {
  Graph graph;
  Node* node = graph.add(ops::constant, {}, {{"value", tensor}});
  infer_types(*node);
  graph.add_output(node->result());
  const std::string text = print(graph);
  Graph back;
  parse(text, back);
  ASSERT_NE(constant_of(back.output(0)), nullptr);
  EXPECT_TRUE(constant_of(back.output(0))->same(tensor)) << text;
  EXPECT_EQ(print(back), text);
}

Tensor patterned(DType dtype, std::vector<std::int64_t> dims, unsigned seed) {
  Tensor t(dtype, std::move(dims));
  auto* bytes = static_cast<unsigned char*>(t.mutable_data());
  for (std::size_t i = 0; i < t.bytes(); ++i) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = static_cast<unsigned char>(seed >> 24);
  }
  return t;
}

TEST(IrText, PrintsWhatItParses) {
  const char* texts[] = {
      R"(graph "net" [N in 1..8, "a b" in 0..] (%x: f32[N,3], %ids: i64[N,"a b"]) {
  %w = constant f32[3,4] dense<0.5>
  %0 = matmul(%x, %w, _) {trans_a = 0, trans_b = 0} : f32[N,4] from "\"M" graph (%1: f32[N,4]) {
    %2 = relu(%1) : f32[N,4]
    return %2
  }
  %3 = leaky_relu(%0) {alpha = 0.1} : f32[N,4]
  return %3, %ids
}
)",
      R"(graph (%a: f32[2,3], %b: f32[3]) {
  %y, %z = region(%a, %b) : f32[2,3], bool[2,3] graph (%0: f32[2,3], %1: f32[3]) {
    %2 = add(%0, %1) : f32[2,3]
    %3 = less(%2, %1) : bool[2,3]
    return %2, %3
  }
  %y#2 = cast(%y) {to = f16} : f16[2,3]
  %"0" = cast(%y) {to = bf16} : bf16[2,3]
  %"a/b:0" = cast(%y) {to = f8e5m2} : f8e5m2[2,3]
  return %y#2, %z, %"0", %"a/b:0"
}
)",
      R"(graph [N in 0..] (%c: bool[], %x: f32[N], %n: i64[]) {
  %y = if(%c) : f32[N] graph "then" () {
    %0 = exp(%x) : f32[N]
    return %0
  } graph "else" () {
    return %x
  }
  return %y
}
)",
      R"(graph (%x: f32[3]) {
  return %x, %x
}
)",
      R"(graph () {
  return
}
)"};
  for (const char* text : texts) EXPECT_EQ(again(text), text);
}

TEST(IrText, InfersTypesThatAreNotWritten) {
  const std::string text = again(R"(
    // a comment
    graph(%x: f32[2,3]) { %t = transpose(%x) {perm=[1,0]} // another
      %s = mul(%t, %t) return %s })");
  EXPECT_NE(text.find("%s = mul(%t, %t) : f32[3,2]"), std::string::npos) << text;
}

TEST(IrText, KeepsTensorsOfEveryType) {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (!is_storable(dtype)) continue;
    SCOPED_TRACE(dtype_name(dtype));
    for (unsigned seed = 0; seed < 4; ++seed) {
      expect_exact(patterned(dtype, {3}, seed));
      expect_exact(patterned(dtype, {2, 5}, seed));
      expect_exact(patterned(dtype, {13, 11}, seed));
    }
    expect_exact(patterned(dtype, {}, 7));
    expect_exact(Tensor(dtype, {0, 4}));
    expect_exact(Tensor(dtype, {5}));
    expect_exact(Tensor(dtype, {300}));
  }
}

TEST(IrText, KeepsEveryElementOfSmallTypes) {
  for (DType dtype : {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz,
                      DType::f8e8m0, DType::i8, DType::u8, DType::boolean}) {
    SCOPED_TRACE(dtype_name(dtype));
    for (int start = 0; start < 256; start += 32) {
      Tensor t(dtype, {32});
      for (int i = 0; i < 32; ++i)
        static_cast<unsigned char*>(t.mutable_data())[i] = static_cast<unsigned char>(start + i);
      expect_exact(t);
    }
  }
}

TEST(IrText, SpellsElementsReadably) {
  const auto literal = [](const Tensor& tensor) {
    Graph graph;
    Node* node = graph.add(ops::constant, {}, {{"value", tensor}});
    infer_types(*node);
    return print(*node);
  };
  EXPECT_EQ(literal(Tensor::from_f32({2}, {0.1f, -3})), "%0 = constant f32[2] dense<0.1, -3>");
  EXPECT_EQ(literal(Tensor::from_i64({7})), "%0 = constant i64[1] dense<7>");
  EXPECT_EQ(literal(Tensor::from_f32({6}, {1, 1, 1, 1, 1, 1})), "%0 = constant f32[6] dense<1>");
  EXPECT_EQ(literal(Tensor::scalar(DType::boolean, 1)), "%0 = constant bool[] dense<true>");
  EXPECT_EQ(literal(Tensor(DType::c64, {1})), "%0 = constant c64[1] dense<(0, 0)>");
  const std::string large = literal(patterned(DType::f32, {100}, 1));
  EXPECT_NE(large.find("dense<hash 0x"), std::string::npos) << large;
}

TEST(IrText, KeepsRealsBitForBit) {
  const double reals[] = {0.0,
                          -0.0,
                          1,
                          1e300,
                          5e-324,
                          0.1,
                          std::nan(""),
                          -std::nan(""),
                          std::bit_cast<double>(std::uint64_t{0x7ff0dead00000001}),
                          std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(),
                          123456789012345680.0};
  for (const double real : reals) {
    Graph graph;
    Value* x = graph.add_input("x", {DType::f32, {2}});
    Node* node = graph.add(ops::elu, {{x}}, {{"alpha", real}});
    infer_types(*node);
    graph.add_output(node->result());
    const std::string text = print(graph);
    Graph back;
    parse(text, back);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(back.first()->attrs.f("alpha")),
              std::bit_cast<std::uint64_t>(real))
        << text;
  }
}

TEST(IrText, KeepsNamesAndStrings) {
  std::string all = "\xc3\xa9 \xe2\x82\xac ";
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  Graph graph;
  graph.name = all;
  Value* x = graph.add_input(all, {DType::f32, {2}});
  Value* y = graph.add_input(all, {DType::f32, {2}});
  Node* node = graph.add(ops::add, {{x, y}});
  node->origin = {all, ""};
  infer_types(*node);
  graph.add_output(node->result());
  const std::string text = print(graph);
  Graph back;
  parse(text, back);
  EXPECT_EQ(print(back), text);
  EXPECT_EQ(back.name, all);
  EXPECT_EQ(back.input(0)->name, all);
  EXPECT_EQ(back.input(1)->name, all);
  EXPECT_EQ(back.first()->origin, node->origin);
}

TEST(IrText, KeepsSymbolicSizes) {
  Graph graph;
  const Dim n = graph.symbols().symbol("N", {1, 64}), m = graph.symbols().symbol("max", {0, 9});
  const Shape dims = {n * m + Dim(3), floor_div(n + Dim(1), 2), max(n, m), min(n, m) * Dim(2)};
  graph.add_output(graph.add_input("x", {DType::f32, dims}));
  const std::string text = print(graph);
  Graph back;
  parse(text, back);
  EXPECT_EQ(print(back), text);
  EXPECT_EQ(to_string(back.input(0)->type), to_string(graph.input(0)->type));
  EXPECT_EQ(back.input(0)->dims()[1].bounds().hi, 32);
}

TEST(IrText, ErrorsSayWhereAndWhat) {
  expect_error("", "line 1, column 1: expected 'graph'");
  expect_error("graph (%x: f33[1]) {}", "line 1, column 12: expected an element type, found 'f33'");
  expect_error("graph (%x: f32[1]) {\n  %y = foo(%x)\n return %y }", "line 2, column 8");
  expect_error("graph (%x: f32[1]) {\n %y = relu(%z)\n return %y }", "not defined here");
  expect_error("graph (%x: f32[1], %x: f32[2]) { return %x }", "already defined");
  expect_error("graph (%x: f32[K]) { return %x }", "'K' is not declared");
  expect_error("graph (%x: f32[-1]) { return %x }", "negative");
  expect_error("graph (%x: f32[1]) { %y = elu(%x) {alpa = 1.0} return %y }",
               "(alpha), found 'alpa'");
  expect_error("graph (%x: f32[1]) { %y = elu(%x) return %y }", "alpha");
  expect_error("graph (%x: f32[1]) { %y = add(%x) return %y }", "add");
  expect_error("graph (%x: f32[1]) { %y = relu(%x) : f32[2] return %y }", "declared as");
  expect_error("graph (%x: f32[1]) { return %x", "found the end of the text");
  expect_error("graph () { %c = constant f32[2] dense<1, 2, 3> return %c }", "'>'");
  expect_error("graph () { %c = constant f32[3] dense<1, 2> return %c }", "expected");
  expect_error("graph () { %c = constant i8[1] dense<200> return %c }", "i8 can hold");
  expect_error("graph () { %c = constant u8[1] dense<-1> return %c }", "u8 can hold");
  expect_error("graph () { %c = constant f16[1] dense<1e9> return %c }", "f16 can hold");
  expect_error("graph () { %c = constant f32[1] dense<0x123456789> return %c }", "32 bits");
  expect_error("graph () { %c = constant f32[1] hex\"00\" return %c }", "4 bytes");
  expect_error("graph () { %c = constant f32[1] dense<hash 0x12> return %c }", "expected");
  expect_error("graph [N in 5..1] (%x: f32[N]) { return %x }", "lower bound");
}

TEST(IrText, SizesAreCheckedBeforeMemoryIsTaken) {
  expect_error("graph () { %c = constant f32[1000000,1000000,4] dense<1> return %c }", "repeated");
  expect_error("graph () { %c = constant f32[1000000,1000000,1000000] dense<1> return %c }",
               "expected");
  expect_error("graph () { %c = constant f32[9999999999999] dense<1, 2> return %c }", "fewer");
  expect_error("graph () { %c = constant f32[9999999999999] hex\"00\" return %c }", "bytes");
  // Many splats share one budget.
  std::string many = "graph () {\n";
  for (int i = 0; i < 9; ++i)
    many += "%" + std::to_string(i) + " = constant u8[8388608] dense<1>\n";
  expect_error(many + "return %0 }", "repeated elements");
  // Products of sums do not expand without bound.
  std::string header = "graph [", sum = "(", size;
  for (int i = 0; i < 60; ++i) {
    header += (i > 0 ? ", s" : "s") + std::to_string(i) + " in 0..";
    sum += (i > 0 ? "+s" : "s") + std::to_string(i);
  }
  for (int i = 0; i < 8; ++i) size += (i > 0 ? "*" : "") + sum + ")";
  expect_error(header + "] (%x: f32[" + size + "]) { return %x }", "terms");
}

TEST(IrText, DepthIsBounded) {
  std::string open = "graph (%c: bool[]) {", close;
  for (int i = 0; i < 100000; ++i) open += " %a" + std::to_string(i) + " = if(%c) graph () {";
  expect_error(open, "nested");
  expect_error("graph (%x: f32[" + std::string(100000, '(') + "]) { return %x }", "nesting");
}

}  // namespace
}  // namespace frit::ir
