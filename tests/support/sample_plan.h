// SPDX-License-Identifier: Apache-2.0
// A small plan that uses most of what a plan can say, for tests of the format and the runtime.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "plan/plan.h"

namespace frit::test {

/// Bytes at an address aligned for plan::read.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const std::byte> bytes)
      : storage_(bytes.size() / sizeof(Line) + 1), size_(bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), data());
  }
  std::byte* data() { return storage_.data()->bytes; }
  std::span<std::byte> span() { return {data(), size_}; }
  std::span<const std::byte> first(std::size_t n) { return {data(), n}; }

 private:
  struct alignas(plan::kWeightAlignment) Line {
    std::byte bytes[plan::kWeightAlignment];
  };
  std::vector<Line> storage_;
  std::size_t size_;
};

/// A plan with the data of its constants.
struct Sample {
  plan::Plan plan;
  std::vector<std::vector<float>> weights;

  std::vector<plan::Blob> blobs() const {
    std::vector<plan::Blob> out;
    for (const auto& w : weights) out.push_back(std::as_bytes(std::span(w)));
    return out;
  }
  Result<std::vector<std::byte>> write() const { return plan::write(plan, blobs()); }
};

inline plan::Tensor f32_tensor(std::vector<std::int64_t> dims, plan::Location location,
                               std::int32_t index, std::uint64_t offset) {
  plan::Tensor t;
  t.dtype = DType::f32;
  t.dims = std::move(dims);
  t.location = location;
  t.index = index;
  t.offset = offset;
  t.bytes = 4;
  for (const std::int64_t d : t.dims) t.bytes *= static_cast<std::uint64_t>(d);
  return t;
}

inline plan::Step kernel_step(const char* name, const char* module, const char* kernel,
                              std::vector<std::int32_t> inputs, std::vector<std::int32_t> outputs) {
  plan::Step s;
  s.name = name;
  s.module = module;
  s.kernel = kernel;
  s.inputs = std::move(inputs);
  s.outputs = std::move(outputs);
  s.origin = {std::string("/onnx/") + name};
  return s;
}

/// y[64] = 2 (x + w) for x, w [4, 16], in three steps with a reshape, a copy and workspace; its
/// kernels are those of tests/runtime/testkit.cpp.
inline Sample sample() {
  Sample s;
  s.weights.emplace_back(64);
  std::iota(s.weights[0].begin(), s.weights[0].end(), 1.0f);
  plan::Plan& p = s.plan;
  p.producer = "frit tests";
  p.name = "sample";
  p.target = "any";
  p.build_info = "options: none";
  p.constants = {{"w", DType::f32, 0, 256, 0}};
  p.modules = {{"testkit", 1, "testkit 1.0"}};
  p.arena_bytes = 1024;
  p.arena_lower_bound = 512;
  using plan::Location;
  p.tensors = {f32_tensor({4, 16}, Location::binding, 0, 0),
               f32_tensor({4, 16}, Location::constant, 0, 0),
               f32_tensor({4, 16}, Location::arena, plan::kNone, 0),
               f32_tensor({64}, Location::arena, plan::kNone, 0),
               f32_tensor({64}, Location::arena, plan::kNone, 256),
               f32_tensor({64}, Location::binding, 1, 0)};
  p.tensors[3].alias_of = 2;
  p.bindings = {{"x", DType::f32, {4, 16}, true, false, 0},
                {"y", DType::f32, {64}, false, false, 5}};
  p.profiles = {{"default", {{0, {4, 16}, {4, 16}, {4, 16}}}}};
  p.steps = {kernel_step("add_w", "testkit", "testkit.add", {0, 1}, {2}),
             kernel_step("twice", "testkit", "testkit.add", {3, 3}, {4}),
             kernel_step("out", "", "", {4}, {5})};
  p.steps[0].workspace_offset = 512;
  p.steps[0].workspace_bytes = 256;
  plan::Attr attr;
  attr.name = "scale";
  attr.kind = plan::Attr::Kind::real;
  attr.f = 1.0;
  p.steps[0].attrs = {attr};
  p.steps[2].kind = plan::StepKind::copy;
  p.verification = {{"y", 1e-7, 1e-6, 1e-4, 1e-4, true, "whole model"}};
  return s;
}

}  // namespace frit::test
