// SPDX-License-Identifier: Apache-2.0
// Contents of tensors: every storage form, sparse tensors, external data.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model_maker.h"

namespace frit::test {
namespace {

namespace fs = std::filesystem;

// A model that returns its one initializer `w`.
ModelMaker returns_w() {
  ModelMaker m(21);
  m.output("w");
  return m;
}

// The initializer's line in the imported text.
std::string line_of(const ModelMaker& m) {
  const std::string text = imported(m);
  return text.substr(0, text.find('\n'));
}

TEST(Tensors, TypedFields) {
  ModelMaker f = returns_w();
  f.constant_f32("w", {2}, {1.5F, -2});
  EXPECT_EQ(line_of(f), "%w = constant f32[2] dense<1.5, -2>");

  ModelMaker d = returns_w();
  d.initializer("w", 11, {1}).add_double_data(0.25);
  EXPECT_EQ(line_of(d), "%w = constant f64[1] dense<0.25>");

  ModelMaker i = returns_w();
  i.constant("w", {-1, 2});
  EXPECT_EQ(line_of(i), "%w = constant i64[2] dense<-1, 2>");

  ModelMaker u = returns_w();
  u.initializer("w", 12, {1}).add_uint64_data(4000000000U);
  EXPECT_EQ(line_of(u), "%w = constant u32[1] dense<4000000000>");
}

TEST(Tensors, Int32DataHoldsEverySmallType) {
  const auto line = [](int type, const Dims& dims, const std::vector<int>& data) {
    ModelMaker m = returns_w();
    ::onnx::TensorProto& w = m.initializer("w", type, dims);
    for (int v : data) w.add_int32_data(v);
    return line_of(m);
  };
  EXPECT_EQ(line(2, {2}, {0, 255}), "%w = constant u8[2] dense<0, 255>");
  EXPECT_EQ(line(3, {2}, {-1, 127}), "%w = constant i8[2] dense<-1, 127>");
  EXPECT_EQ(line(4, {1}, {65535}), "%w = constant u16[1] dense<65535>");
  EXPECT_EQ(line(5, {1}, {-2}), "%w = constant i16[1] dense<-2>");
  EXPECT_EQ(line(6, {1}, {-7}), "%w = constant i32[1] dense<-7>");
  EXPECT_EQ(line(9, {2}, {1, 0}), "%w = constant bool[2] dense<true, false>");
  EXPECT_EQ(line(10, {1}, {0x3c00}), "%w = constant f16[1] dense<1>");
  EXPECT_EQ(line(16, {1}, {0xc000}), "%w = constant bf16[1] dense<-2>");
  EXPECT_EQ(line(17, {1}, {0x38}), "%w = constant f8e4m3fn[1] dense<1>");
  // Two elements of 4 bits in each entry, the first one in the low half.
  EXPECT_EQ(line(21, {3}, {0x21, 0x0f}), "%w = constant u4[3] dense<1, 2, 15>");
  EXPECT_EQ(line(22, {3}, {0x21, 0x0f}), "%w = constant i4[3] dense<1, 2, -1>");
}

TEST(Tensors, RawData) {
  ModelMaker m = returns_w();
  const float values[2] = {3, 4};
  m.initializer("w", 1, {2}).set_raw_data(values, sizeof values);
  EXPECT_EQ(line_of(m), "%w = constant f32[2] dense<3, 4>");
}

TEST(Tensors, DataThatDoNotFit) {
  ModelMaker raw = returns_w();
  raw.initializer("w", 1, {2}).set_raw_data("abcd");
  EXPECT_REFUSED(refused(raw), Code::invalid_model, "initializer \"w\"", "needs 8 bytes", "has 4");
  ModelMaker typed = returns_w();
  typed.constant_f32("w", {3}, {1, 2});
  EXPECT_REFUSED(refused(typed), Code::invalid_model, "needs 12 bytes", "float_data has 8");
  ModelMaker none = returns_w();
  none.initializer("w", 7, {5});
  EXPECT_REFUSED(refused(none), Code::invalid_model, "needs 40 bytes", "has 0");
  ModelMaker huge = returns_w();
  huge.initializer("w", 7, {1LL << 40, 1LL << 40});
  EXPECT_REFUSED(refused(huge), Code::invalid_model, "initializer \"w\" has impossible dims");
  ModelMaker negative = returns_w();
  negative.initializer("w", 7, {-1});
  EXPECT_REFUSED(refused(negative), Code::invalid_model, "impossible dims");
  ModelMaker type = returns_w();
  type.initializer("w", 99, {1});
  EXPECT_REFUSED(refused(type), Code::invalid_model, "element type 99");
}

TEST(Tensors, TypesThatAreNotCovered) {
  ModelMaker text = returns_w();
  text.initializer("w", 8, {1}).add_string_data("a");
  EXPECT_REFUSED(refused(text), Code::unsupported, "initializer \"w\" holds strings");
  ModelMaker complex = returns_w();
  complex.initializer("w", 14, {1});
  EXPECT_REFUSED(refused(complex), Code::unsupported, "complex numbers");
}

TEST(Tensors, Sparse) {
  const auto sparse = [](const Dims& index_dims, const Dims& indices) {
    ModelMaker m = returns_w();
    ::onnx::SparseTensorProto& w = *m.graph().add_sparse_initializer();
    w.add_dims(2);
    w.add_dims(3);
    w.mutable_values()->set_name("w");
    w.mutable_values()->set_data_type(1);
    w.mutable_values()->add_dims(2);
    w.mutable_values()->add_float_data(5);
    w.mutable_values()->add_float_data(6);
    w.mutable_indices()->set_data_type(7);
    for (std::int64_t d : index_dims) w.mutable_indices()->add_dims(d);
    for (std::int64_t i : indices) w.mutable_indices()->add_int64_data(i);
    return m;
  };
  const char* dense = "%w = constant f32[2,3] dense<0, 5, 0, 0, 0, 6>";
  EXPECT_EQ(line_of(sparse({2}, {1, 5})), dense);
  EXPECT_EQ(line_of(sparse({2, 2}, {0, 1, 1, 2})), dense);
  EXPECT_REFUSED(refused(sparse({2}, {1, 6})), Code::invalid_model, "index 6");
  EXPECT_REFUSED(refused(sparse({2, 2}, {0, 1, 1, 3})), Code::invalid_model, "index 3 on axis 1");
  EXPECT_REFUSED(refused(sparse({3}, {1, 2, 3})), Code::invalid_model, "malformed");
}

TEST(Tensors, ConstantNodes) {
  const auto line = [](auto add) {
    ModelMaker m(13);
    m.output("y");
    add(m.node("Constant", {}, {"y"}));
    return line_of(m);
  };
  EXPECT_EQ(line([](NodeMaker n) { n.i("value_int", 3); }), "%y = constant i64[] dense<3>");
  EXPECT_EQ(line([](NodeMaker n) {
              n.ints("value_ints", {3, 4});
            }),
            "%y = constant i64[2] dense<3, 4>");
  EXPECT_EQ(line([](NodeMaker n) { n.f("value_float", 0.5F); }), "%y = constant f32[] dense<0.5>");
  EXPECT_EQ(line([](NodeMaker n) {
              n.floats("value_floats", {1, 2});
            }),
            "%y = constant f32[2] dense<1, 2>");
  EXPECT_EQ(line([](NodeMaker n) {
              ::onnx::TensorProto& t = *n.add("value", ::onnx::AttributeProto::TENSOR).mutable_t();
              t.set_data_type(6);
              t.add_dims(1);
              t.add_int32_data(9);
            }),
            "%y = constant i32[1] dense<9>");
}

// A folder that is removed at the end, with data files in it and beside it.
class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "frit_external_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    fs::create_directory(root_ / "model");
    write(root_ / "model" / "data.bin", {9, 1, 2, 3});
    write(root_ / "outside.bin", {1, 2, 3, 4});
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& path, const std::vector<float>& values) {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }
  std::string folder() const { return (root_ / "model").string(); }
  static ModelMaker model(const std::string& location, const char* offset = nullptr,
                          const char* length = nullptr) {
    ModelMaker m = returns_w();
    ::onnx::TensorProto& w = m.initializer("w", 1, {3});
    w.set_data_location(::onnx::TensorProto::EXTERNAL);
    const auto entry = [&](const char* key, const std::string& value) {
      auto& e = *w.add_external_data();
      e.set_key(key);
      e.set_value(value);
    };
    entry("location", location);
    if (offset != nullptr) entry("offset", offset);
    if (length != nullptr) entry("length", length);
    return m;
  }

