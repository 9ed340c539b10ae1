// SPDX-License-Identifier: Apache-2.0
// The C ABI through its C++ wrapper, and what the wrapper hides.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstddef>
#include <filesystem>

#include "frit/runtime.h"
#include "tests/support/sample_plan.h"

namespace frit {
namespace {

class CApi : public ::testing::Test {
 protected:
  CApi()
      : path_((std::filesystem::temp_directory_path() /
               ("frit_c_api_" + std::to_string(::getpid()) + ".engine"))
                  .string()) {
    const test::Sample s = test::sample();
    EXPECT_TRUE(plan::write_file(path_.c_str(), s.plan, s.blobs()).ok());
    options_.cpu_threads = 2;
    options_.module_dir = FRIT_TEST_MODULES;
  }
  ~CApi() override { std::filesystem::remove(path_); }

  std::string path_;
  RuntimeEngine::Options options_;
};

TEST_F(CApi, LoadsRunsAndDescribes) {
  RuntimeEngine engine;
  const RuntimeStatus loaded = engine.load(path_.c_str(), options_);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  const frit_engine_info info = engine.info();
  EXPECT_STREQ(info.name, "sample");
  EXPECT_STREQ(info.backend, "cpu");
  EXPECT_EQ(info.step_count, 3);
  EXPECT_EQ(info.cpu_threads, 2);
  EXPECT_EQ(info.weights_bytes, 256u);
  EXPECT_EQ(info.arena_bytes, 1024u);
  ASSERT_EQ(engine.binding_count(), 2);
  const BindingInfo x = engine.binding(engine.find_binding("x"));
  EXPECT_TRUE(x.is_input);
  EXPECT_EQ(x.dtype, DType::f32);
  EXPECT_EQ(std::vector<std::int64_t>(x.dims.begin(), x.dims.end()),
            (std::vector<std::int64_t>{4, 16}));
  EXPECT_EQ(x.bytes, 256u);
  EXPECT_EQ(engine.find_binding("nothing"), -1);
  EXPECT_STREQ(engine.step(0).kernel, "testkit.add");
  ASSERT_EQ(engine.step(0).origin_count, 1);
  EXPECT_STREQ(engine.step(0).origins[0], "/onnx/add_w");
  frit_verification_info v = {};
  v.size = sizeof v;
  ASSERT_EQ(frit_engine_get_verification(engine.handle(), 0, &v), FRIT_OK);
  EXPECT_STREQ(v.covered, "whole model");

  RuntimeContext context;
  ASSERT_TRUE(context.create(engine, true).ok());
  engine = RuntimeEngine();
  std::vector<float> in(64, 1.0f), out(64);
  ASSERT_TRUE(context.set_address(0, std::span<const float>(in).data(), 256).ok());
  ASSERT_TRUE(context.set_address(1, std::span<float>(out)).ok());
  ASSERT_TRUE(context.enqueue().ok());
  ASSERT_TRUE(context.synchronize().ok());
  EXPECT_EQ(out[63], 2 * (1.0f + 64.0f));
  ASSERT_EQ(context.profile().size(), 3u);
  EXPECT_EQ(context.profile()[2].calls, 1u);
  EXPECT_EQ(context.shape(1).size(), 1u);
}

TEST_F(CApi, ProfilesHaveRanges) {
  RuntimeEngine engine;
  ASSERT_TRUE(engine.load(path_.c_str(), options_).ok());
  const std::int64_t* dims = nullptr;
  std::int32_t rank = 0;
  ASSERT_EQ(frit_engine_get_profile(engine.handle(), 0, 0, 2, &dims, &rank), FRIT_OK);
  ASSERT_EQ(rank, 2);
  EXPECT_EQ(dims[1], 16);
  EXPECT_EQ(frit_engine_get_profile(engine.handle(), 0, 1, 0, &dims, &rank), FRIT_NOT_FOUND);
  EXPECT_EQ(frit_engine_get_profile(engine.handle(), 1, 0, 0, &dims, &rank), FRIT_INVALID_ARGUMENT);
  EXPECT_EQ(frit_engine_get_profile(engine.handle(), 0, 0, 3, &dims, &rank), FRIT_INVALID_ARGUMENT);
}

TEST_F(CApi, ErrorsHaveCodeAndMessage) {
  RuntimeEngine engine;
  const RuntimeStatus missing = engine.load("/no/such.engine", options_);
  EXPECT_EQ(missing.code(), Code::not_found);
  EXPECT_NE(missing.message().find("/no/such.engine"), std::string::npos);
  frit_engine* handle = nullptr;
  EXPECT_EQ(frit_engine_load_file(nullptr, nullptr, &handle), FRIT_INVALID_ARGUMENT);
  EXPECT_EQ(frit_engine_load_file(path_.c_str(), nullptr, nullptr), FRIT_INVALID_ARGUMENT);
  EXPECT_EQ(frit_engine_load_memory("short", 5, nullptr, &handle), FRIT_INVALID_ENGINE);
  EXPECT_EQ(handle, nullptr);
  EXPECT_STREQ(frit_status_name(FRIT_INVALID_ENGINE), "invalid_engine");
  EXPECT_EQ(frit_context_create(nullptr, nullptr, nullptr), FRIT_INVALID_ARGUMENT);
  EXPECT_EQ(frit_context_enqueue(nullptr, nullptr), FRIT_INVALID_ARGUMENT);
  frit_engine_destroy(nullptr);
  frit_context_destroy(nullptr);
  EXPECT_EQ(frit_engine_find_binding(nullptr, "x"), -1);
}

TEST_F(CApi, StructsOfOlderVersionsWork) {
  RuntimeEngine engine;
  ASSERT_TRUE(engine.load(path_.c_str(), options_).ok());
  frit_engine_info info = {};
  info.size = offsetof(frit_engine_info, target);
  ASSERT_EQ(frit_engine_get_info(engine.handle(), &info), FRIT_OK);
  EXPECT_STREQ(info.backend, "cpu");
  EXPECT_EQ(info.target, nullptr);
  info.size = 0;
  EXPECT_EQ(frit_engine_get_info(engine.handle(), &info), FRIT_INVALID_ARGUMENT);
  frit_binding_info binding = {};
  binding.size = sizeof binding;
  EXPECT_EQ(frit_engine_get_binding(engine.handle(), 2, &binding), FRIT_INVALID_ARGUMENT);
  EXPECT_EQ(frit_engine_get_binding(engine.handle(), -1, &binding), FRIT_INVALID_ARGUMENT);
}

TEST_F(CApi, LogReachesTheCallback) {
  std::vector<std::string> lines;
  frit_set_log([](void* user, std::int32_t,
                  const char* m) { static_cast<std::vector<std::string>*>(user)->push_back(m); },
               &lines, FRIT_LOG_INFO);
  RuntimeEngine engine;
  ASSERT_TRUE(engine.load(path_.c_str(), options_).ok());
  frit_set_log(nullptr, nullptr, FRIT_LOG_WARNING);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines[0].find("testkit"), std::string::npos);
}

TEST(Library, Names) {
  EXPECT_STREQ(frit_dtype_name(1), "f32");
  EXPECT_EQ(frit_dtype_bits(22), 4);
  EXPECT_STREQ(frit_dtype_name(-5), "undefined");
  EXPECT_GE(std::string(frit_version()).size(), 5u);
}

}  // namespace
}  // namespace frit
