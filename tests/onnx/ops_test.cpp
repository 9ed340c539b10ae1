// SPDX-License-Identifier: Apache-2.0
// What single ops become in the IR, where opset versions and defaults differ.
#include <gtest/gtest.h>

#include "model_maker.h"

namespace frit::test {
namespace {

// One node with operands a, b, … as inputs of the given dims and the result y.
class OpTest {
 public:
  OpTest(std::int64_t opset, const char* op, const std::vector<Dims>& inputs, int type = 1)
      : model(opset) {
    model.output("y");
    Names names;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      names.push_back(std::string(1, static_cast<char>('a' + i)));
      model.input(names.back(), inputs[i], type);
    }
    node_ = &model.node(op, names, {"y"}).proto;
  }
  NodeMaker node() { return NodeMaker(*node_); }
  OpTest& operand(const std::string& name) {
    node_->add_input(name);
    return *this;
  }
  OpTest& constant(const std::string& name, const Dims& values) {
    model.constant(name, values);
    return operand(name);
  }
  /// The lines after the initializers, without the return.
  std::string text() const {
    std::string kept;
    const std::string all = imported(model);
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at) + 1;
      const std::string line = all.substr(at, end - at);
      if (line.find("= constant i64[") == std::string::npos && line.find("return") != 0)
        kept += line;
      at = end;
    }
    return kept;
  }

  ModelMaker model;

 private:
  ::onnx::NodeProto* node_;
};

TEST(Ops, SoftmaxBefore13TakesRows) {
  OpTest old(11, "Softmax", {{2, 3, 4}});
  EXPECT_EQ(old.text(),
            "%0 = reshape(%a) : f32[2,12]\n"
            "%1 = softmax(%0) {axis = 1, log = 0} : f32[2,12]\n"
            "%y = reshape(%1) : f32[2,3,4]\n");
  OpTest now(13, "Softmax", {{2, 3, 4}});
  EXPECT_EQ(now.text(), "%y = softmax(%a) {axis = 2, log = 0} : f32[2,3,4]\n");
}

TEST(Ops, ClipInAllForms) {
  OpTest old(6 + 1, "Clip", {{2}});
  old.node().f("min", 0).f("max", 6);
  EXPECT_EQ(old.text(), "%y = clamp(%a) {max = 6.0, min = 0.0} : f32[2]\n");
  OpTest unbounded(7, "Clip", {{2}});
  EXPECT_EQ(unbounded.text(), "%y = reshape(%a) : f32[2]\n");
  OpTest run_time(13, "Clip", {{2}, {}, {}});
  EXPECT_EQ(run_time.text(),
            "%0 = max(%a, %b) : f32[2]\n"
            "%y = min(%0, %c) : f32[2]\n");
}

TEST(Ops, ReduceAxesAsAttributeAndOperand) {
  OpTest attr(11, "ReduceSum", {{2, 3, 4}});
  attr.node().ints("axes", {-1, 0}).i("keepdims", 0);
  EXPECT_EQ(attr.text(),
            "%y = reduce(%a) {axes = [0, 2], keepdims = 0, kind = \"sum\"} : f32[3]\n");
  OpTest operand(13, "ReduceSum", {{2, 3, 4}});
  operand.constant("axes", {1});
  EXPECT_EQ(operand.text(),
            "%y = reduce(%a) {axes = [1], keepdims = 1, kind = \"sum\"} : f32[2,1,4]\n");
  OpTest all(13, "ReduceMean", {{2, 3}});
  EXPECT_EQ(all.text(),
            "%y = reduce(%a) {axes = [0, 1], keepdims = 1, kind = \"mean\"} : f32[1,1]\n");
  OpTest nothing(18, "ReduceSumSquare", {{2, 3}});
  nothing.node().i("noop_with_empty_axes", 1);
  EXPECT_EQ(nothing.text(), "%y = mul(%a, %a) : f32[2,3]\n");
}

TEST(Ops, ReshapeCopiesAndInfers) {
  OpTest op(13, "Reshape", {{2, 3, 4}});
  op.constant("s", {0, -1});
  EXPECT_EQ(op.text(), "%y = reshape(%a) : f32[2,12]\n");
}

TEST(Ops, SqueezeAndUnsqueeze) {
  OpTest squeeze(11, "Squeeze", {{1, 3, 1}});
  squeeze.node().ints("axes", {-1});
  EXPECT_EQ(squeeze.text(), "%y = reshape(%a) : f32[1,3]\n");
  OpTest all(13, "Squeeze", {{1, 3, 1}});
  EXPECT_EQ(all.text(), "%y = reshape(%a) : f32[3]\n");
  OpTest unsqueeze(13, "Unsqueeze", {{3, 4}});
  unsqueeze.constant("axes", {0, -1});
  EXPECT_EQ(unsqueeze.text(), "%y = reshape(%a) : f32[1,3,4,1]\n");
}

