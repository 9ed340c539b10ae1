// SPDX-License-Identifier: Apache-2.0
// Models that cannot be imported: one clear error each.
#include <gtest/gtest.h>

#include "model_maker.h"

namespace frit::test {
namespace {

ModelMaker relu_model() {
  ModelMaker m(13);
  m.input("x", {2, 3}).output("y");
  m.node("Relu", {"x"}, {"y"}).proto.set_name("r1");
  return m;
}

TEST(Refusal, ListsEverythingNotCoveredAtOnce) {
  ModelMaker m(13);
  m.input("x", {4}).output("y").output("z");
  m.proto.add_opset_import()->set_domain("com.example");
  m.proto.mutable_opset_import(1)->set_version(2);
  m.node("NonZero", {"x"}, {"n"}).proto.set_name("nz");
  m.node("Cast", {"n"}, {"y"}).i("to", 1);
  m.node("Frobnicate", {"x"}, {"f"});
  m.node("Thing", {"f"}, {"t"}).proto.set_domain("com.example");
  m.node("Gelu", {"t"}, {"z"}).proto.set_name("late");
  EXPECT_REFUSED(refused(m), Code::unsupported, "not covered are 4",
                 "node \"nz\" (NonZero, opset 13): the size of its output depends on the data",
                 "node \"Frobnicate_2\" (Frobnicate, opset 13): Frit does not know this op",
                 "node \"Thing_3\" (com.example.Thing, opset 2)",
                 "node \"late\" (Gelu, opset 13): this op exists from opset 20 on");
}

TEST(Refusal, ListsWhatAnOpDoesNotCover) {
  ModelMaker m(13);
  m.input("x", {4, 4}).input("s", {2}, 7).output("y").output("z");
  m.node("Split", {"x", "s"}, {"y", "w"}).proto.set_name("cut");
  m.node("NonZero", {"x"}, {"z"});
  EXPECT_REFUSED(refused(m), Code::unsupported,
                 "node \"cut\" (Split, opset 13): the sizes of its pieces are known at run time",
                 "NonZero_1");
}

TEST(Refusal, ListsInputsThatAreNotTensors) {
  ModelMaker m(13);
  m.input("text", {4}, 8).output("y");
  m.graph().add_input()->set_name("list");
  m.graph().mutable_input(1)->mutable_type()->mutable_sequence_type();
  m.node("StringNormalizer", {"text"}, {"y"});
  EXPECT_REFUSED(refused(m), Code::unsupported, "input \"text\": it holds strings",
                 "input \"list\": it is a sequence", "StringNormalizer_0");
}

TEST(Refusal, UndefinedName) {
  ModelMaker m(13);
  m.input("x", {2}).output("y");
  m.node("Add", {"x", "missing"}, {"y"}).proto.set_name("sum");
  EXPECT_REFUSED(refused(m), Code::invalid_model, "node \"sum\" (Add) reads \"missing\"");
}

TEST(Refusal, NameDefinedTwice) {
  ModelMaker m = relu_model();
  m.node("Abs", {"x"}, {"y"}).proto.set_name("again");
  EXPECT_REFUSED(refused(m), Code::invalid_model, "node \"again\" (Abs) defines \"y\"");
  ModelMaker n = relu_model();
  n.constant("x", {1});
  n.constant("x", {2});
  EXPECT_REFUSED(refused(n), Code::invalid_model, "an initializer \"x\"");
}

TEST(Refusal, Cycle) {
  ModelMaker m(13);
  m.input("x", {2}).output("b");
  m.node("Add", {"x", "b"}, {"a"}).proto.set_name("first");
  m.node("Relu", {"a"}, {"b"});
  EXPECT_REFUSED(refused(m), Code::invalid_model, "node \"first\" (Add) is part of a cycle");
}

TEST(Refusal, AttributeOfAnotherType) {
  ModelMaker m(13);
  m.input("x", {2, 3}).output("y");
  m.node("Softmax", {"x"}, {"y"}).f("axis", 1).proto.set_name("sm");
  EXPECT_REFUSED(refused(m), Code::invalid_model, "node \"sm\" (Softmax, opset 13)",
                 "the attribute \"axis\" has the type float; expected int");
}

TEST(Refusal, AttributeMissingOrUnknownChoice) {
  ModelMaker m(13);
  m.input("x", {2, 3}).output("y");
  m.node("Concat", {"x", "x"}, {"y"}).proto.set_name("cc");
  EXPECT_REFUSED(refused(m), Code::invalid_model, "\"cc\"", "\"axis\" is missing");
  ModelMaker n(13);
  n.input("x", {1, 4, 2, 2}).output("y");
  n.node("DepthToSpace", {"x"}, {"y"}).i("blocksize", 2).s("mode", "XYZ");
  EXPECT_REFUSED(refused(n), Code::invalid_model, "\"mode\" is \"XYZ\"", "DCR, CRD");
}

TEST(Refusal, OperandMissing) {
  ModelMaker m(13);
  m.input("x", {2, 3}).output("y");
  m.node("MatMul", {"x", ""}, {"y"}).proto.set_name("mm");
  EXPECT_REFUSED(refused(m), Code::invalid_model, "\"mm\"", "operand 1 is missing");
}

TEST(Refusal, ShapesThatDoNotFit) {
  ModelMaker m(13);
  m.input("a", {2, 3}).input("b", {4, 5}).output("y");
  m.node("MatMul", {"a", "b"}, {"y"}).proto.set_name("mm");
  EXPECT_REFUSED(refused(m), Code::invalid_model, "node \"mm\" (MatMul, opset 13)");
  ModelMaker n(13);
  n.input("x", {2, 3}).constant("s", {4, -1}).output("y");
  n.node("Reshape", {"x", "s"}, {"y"}).proto.set_name("rs");
  EXPECT_REFUSED(refused(n), Code::invalid_model, "\"rs\"", "6 elements do not divide");
}

TEST(Refusal, OpsetsOutOfRange) {
  EXPECT_REFUSED(refused(ModelMaker(6)), Code::unsupported, "opset 6", "opsets 7 to 28");
  EXPECT_REFUSED(refused(ModelMaker(29)), Code::unsupported, "opset 29", "opsets 7 to 28");
  ModelMaker none = relu_model();
  none.proto.clear_opset_import();
  EXPECT_REFUSED(refused(none), Code::invalid_model, "imports no opset");
  ModelMaker other = relu_model();
  other.proto.mutable_opset_import(0)->set_domain("com.example");
  EXPECT_REFUSED(refused(other), Code::invalid_model, "\"r1\" (Relu", "opset_import");
}

TEST(Refusal, OldIrVersion) {
  ModelMaker m = relu_model();
  m.proto.set_ir_version(2);
  EXPECT_REFUSED(refused(m), Code::unsupported, "IR version 2");
}

TEST(Refusal, NoOutputs) {
  ModelMaker m(13);
  m.input("x", {2});
  EXPECT_REFUSED(refused(m), Code::invalid_model, "no outputs");
  ModelMaker n(13);
  n.input("x", {2}).output("nowhere");
  EXPECT_REFUSED(refused(n), Code::invalid_model, "output \"nowhere\" is not defined");
}

TEST(Refusal, NotAModel) {
  EXPECT_REFUSED(refused(std::string()), Code::invalid_model, "empty");
  EXPECT_REFUSED(refused(std::string(200, '\xff')), Code::invalid_model, "not a readable ONNX");
  ir::Graph graph;
  importer::ImportReport report;
  try {
    importer::import_file("/nonexistent/model.onnx", {}, graph, report);
    FAIL() << "a missing file was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::not_found);
    EXPECT_NE(error.message().find("/nonexistent/model.onnx"), std::string::npos);
  }
}

// Every prefix of a model is refused, or is a model that happens to be complete; none crashes.
TEST(Refusal, TruncatedModels) {
  ModelMaker m = relu_model();
  m.constant_f32("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string bytes = m.bytes();
  int errors = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto [code, message] = refused(bytes.substr(0, size));
    if (code == Code::ok) continue;
    ++errors;
    EXPECT_NE(code, Code::internal) << size << ": " << message;
    EXPECT_FALSE(message.empty());
  }
  EXPECT_GT(errors, static_cast<int>(bytes.size()) / 2);
}

TEST(Refusal, FlippedBits) {
  ModelMaker m = relu_model();
  m.constant("s", {3, 2});
  m.node("Reshape", {"y", "s"}, {"z"});
  m.output("z", {3, 2});
  const std::string bytes = m.bytes();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const auto [code, message] = refused(damaged);
    EXPECT_NE(code, Code::internal) << "bit " << bit << ": " << message;
  }
}

TEST(Refusal, DeeplyNestedBranches) {
  ModelMaker m(13);
  m.input("x", {2}).output("y");
  m.initializer("c", 9, {}).add_int32_data(1);
  ::onnx::GraphProto* graph = &m.graph();
  for (int depth = 0; depth < 60; ++depth) {
    NodeMaker node = add_node(*graph, "If", {"c"}, {"y"});
    add_node(*node.add("else_branch", ::onnx::AttributeProto::GRAPH).mutable_g(), "Relu", {"x"},
             {"y"});
    graph = node.add("then_branch", ::onnx::AttributeProto::GRAPH).mutable_g();
    graph->add_output()->set_name("y");
  }
  add_node(*graph, "Relu", {"x"}, {"y"});
  EXPECT_REFUSED(refused(m), Code::invalid_model, "nested too deeply");
}

}  // namespace
}  // namespace frit::test
