// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include <gtest/gtest.h>

#include <thread>

#include "runtime/context.h"
#include "tests/support/sample_plan.h"

namespace frit::runtime {
namespace {

using plan::Location;
using test::kernel_step;

using EngineResult = Result<std::shared_ptr<const Engine>>;

EngineResult load(const test::Sample& sample, int threads = 2,
                  const char* modules = FRIT_TEST_MODULES) {
  const auto bytes = sample.write();
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  EngineOptions options;
  options.cpu_threads = threads;
  options.module_dir = modules;
  return Engine::load_memory(*bytes, options);
}

std::unique_ptr<Context> context(const std::shared_ptr<const Engine>& engine,
                                 const ContextOptions& options = {}) {
  auto c = Context::create(engine, options);
  EXPECT_TRUE(c.ok()) << c.status().message();
  return std::move(*c);
}

bool says(const Status& s, const char* part) {
  return std::string_view(s.message()).find(part) != std::string_view::npos;
}

// x + w, doubled.
void expect_sample_result(std::span<const float> x, std::span<const float> y) {
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(y[i], 2 * (x[i] + static_cast<float>(i + 1))) << i;
}

TEST(Engine, RunsTheSample) {
  for (const int threads : {1, 2, 5}) {
    const EngineResult engine = load(test::sample(), threads);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    EXPECT_EQ((*engine)->threads(), threads);
    const auto c = context(*engine);
    std::vector<float> x(64), y(64);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i) * 0.5f + round;
      ASSERT_TRUE(c->set_address(0, x.data(), 256).ok());
      ASSERT_TRUE(c->set_address(1, y.data(), 256).ok());
      const Status s = c->enqueue(nullptr);
      ASSERT_TRUE(s.ok()) << s.message();
      expect_sample_result(x, y);
    }
  }
}

TEST(Engine, CopiesOrBorrowsItsImage) {
  const auto bytes = test::sample().write();
  ASSERT_TRUE(bytes.ok());
  EngineOptions options;
  options.cpu_threads = 1;
  options.module_dir = FRIT_TEST_MODULES;
  test::AlignedBytes image(*bytes);
  for (const bool borrow : {true, false}) {
    options.borrow_memory = borrow;
    const EngineResult engine = Engine::load_memory(image.span(), options);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    const std::byte* const weights = (*engine)->contents().weights.data();
    const bool inside = weights >= image.data() && weights < image.data() + image.span().size();
    EXPECT_EQ(inside, borrow);
    if (!borrow) std::fill(image.span().begin(), image.span().end(), std::byte{0});
    const auto c = context(*engine);
    std::vector<float> x(64, 1.0f), y(64);
    ASSERT_TRUE(c->set_address(0, x.data(), 256).ok());
    ASSERT_TRUE(c->set_address(1, y.data(), 256).ok());
    ASSERT_TRUE(c->enqueue(nullptr).ok());
    expect_sample_result(x, y);
  }
  options.borrow_memory = true;
  EXPECT_EQ(Engine::load_memory(image.span().subspan(1), options).status().code(),
            Code::invalid_argument);
}

TEST(Engine, UnalignedAddressesAreStaged) {
  const EngineResult engine = load(test::sample());
  ASSERT_TRUE(engine.ok());
  const auto c = context(*engine);
  std::vector<char> x(260), y(260);
  std::vector<float> in(64, 3.0f), out(64);
  std::memcpy(x.data() + 1, in.data(), 256);
  ASSERT_TRUE(c->set_address(0, x.data() + 1, 256).ok());
  ASSERT_TRUE(c->set_address(1, y.data() + 3, 256).ok());
  ASSERT_TRUE(c->enqueue(nullptr).ok());
  std::memcpy(out.data(), y.data() + 3, 256);
  expect_sample_result(in, out);
  // Back to memory that can be used in place.
  ASSERT_TRUE(c->set_address(1, out.data(), 256).ok());
  std::fill(out.begin(), out.end(), 0.0f);
  ASSERT_TRUE(c->enqueue(nullptr).ok());
  expect_sample_result(in, out);
}