TEST(Ops, SliceClampsAndCounts) {
  OpTest attr(7, "Slice", {{10, 5}});
  attr.node().ints("starts", {-3, 1}).ints("ends", {1000, -1});
  EXPECT_EQ(attr.text(), "%y = slice(%a) {starts = [7, 1], steps = [1, 1]} : f32[3,3]\n");
  OpTest back(13, "Slice", {{10, 5}});
  back.constant("s", {-1}).constant("e", {-1000}).constant("x", {0}).constant("t", {-4});
  EXPECT_EQ(back.text(), "%y = slice(%a) {starts = [9, 0], steps = [-4, 1]} : f32[3,5]\n");
}

TEST(Ops, SplitInAllForms) {
  const auto split = [](std::int64_t opset, auto prepare) {
    ModelMaker m(opset);
    m.input("x", {7, 2}).output("p").output("q");
    prepare(m);
    std::string text = imported(m);
    return text.substr(text.find("%p"), text.find(" : ") - text.find("%p")) +
           text.substr(text.find(" : "), text.find('\n', text.find(" : ")) - text.find(" : "));
  };
  const auto attr = [](ModelMaker& m) { m.node("Split", {"x"}, {"p", "q"}).ints("split", {3, 4}); };
  EXPECT_NE(split(11, attr).find("f32[3,2], f32[4,2]"), std::string::npos) << split(11, attr);
  const auto even = [](ModelMaker& m) { m.node("Split", {"x"}, {"p", "q"}).i("num_outputs", 2); };
  EXPECT_NE(split(18, even).find("f32[4,2], f32[3,2]"), std::string::npos) << split(18, even);
}

TEST(Ops, PadInAllForms) {
  OpTest attr(7, "Pad", {{2, 3}});
  attr.node().ints("pads", {0, 1, 0, 2}).s("mode", "reflect");
  EXPECT_EQ(attr.text(), "%y = pad(%a) {mode = \"reflect\", pads = [0, 1, 0, 2]} : f32[2,6]\n");
  OpTest axes(18, "Pad", {{2, 3}});
  axes.constant("p", {1, 2}).operand("").constant("ax", {-1});
  EXPECT_EQ(axes.text(), "%y = pad(%a) {mode = \"constant\", pads = [0, 1, 0, 2]} : f32[2,6]\n");
}

TEST(Ops, ConvWithAutomaticPadding) {
  OpTest op(11, "Conv", {{1, 3, 224, 224}, {8, 3, 3, 3}});
  op.node().s("auto_pad", "SAME_UPPER").ints("strides", {2, 2});
  EXPECT_EQ(op.text(),
            "%y = conv(%a, %b) {dilations = [1, 1], group = 1, pads = [0, 0, 1, 1], strides = [2, "
            "2]} : f32[1,8,112,112]\n");
}

TEST(Ops, ConvTransposeForAnOutputSize) {
  OpTest op(11, "ConvTranspose", {{1, 1, 3, 3}, {1, 2, 3, 3}});
  op.node().ints("strides", {3, 2}).ints("output_shape", {10, 8});
  EXPECT_EQ(op.text(),
            "%y = conv_transpose(%a, %b) {dilations = [1, 1], group = 1, output_padding = [1, 1], "
            "pads = [0, 0, 0, 0], strides = [3, 2]} : f32[1,2,10,8]\n");
}

TEST(Ops, GemmWithFactors) {
  OpTest plain(13, "Gemm", {{2, 3}, {4, 3}, {4}});
  plain.node().i("transB", 1);
  EXPECT_EQ(plain.text(), "%y = matmul(%a, %b, %c) {trans_a = 0, trans_b = 1} : f32[2,4]\n");
  OpTest factors(13, "Gemm", {{2, 3}, {3, 4}, {4}});
  factors.node().f("alpha", 0.5F).f("beta", 0);
  EXPECT_EQ(factors.text(),
            "%0 = matmul(%a, %b) {trans_a = 0, trans_b = 0} : f32[2,4]\n"
            "%1 = constant f32[] dense<0.5>\n"
            "%y = mul(%0, %1) : f32[2,4]\n");
}

TEST(Ops, GlobalPoolsAreReductions) {
  OpTest op(13, "GlobalAveragePool", {{1, 3, 5, 5}});
  EXPECT_EQ(op.text(),
            "%y = reduce(%a) {axes = [2, 3], keepdims = 1, kind = \"mean\"} : f32[1,3,1,1]\n");
}