  fs::path root_;
};

TEST_F(ExternalData, IsReadFromTheModelsFolder) {
  const std::string text = imported(model("data.bin", "4", "12").bytes(), {}, nullptr, folder());
  EXPECT_EQ(text.substr(0, text.find('\n')), "%w = constant f32[3] dense<1, 2, 3>");
}

TEST_F(ExternalData, IsFoundBesideAModelFile) {
  const std::string bytes = model("data.bin", "4").bytes();
  const fs::path path = root_ / "model" / "m.onnx";
  std::ofstream(path, std::ios::binary) << bytes;
  ir::Graph graph;
  importer::ImportReport report;
  importer::import_file(path.string(), {}, graph, report);
  EXPECT_EQ(ir::constant_of(graph.first()->result())->to_f64(), (std::vector<double>{1, 2, 3}));
}

TEST_F(ExternalData, MayNotLeaveTheFolder) {
  EXPECT_REFUSED(refused(model("../outside.bin").bytes(), folder()), Code::invalid_model,
                 "tensor \"w\"", "leaves the model's folder");
  EXPECT_REFUSED(refused(model("sub/../../outside.bin").bytes(), folder()), Code::invalid_model,
                 "leaves the model's folder");
  EXPECT_REFUSED(refused(model((root_ / "outside.bin").string()).bytes(), folder()),
                 Code::invalid_model, "expected a path relative to the model");
  fs::create_symlink(root_ / "outside.bin", root_ / "model" / "link.bin");
  EXPECT_REFUSED(refused(model("link.bin").bytes(), folder()), Code::invalid_model,
                 "symbolic link");
  fs::create_directory_symlink(root_, root_ / "model" / "up");
  EXPECT_REFUSED(refused(model("up/outside.bin").bytes(), folder()), Code::invalid_model,
                 "symbolic link");
}

TEST_F(ExternalData, MustBeComplete) {
  EXPECT_REFUSED(refused(model("none.bin").bytes(), folder()), Code::not_found, "tensor \"w\"",
                 "none.bin");
  EXPECT_REFUSED(refused(model("data.bin", "8").bytes(), folder()), Code::invalid_model,
                 "needs bytes 8 to 20", "only 16");
  EXPECT_REFUSED(refused(model("data.bin", "0", "8").bytes(), folder()), Code::invalid_model,
                 "needs 12 bytes", "external length has 8");
  EXPECT_REFUSED(refused(model("data.bin", "x").bytes(), folder()), Code::invalid_model,
                 "offset \"x\"");
  EXPECT_REFUSED(refused(model("data.bin", "18446744073709551615").bytes(), folder()),
                 Code::invalid_model, "only 16");
}

TEST_F(ExternalData, NeedsAFolder) {
  EXPECT_REFUSED(refused(model("data.bin").bytes(), ""), Code::invalid_argument, "tensor \"w\"",
                 "without a folder");
}

}  // namespace
}  // namespace frit::test
