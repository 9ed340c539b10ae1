// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/hash.h"
#include "base/mapped_file.h"
#include "tests/support/sample_plan.h"

namespace frit::plan {
namespace {

using test::AlignedBytes;

// Every field of every table, with values that differ from the defaults.
test::Sample everything() {
  test::Sample s = test::sample();
  Plan& p = s.plan;
  p.streams = 3;
  p.symbols = {{"batch", 1, 8, 2}};
  p.shape_program = {
      {ShapeOp::input_dim, 2, 0, 0}, {ShapeOp::constant, kNone, kNone, 4}, {ShapeOp::mul, 0, 1, 0}};
  p.bindings.insert(p.bindings.begin() + 1, Binding{});
  p.bindings[1] = {"n", DType::i64, {2}, true, true, 6};
  p.bindings.insert(p.bindings.begin() + 2, Binding{"z", DType::f32, {-1, 3}, true, false, 7});
  p.tensors[5].index = 3;
  Tensor n = test::f32_tensor({2}, Location::binding, 1, 0);
  n.dtype = DType::i64;
  n.bytes = 16;
  p.tensors.push_back(n);
  Tensor z = test::f32_tensor({8, 3}, Location::binding, 2, 0);
  z.dims[0] = symbol_dim(0);
  p.tensors.push_back(z);
  Tensor strided = test::f32_tensor({2, 4}, Location::arena, kNone, 0);
  strided.strides = {16, 1};
  strided.bytes = 80;
  strided.alias_of = 2;
  p.tensors.push_back(strided);
  p.profiles.push_back({"second", {{2, {1, 3}, {4, 3}, {8, 3}}}});
  Step& first = p.steps[0];
  first.stream = 1;
  first.peer_stream = 2;
  first.attrs.push_back({"count", Attr::Kind::integer, -5, 0, "", {}, {}});
  first.attrs.push_back({"mode", Attr::Kind::text, 0, 0, "linear", {}, {}});
  first.attrs.push_back({"pads", Attr::Kind::integers, 0, 0, "", {1, -2, 3}, {}});
  first.attrs.push_back({"scales", Attr::Kind::reals, 0, 0, "", {}, {0.5, -0.0}});
  first.attrs.push_back({"zero", Attr::Kind::real, 0, -0.0, "", {}, {}});
  p.steps[1].in_place = {{0, 0}};
  p.images.push_back({"code", "cubin", "sm_90", 0, 5});
  return s;
}

void expect_equal(const Step& a, const Step& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.module, b.module);
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.in_place.size(), b.in_place.size());
  EXPECT_EQ(a.workspace_offset, b.workspace_offset);
  EXPECT_EQ(a.workspace_bytes, b.workspace_bytes);
  EXPECT_EQ(a.stream, b.stream);
  EXPECT_EQ(a.peer_stream, b.peer_stream);
  EXPECT_EQ(a.origin, b.origin);
  ASSERT_EQ(a.attrs.size(), b.attrs.size());
  for (std::size_t i = 0; i < a.attrs.size(); ++i) {
    EXPECT_EQ(a.attrs[i].name, b.attrs[i].name);
    EXPECT_EQ(a.attrs[i].kind, b.attrs[i].kind);
    EXPECT_EQ(a.attrs[i].i, b.attrs[i].i);
    EXPECT_EQ(a.attrs[i].f, b.attrs[i].f);
    EXPECT_EQ(std::signbit(a.attrs[i].f), std::signbit(b.attrs[i].f));
    EXPECT_EQ(a.attrs[i].s, b.attrs[i].s);
    EXPECT_EQ(a.attrs[i].ints, b.attrs[i].ints);
    EXPECT_EQ(a.attrs[i].floats, b.attrs[i].floats);
  }
}

