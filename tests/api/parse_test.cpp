// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>

#include "tests/api/support.h"

namespace frit::test {
namespace {

using Dims = std::vector<std::int64_t>;

TEST(Parse, MemoryAndFileAgree) {
  const std::string model = onnx_model("Relu");
  const std::string path = testing::TempDir() + "frit_api_parse.onnx";
  std::ofstream(path, std::ios::binary) << model;
  const auto from_file = Network::parse_file(path);
  const auto from_memory = Network::parse_memory(as_bytes(model));
  std::remove(path.c_str());
  ASSERT_TRUE(from_file) << from_file.error().text();
  ASSERT_TRUE(from_memory) << from_memory.error().text();
  EXPECT_EQ(from_file->text(), from_memory->text());
  ASSERT_EQ(from_memory->inputs().size(), 1u);
  EXPECT_EQ(from_memory->inputs()[0].name, "x");
  EXPECT_EQ(from_memory->inputs()[0].dtype, DType::f32);
  ASSERT_EQ(from_memory->outputs().size(), 1u);
  EXPECT_EQ(from_memory->outputs()[0].name, "y");
}

TEST(Parse, OpenDimsBecomeOneWithAWarningOrTakeGivenShapes) {
  const std::string model = onnx_model("Relu");
  std::vector<std::string> warnings;
  ParseOptions options;
  options.log = [&](LogLevel level, std::string_view message) {
    EXPECT_EQ(level, LogLevel::warning);
    warnings.emplace_back(message);
  };
  const auto defaulted = Network::parse_memory(as_bytes(model), options);
  ASSERT_TRUE(defaulted) << defaulted.error().text();
  EXPECT_EQ(defaulted->inputs()[0].dims, (Dims{1, 3}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("N"), std::string::npos) << warnings[0];

  warnings.clear();
  options.shapes["x"] = {4, 3};
  const auto shaped = Network::parse_memory(as_bytes(model), options);
  ASSERT_TRUE(shaped) << shaped.error().text();
  EXPECT_EQ(shaped->inputs()[0].dims, (Dims{4, 3}));
  EXPECT_EQ(shaped->outputs()[0].dims, (Dims{4, 3}));
  EXPECT_TRUE(warnings.empty());

  options.shapes.clear();
  options.default_dims_to_one = false;
  const auto symbolic = Network::parse_memory(as_bytes(model), options);
  ASSERT_TRUE(symbolic) << symbolic.error().text();
  EXPECT_EQ(symbolic->inputs()[0].dims, (Dims{-1, 3}));
}

TEST(Parse, RefusesWhatIsNoModel) {
  const auto missing = Network::parse_file("there/is/no.onnx");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found) << missing.error().text();
  EXPECT_NE(missing.error().message.find("there/is/no.onnx"), std::string::npos);

  const auto noise = Network::parse_memory(as_bytes("this is no protobuf at all"));
  ASSERT_FALSE(noise);
  EXPECT_EQ(noise.error().code, Code::invalid_model) << noise.error().text();
  EXPECT_FALSE(Network::parse_memory({}));

  const auto unknown = Network::parse_memory(as_bytes(onnx_model("NoSuchOp")));
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("NoSuchOp"), std::string::npos) << unknown.error().text();
  EXPECT_NE(unknown.error().text().find("the_node"), std::string::npos) << unknown.error().text();
}

TEST(Parse, RefusesShapesThatDoNotFit) {
  const std::string model = onnx_model("Relu");
  for (const auto& [name, dims] :
       {std::pair<const char*, Dims>{"x", {4}}, {"x", {-1, 3}}, {"no_such_input", {4, 3}}}) {
    ParseOptions options;
    options.shapes[name] = dims;
    const auto network = Network::parse_memory(as_bytes(model), options);
    EXPECT_FALSE(network) << name << " with " << dims.size() << " dims was accepted";
  }
}

// No prefix of a model may be taken for it, or do worse than be refused.
TEST(Parse, SurvivesEveryTruncation) {
  const std::string model = onnx_model("Relu");
  for (std::size_t size = 0; size < model.size(); ++size) {
    const auto network = Network::parse_memory(as_bytes(model).first(size));
    if (!network) continue;
    EXPECT_NE(network->text(), "") << size;
  }
}

}  // namespace
}  // namespace frit::test