TEST(Engine, ManyContextsOnManyThreads) {
  const EngineResult engine = load(test::sample(), 3);
  ASSERT_TRUE(engine.ok());
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      const auto c = context(*engine);
      std::vector<float> x(64, static_cast<float>(t)), y(64);
      if (!c->set_address(0, x.data(), 256).ok() || !c->set_address(1, y.data(), 256).ok()) ++wrong;
      for (int round = 0; round < 200; ++round) {
        std::fill(y.begin(), y.end(), -1.0f);
        if (!c->enqueue(nullptr).ok()) ++wrong;
        for (std::size_t i = 0; i < 64; ++i)
          if (y[i] != 2 * (static_cast<float>(t) + static_cast<float>(i + 1))) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Engine, ContextsMayShareMemory) {
  const EngineResult engine = load(test::sample());
  ASSERT_TRUE(engine.ok());
  Result<HostBuffer> memory = HostBuffer::allocate((*engine)->context_bytes(), "test");
  ASSERT_TRUE(memory.ok());
  ContextOptions options;
  options.memory = memory->data();
  options.memory_bytes = memory->size();
  const auto a = context(*engine, options), b = context(*engine, options);
  std::vector<float> xa(64, 1.0f), xb(64, 2.0f), ya(64), yb(64);
  for (const auto& [c, x, y] :
       {std::tuple(a.get(), xa.data(), ya.data()), std::tuple(b.get(), xb.data(), yb.data())}) {
    ASSERT_TRUE(c->set_address(0, x, 256).ok());
    ASSERT_TRUE(c->set_address(1, y, 256).ok());
    ASSERT_TRUE(c->enqueue(nullptr).ok());
  }
  expect_sample_result(xa, ya);
  expect_sample_result(xb, yb);
  options.memory_bytes -= 1;
  EXPECT_EQ(Context::create(*engine, options).status().code(), Code::invalid_argument);
}

TEST(Engine, RefusesBadCalls) {
  const EngineResult engine = load(test::sample());
  ASSERT_TRUE(engine.ok());
  const auto c = context(*engine);
  std::vector<float> x(64);
  EXPECT_TRUE(says(c->enqueue(nullptr), "'x' has no memory"));
  EXPECT_EQ(c->set_address(2, x.data(), 256).code(), Code::invalid_argument);
  EXPECT_EQ(c->set_address(-1, x.data(), 256).code(), Code::invalid_argument);
  EXPECT_TRUE(says(c->set_address(0, x.data(), 255), "256 bytes"));
  EXPECT_EQ(c->set_address(0, nullptr, 256).code(), Code::invalid_argument);
  ASSERT_TRUE(c->set_address(0, x.data(), 256).ok());
  EXPECT_TRUE(says(c->enqueue(nullptr), "'y' has no memory"));
  EXPECT_EQ(c->enqueue(x.data()).code(), Code::invalid_argument);
  const std::int64_t good[] = {4, 16}, bad[] = {4, 17};
  EXPECT_TRUE(c->set_input_shape(0, good).ok());
  const Status s = c->set_input_shape(0, bad);
  EXPECT_EQ(s.code(), Code::shape_mismatch);
  EXPECT_TRUE(says(s, "[4, 16], found [4, 17]"));
  EXPECT_EQ(c->set_input_shape(1, good).code(), Code::invalid_argument);
  ContextOptions options;
  options.profile = 1;
  EXPECT_EQ(Context::create(*engine, options).status().code(), Code::invalid_argument);
}

TEST(Engine, StepErrorsNameTheNode) {
  test::Sample sample = test::sample();
  sample.plan.tensors.push_back(test::f32_tensor({1}, Location::arena, plan::kNone, 768));
  sample.plan.steps.insert(sample.plan.steps.begin(),
                           kernel_step("check", "testkit", "testkit.guard", {0}, {6}));
  const EngineResult engine = load(sample);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const auto c = context(*engine);
  std::vector<float> x(64, -1.0f), y(64);
  ASSERT_TRUE(c->set_address(0, x.data(), 256).ok());
  ASSERT_TRUE(c->set_address(1, y.data(), 256).ok());
  const Status s = c->enqueue(nullptr);
  EXPECT_EQ(s.code(), Code::execution_failed);
  EXPECT_STREQ(s.message(),
               "step 'check' (testkit.guard, ONNX node '/onnx/check'): expected a value >= 0, "
               "found a negative one");
  x[0] = 1;
  EXPECT_TRUE(c->enqueue(nullptr).ok());
}

TEST(Engine, ProfilesSteps) {
  const EngineResult engine = load(test::sample());
  ASSERT_TRUE(engine.ok());
  ContextOptions options;
  options.profile_steps = true;
  const auto c = context(*engine, options);
  std::vector<float> x(64), y(64);
  ASSERT_TRUE(c->set_address(0, x.data(), 256).ok());
  ASSERT_TRUE(c->set_address(1, y.data(), 256).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(c->enqueue(nullptr).ok());
  ASSERT_EQ(c->times().size(), 3u);
  for (const cpu::StepTime& t : c->times()) {
    EXPECT_EQ(t.calls, 3u);
    EXPECT_GE(t.total_ns, t.last_ns);
  }
  c->reset_times();
  EXPECT_EQ(c->times()[0].calls, 0u);
  EXPECT_TRUE(context(*engine)->times().empty());
}

TEST(Engine, RefusesWhatItCannotRun) {
  test::Sample s = test::sample();
  s.plan.backend = "cuda";
  EXPECT_TRUE(says(load(s).status(), "--backend=cpu"));
  s = test::sample();
  s.plan.steps[0].kernel = "testkit.none";
  EXPECT_TRUE(says(load(s).status(), "expected kernel 'testkit.none' in module testkit"));
  s = test::sample();
  s.plan.steps[0].module = "";
  EXPECT_TRUE(says(load(s).status(), "in this runtime"));
  s = test::sample();
  s.plan.steps[1].attrs = {
      {"refuse", plan::Attr::Kind::text, 0, 0, "packed for other CPUs", {}, {}}};
  const EngineResult refused = load(s);
  EXPECT_EQ(refused.status().code(), Code::unsupported);
  EXPECT_TRUE(says(refused.status(), "step 'twice'"));
  EXPECT_TRUE(says(refused.status(), "packed for other CPUs"));
}

TEST(Engine, ModulesMustBeThereAndMatch) {
  const EngineResult missing = load(test::sample(), 1, "/nonexistent");
  EXPECT_EQ(missing.status().code(), Code::not_found);
  EXPECT_TRUE(says(missing.status(), "libfrit_testkit.so in '/nonexistent'"));
  const EngineResult beside = load(test::sample(), 1, nullptr);
  EXPECT_EQ(beside.status().code(), Code::not_found);
  const EngineResult old = load(test::sample(), 1, FRIT_TEST_MODULES "_old");
  EXPECT_EQ(old.status().code(), Code::unsupported);
  EXPECT_TRUE(says(old.status(), "built with 'testkit 1.0' (ABI 1), found 'testkit 0.9'"));
  test::Sample s = test::sample();
  s.plan.modules[0].abi_version = 99;
  EXPECT_EQ(load(s).status().code(), Code::unsupported);
}

// The number of prepared states alive in the module.
float alive() {
  test::Sample s = test::sample();
  s.plan.tensors.push_back(test::f32_tensor({1}, Location::arena, plan::kNone, 768));
  s.plan.tensors.push_back(test::f32_tensor({1}, Location::binding, 2, 0));
  s.plan.bindings.push_back({"alive", DType::f32, {1}, false, false, 7});
  s.plan.steps = {kernel_step("count", "testkit", "testkit.alive", {}, {7}),
                  kernel_step("guard", "testkit", "testkit.guard", {0}, {6}), s.plan.steps[2]};
  s.plan.steps[2].inputs = {0};
  s.plan.tensors[0].dims = s.plan.bindings[0].dims = {64};
  s.plan.profiles.clear();
  const EngineResult engine = load(s, 1);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  const auto c = context(*engine);
  std::vector<float> x(64), y(64), count(1, -1.0f);
  EXPECT_TRUE(c->set_address(0, x.data(), 256).ok());
  EXPECT_TRUE(c->set_address(1, y.data(), 256).ok());
  EXPECT_TRUE(c->set_address(2, count.data(), 4).ok());
  EXPECT_TRUE(c->enqueue(nullptr).ok());
  return count[0];
}

TEST(Engine, DestroysWhatItPrepared) {
  ASSERT_EQ(alive(), 0.0f);
  {
    const EngineResult engine = load(test::sample());
    EXPECT_EQ(alive(), 2.0f);
    // A context keeps the engine.
    auto c = context(*engine);
    const EngineResult moved = std::move(engine);
    EXPECT_EQ(alive(), 2.0f);
  }
  EXPECT_EQ(alive(), 0.0f);
  test::Sample s = test::sample();
  s.plan.steps[1].attrs = {{"refuse", plan::Attr::Kind::text, 0, 0, "no", {}, {}}};
  EXPECT_FALSE(load(s).ok());
  EXPECT_EQ(alive(), 0.0f);
}

}  // namespace
}  // namespace frit::runtime
