// SPDX-License-Identifier: Apache-2.0
// Names, order, inputs, hints, functions and branches.
#include <gtest/gtest.h>

#include "model_maker.h"

namespace frit::test {
namespace {

using importer::ImportOptions;
using importer::ImportReport;

TEST(Model, ReportsWhatItRead) {
  ModelMaker m(13);
  m.proto.set_producer_name("maker");
  m.proto.set_producer_version("1.2");
  m.proto.add_opset_import()->set_domain("com.unused");
  m.proto.mutable_opset_import(1)->set_version(3);
  m.input("x", {2, 3}).output("y", {2, 3});
  m.node("Relu", {"x"}, {"t"});
  m.node("Abs", {"t"}, {"y"});
  ImportReport report;
  EXPECT_EQ(imported(m.bytes(), {}, &report),
            "%t = relu(%x) : f32[2,3]\n"
            "%y = abs(%t) : f32[2,3]\n"
            "return %y\n");
  EXPECT_EQ(report.producer, "maker 1.2");
  EXPECT_EQ(report.ir_version, 8);
  EXPECT_EQ(report.opsets, (std::map<std::string, std::int64_t>{{"", 13}, {"com.unused", 3}}));
  EXPECT_EQ(report.nodes, 2U);
  ASSERT_EQ(report.inputs.size(), 1U);
  EXPECT_EQ(report.inputs[0].name, "x");
  ASSERT_EQ(report.outputs.size(), 1U);
  EXPECT_EQ(ir::to_string(report.outputs[0].type), "f32[2,3]");
  EXPECT_TRUE(report.warnings.empty());
}

TEST(Model, KeepsNodeNamesAsOrigins) {
  ModelMaker m(13);
  m.input("x", {2}).output("y");
  m.node("Relu", {"x"}, {"t"}).proto.set_name("act");
  m.node("Abs", {"t"}, {"y"});
  const std::string bytes = m.bytes();
  ir::Graph graph;
  ImportReport report;
  importer::import_memory(std::as_bytes(std::span(bytes)), "", {}, graph, report);
  EXPECT_EQ(ir::origin_text(*graph.first()), "act");
  EXPECT_EQ(ir::origin_text(*graph.first()->next()), "Abs_1");
}

TEST(Model, SortsNodes) {
  ModelMaker m(13);
  m.input("x", {2}).output("y");
  m.node("Abs", {"t"}, {"y"});
  m.node("Relu", {"x"}, {"t"});
  EXPECT_EQ(imported(m),
            "%t = relu(%x) : f32[2]\n"
            "%y = abs(%t) : f32[2]\n"
            "return %y\n");
}

TEST(Model, OutputsOfTheirOwn) {
  ModelMaker m(13);
  m.input("x", {2}).output("x").output("y").output("z");
  m.node("Relu", {"x"}, {"y"});
  m.node("Identity", {"y"}, {"z"});
  EXPECT_EQ(imported(m),
            "%y = relu(%x) : f32[2]\n"
            "%x#2 = reshape(%x) : f32[2]\n"
            "%z = reshape(%y) : f32[2]\n"
            "return %x#2, %y, %z\n");
}

TEST(Model, InitializersThatAreInputsAreConstants) {
  ModelMaker m(13);
  m.input("x", {2}).input("w", {2}).output("y");
  m.constant_f32("w", {2}, {1, 2});
  m.node("Mul", {"x", "w"}, {"y"});
  EXPECT_EQ(imported(m),
            "%w = constant f32[2] dense<1, 2>\n"
            "%y = mul(%x, %w) : f32[2]\n"
            "return %y\n");
  ImportOptions options;
  options.input_dims["w"] = {2};
  EXPECT_EQ(imported(m, options),
            "%y = mul(%x, %w) : f32[2]\n"
            "return %y\n");
}

TEST(Model, NamedDims) {
  ModelMaker m(13);
  m.input("x", {-1, 3}).output("y");
  m.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("batch");
  m.node("Relu", {"x"}, {"y"});
  EXPECT_EQ(imported(m), "%y = relu(%x) : f32[batch,3]\nreturn %y\n");
  ImportOptions bound;
  bound.symbols["batch"] = 4;
  EXPECT_EQ(imported(m, bound), "%y = relu(%x) : f32[4,3]\nreturn %y\n");
  ImportOptions dims;
  dims.input_dims["x"] = {5, 3};
  EXPECT_EQ(imported(m, dims), "%y = relu(%x) : f32[5,3]\nreturn %y\n");
  ImportOptions one;
  one.default_symbols_to_one = true;
  ImportReport report;
  EXPECT_EQ(imported(m.bytes(), one, &report), "%y = relu(%x) : f32[1,3]\nreturn %y\n");
  EXPECT_EQ(report.defaulted_dims, std::vector<std::string>{"x[0] (batch)"});
}

TEST(Model, WrongOverrides) {
  ModelMaker m(13);
  m.input("x", {2, 3}).output("y");
  m.node("Relu", {"x"}, {"y"});
  ImportOptions unknown;
  unknown.input_dims["q"] = {2};
  EXPECT_THROW(imported(m, unknown), Error);
  ImportOptions rank;
  rank.input_dims["x"] = {2};
  EXPECT_THROW(imported(m, rank), Error);
}

TEST(Model, StaleShapeHintsAreReportedAndIgnored) {
  ModelMaker m(13);
  m.input("x", {2, 3}).output("y", {7, 7});
  m.node("Relu", {"x"}, {"y"});
  ImportReport report;
  EXPECT_EQ(imported(m.bytes(), {}, &report), "%y = relu(%x) : f32[2,3]\nreturn %y\n");
  ASSERT_EQ(report.warnings.size(), 1U);
  EXPECT_NE(report.warnings[0].find("\"y\" has the type f32[2,3]"), std::string::npos);
  ModelMaker wrong(13);
  wrong.input("x", {2, 3}).output("y", {2, 3}, 7);
  wrong.node("Relu", {"x"}, {"y"});
  EXPECT_REFUSED(refused(wrong), Code::invalid_model, "\"y\" has the element type 7");
}

TEST(Model, HintsDecideWhereDataWould) {
  ModelMaker m(13);
  m.input("x", {2, 6}).input("s", {2}, 7).output("y", {3, 4});
  m.node("Reshape", {"x", "s"}, {"y"});
  EXPECT_EQ(imported(m), "%y = reshape(%x, %s) {allowzero = 0} : f32[3,4]\nreturn %y\n");
}

TEST(Model, ShapeChainsVanish) {
  ModelMaker m(13);
  m.input("x", {2, 3, 4}).output("y");
  m.constant("zero", {0}).constant("tail", {-1});
  m.node("Shape", {"x"}, {"dims"});
  m.node("Gather", {"dims", "zero"}, {"batch"}).i("axis", 0);
  m.node("Concat", {"batch", "tail"}, {"target"}).i("axis", 0);
  m.node("Reshape", {"x", "target"}, {"y"});
  const std::string text = imported(m);
  EXPECT_NE(text.find("%y = reshape(%x) : f32[2,12]\n"), std::string::npos) << text;
  for (const char* op : {"shape(", "gather(", "concat("})
    EXPECT_EQ(text.find(std::string("= ") + op), std::string::npos) << text;
}

TEST(Model, FunctionsAreInlined) {
  ModelMaker m(13);
  m.proto.add_opset_import()->set_domain("my");
  m.proto.mutable_opset_import(1)->set_version(1);
  ::onnx::FunctionProto& inner = *m.proto.add_functions();
  inner.set_domain("my");
  inner.set_name("Leaky");
  inner.add_input("a");
  inner.add_output("b");
  inner.add_attribute("slope");
  inner.add_opset_import()->set_version(13);
  add_node(inner, "LeakyRelu", {"a"}, {"b"}).ref("alpha", "slope", ::onnx::AttributeProto::FLOAT);
  ::onnx::FunctionProto& outer = *m.proto.add_functions();
  outer.set_domain("my");
  outer.set_name("Twice");
  outer.add_input("p");
  outer.add_input("unused");
  outer.add_output("q");
  outer.add_opset_import()->set_version(13);
  ::onnx::AttributeProto& preset = *outer.add_attribute_proto();
  preset.set_name("k");
  preset.set_type(::onnx::AttributeProto::FLOAT);
  preset.set_f(0.5F);
  for (const auto& [from, to] : {std::pair("p", "h"), std::pair("h", "q")})
    add_node(outer, "Leaky", {from}, {to})
        .ref("slope", "k", ::onnx::AttributeProto::FLOAT)
        .proto.set_domain("my");
  m.input("x", {2}).output("y").output("z");
  m.node("Twice", {"x"}, {"y"}).proto.set_domain("my");
  m.node("Twice", {"x"}, {"z"}).f("k", 0.25F).proto.set_domain("my");
  EXPECT_EQ(imported(m),
            "%b = leaky_relu(%x) {alpha = 0.5} : f32[2]\n"
            "%y = leaky_relu(%b) {alpha = 0.5} : f32[2]\n"
            "%b#2 = leaky_relu(%x) {alpha = 0.25} : f32[2]\n"
            "%z = leaky_relu(%b#2) {alpha = 0.25} : f32[2]\n"
            "return %y, %z\n");
}

TEST(Model, FunctionsMustNotRecurse) {
  ModelMaker m(13);
  ::onnx::FunctionProto& f = *m.proto.add_functions();
  f.set_domain("my");
  f.set_name("Self");
  f.add_input("a");
  f.add_output("b");
  f.add_opset_import()->set_version(13);
  add_node(f, "Self", {"a"}, {"b"}).proto.set_domain("my");
  m.input("x", {2}).output("y");
  m.node("Self", {"x"}, {"y"}).proto.set_domain("my");
  EXPECT_REFUSED(refused(m), Code::invalid_model, "the function Self calls itself");
}

TEST(Model, FunctionsThatMultiplyAreStopped) {
  ModelMaker m(13);
  for (int level = 0; level < 40; ++level) {
    ::onnx::FunctionProto& f = *m.proto.add_functions();
    f.set_domain("my");
    f.set_name("F" + std::to_string(level));
    f.add_input("a");
    f.add_output("c");
    f.add_opset_import()->set_version(13);
    if (level == 39) {
      add_node(f, "Identity", {"a"}, {"c"});
      continue;
    }
    const std::string next = "F" + std::to_string(level + 1);
    add_node(f, next.c_str(), {"a"}, {"b"}).proto.set_domain("my");
    add_node(f, next.c_str(), {"b"}, {"c"}).proto.set_domain("my");
  }
  m.input("x", {2}).output("y");
  m.node("F0", {"x"}, {"y"}).proto.set_domain("my");
  EXPECT_REFUSED(refused(m), Code::unsupported, "functions are expanded");
}

TEST(Model, KnownConditionsLeaveOneBranch) {
  for (const int condition : {0, 1}) {
    ModelMaker m(13);
    m.input("x", {2}).output("y");
    m.initializer("c", 9, {}).add_int32_data(condition);
    NodeMaker node = m.node("If", {"c"}, {"y"});
    ::onnx::GraphProto& yes = *node.add("then_branch", ::onnx::AttributeProto::GRAPH).mutable_g();
    add_node(yes, "Relu", {"x"}, {"r"});
    yes.add_output()->set_name("r");
    ::onnx::GraphProto& no = *node.add("else_branch", ::onnx::AttributeProto::GRAPH).mutable_g();
    add_node(no, "Abs", {"x"}, {"r"});
    no.add_output()->set_name("r");
    const std::string text = imported(m);
    EXPECT_NE(text.find(condition == 1 ? "relu(%x)" : "abs(%x)"), std::string::npos) << text;
    EXPECT_EQ(text.find(condition == 1 ? "abs(%x)" : "relu(%x)"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace frit::test