TEST(Ops, TopKWithAttribute) {
  OpTest op(7, "TopK", {{2, 5}});
  op.node().i("k", 3).proto.add_output("indices");
  EXPECT_EQ(op.text(),
            "%y, %indices = topk(%a) {axis = 1, k = 3, largest = 1, sorted = 1} : f32[2,3], "
            "i64[2,3]\n");
}

TEST(Ops, ResizeVersions) {
  OpTest old(10, "Resize", {{1, 1, 4, 4}});
  old.model.constant_f32("s", {4}, {1, 1, 2, 0.6F});
  old.operand("s");
  const std::string first = old.text();
  EXPECT_NE(first.find("coordinate = \"asymmetric\""), std::string::npos) << first;
  EXPECT_NE(first.find("nearest = \"floor\""), std::string::npos) << first;
  EXPECT_NE(first.find(": f32[1,1,8,2]"), std::string::npos) << first;
  OpTest kept(18, "Resize", {{1, 1, 4, 8}});
  kept.node().s("keep_aspect_ratio_policy", "not_larger").ints("axes", {2, 3});
  kept.operand("").operand("").constant("sizes", {6, 8});
  const std::string second = kept.text();
  EXPECT_NE(second.find("coordinate = \"half_pixel\""), std::string::npos) << second;
  EXPECT_NE(second.find("scales = [1.0, 1.0, 1.0, 1.0]"), std::string::npos) << second;
  EXPECT_NE(second.find(": f32[1,1,4,8]"), std::string::npos) << second;
}

TEST(Ops, GroupNormBefore21HasOneScalePerGroup) {
  OpTest op(18, "GroupNormalization", {{1, 4, 2}, {2}, {2}});
  op.node().i("num_groups", 2);
  const std::string text = op.text();
  EXPECT_NE(text.find("expand(%0) : f32[2,2]"), std::string::npos) << text;
  EXPECT_NE(text.find("group_norm(%a, %2, %5) {epsilon = "), std::string::npos) << text;
}

TEST(Ops, PowMixesTypes) {
  ModelMaker m(13);
  m.input("x", {2}, 6).input("e", {2}, 1).output("y");
  m.node("Pow", {"x", "e"}, {"y"});
  EXPECT_EQ(imported(m),
            "%0 = cast(%x) {to = f64} : f64[2]\n"
            "%1 = cast(%e) {to = f64} : f64[2]\n"
            "%2 = pow(%0, %1) : f64[2]\n"
            "%y = cast(%2) {to = i32} : i32[2]\n"
            "return %y\n");
}

TEST(Ops, DropoutOnlyInTraining) {
  OpTest op(13, "Dropout", {{2}});
  EXPECT_EQ(op.text(), "%y = reshape(%a) : f32[2]\n");
  OpTest training(13, "Dropout", {{2}});
  training.operand("");
  training.model.initializer("on", 9, {}).add_int32_data(1);
  training.operand("on");
  EXPECT_REFUSED(refused(training.model), Code::unsupported, "random numbers");
}

TEST(Ops, LstmDefaults) {
  OpTest op(14, "LSTM", {{5, 2, 3}, {1, 16, 3}, {1, 16, 4}});
  op.node().i("hidden_size", 4);
  const std::string text = op.text();
  EXPECT_NE(text.find("activations = \"sigmoid,tanh,tanh\""), std::string::npos) << text;
  EXPECT_NE(text.find("kind = \"lstm\""), std::string::npos) << text;
  EXPECT_NE(text.find(" : f32[5,1,2,4]"), std::string::npos) << text;
}

TEST(Ops, QuantizeTakesTheZeroPointsType) {
  ModelMaker m(13);
  m.input("x", {2, 3}).input("s", {}).output("y");
  m.initializer("z", 3, {}).add_int32_data(1);
  m.node("QuantizeLinear", {"x", "s", "z"}, {"y"});
  const std::string text = imported(m);
  EXPECT_NE(text.find("to = i8} : i8[2,3]"), std::string::npos) << text;
}

TEST(Ops, AttentionBecomesProducts) {
  OpTest op(23, "Attention", {{1, 2, 3, 8}, {1, 2, 5, 8}, {1, 2, 5, 8}});
  const std::string text = op.text();
  EXPECT_NE(text.find("{trans_a = 0, trans_b = 1} : f32[1,2,3,5]"), std::string::npos) << text;
  EXPECT_NE(text.find("= softmax("), std::string::npos) << text;
  EXPECT_NE(text.find("%y = matmul("), std::string::npos) << text;
}

}  // namespace
}  // namespace frit::test