TEST(RoundTrip, KeepsEverything) {
  const test::Sample s = everything();
  const std::byte code[5] = {std::byte{1}, std::byte{2}};
  const Blob image(code);
  const Result<std::vector<std::byte>> bytes = write(s.plan, s.blobs(), {&image, 1});
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  AlignedBytes aligned(*bytes);
  const Result<Contents> c = read(aligned.span());
  ASSERT_TRUE(c.ok()) << c.status().message();
  const Plan &a = s.plan, &b = c->plan;
  EXPECT_EQ(a.producer, b.producer);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.backend, b.backend);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.build_info, b.build_info);
  EXPECT_EQ(a.streams, b.streams);
  EXPECT_EQ(a.arena_bytes, b.arena_bytes);
  EXPECT_EQ(a.arena_lower_bound, b.arena_lower_bound);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) expect_equal(a.steps[i], b.steps[i]);
  ASSERT_EQ(a.bindings.size(), b.bindings.size());
  EXPECT_EQ(b.bindings[1].name, "n");
  EXPECT_TRUE(b.bindings[1].is_shape);
  EXPECT_EQ(b.bindings[2].dims, (std::vector<std::int64_t>{-1, 3}));
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  EXPECT_EQ(b.tensors[3].alias_of, 2);
  EXPECT_EQ(b.tensors[8].strides, (std::vector<std::int64_t>{16, 1}));
  ASSERT_EQ(b.symbols.size(), 1u);
  EXPECT_EQ(b.symbols[0].max, 8);
  ASSERT_EQ(b.shape_program.size(), 3u);
  EXPECT_EQ(b.shape_program[2].op, ShapeOp::mul);
  EXPECT_EQ(b.profiles[1].inputs[0].opt, (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(b.modules[0].fingerprint, "testkit 1.0");
  EXPECT_EQ(b.verification[0].covered, "whole model");
  EXPECT_TRUE(b.verification[0].passed);
  EXPECT_EQ(b.images[0].target, "sm_90");
  ASSERT_EQ(c->image(0).size(), 5u);
  EXPECT_EQ(c->image(0)[1], std::byte{2});
  EXPECT_EQ(c->constant(0).size(), 256u);
  EXPECT_EQ(std::memcmp(c->constant(0).data(), s.weights[0].data(), 256), 0);
  EXPECT_EQ(b.constants[0].hash, hash64(c->constant(0)));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(c->constant(0).data()) % kWeightAlignment, 0u);
}

TEST(RoundTrip, EqualPlansGiveEqualBytes) {
  EXPECT_EQ(*test::sample().write(), *test::sample().write());
}

TEST(RoundTrip, StoresEqualConstantsOnce) {
  test::Sample s = test::sample();
  s.weights.push_back(s.weights[0]);
  s.weights.emplace_back(100, 3.0f);
  s.plan.constants.push_back({"copy", DType::f32, 0, 256, 0});
  s.plan.constants.push_back({"other", DType::f32, 0, 400, 0});
  const auto bytes = s.write();
  ASSERT_TRUE(bytes.ok());
  AlignedBytes aligned(*bytes);
  const Result<Contents> c = read(aligned.span());
  ASSERT_TRUE(c.ok()) << c.status().message();
  EXPECT_EQ(c->plan.constants[1].offset, c->plan.constants[0].offset);
  EXPECT_EQ(c->plan.constants[2].offset, 256u);
  EXPECT_EQ(c->weights.size(), 656u);
}

TEST(RoundTrip, FileEqualsMemory) {
  const test::Sample s = test::sample();
  const std::string path =
      (std::filesystem::temp_directory_path() / "frit_round_trip.engine").string();
  ASSERT_TRUE(write_file(path.c_str(), s.plan, s.blobs()).ok());
  const Result<MappedFile> file = MappedFile::open(path.c_str());
  ASSERT_TRUE(file.ok());
  const auto memory = s.write();
  ASSERT_EQ(file->bytes().size(), memory->size());
  EXPECT_EQ(std::memcmp(file->bytes().data(), memory->data(), memory->size()), 0);
  std::filesystem::remove(path);
}

TEST(RoundTrip, WriterRefusesDataOfTheWrongSize) {
  test::Sample s = test::sample();
  s.weights[0].pop_back();
  EXPECT_EQ(s.write().status().code(), Code::internal);
  s.weights.clear();
  EXPECT_EQ(s.write().status().code(), Code::internal);
}

}  // namespace
}  // namespace frit::plan
