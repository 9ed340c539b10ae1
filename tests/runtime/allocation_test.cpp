// SPDX-License-Identifier: Apache-2.0
// Counts every allocation and mutex lock of the process while an engine runs.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "base/log.h"
#include "frit/runtime_c.h"
#include "tests/support/sample_plan.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

std::atomic<long> g_allocations{0};
std::atomic<long> g_locks{0};

}  // namespace

// glibc's own entry points, which the definitions below stand in front of.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t n) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(n);
}
void* calloc(std::size_t n, std::size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(n, size);
}
void* realloc(void* p, std::size_t n) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(p, n);
}
void* aligned_alloc(std::size_t alignment, std::size_t n) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, n);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t n) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  *out = __libc_memalign(alignment, n);
  return *out == nullptr ? ENOMEM : 0;
}
int pthread_mutex_lock(pthread_mutex_t* m) {
  using Lock = int (*)(pthread_mutex_t*);
  static Lock real = nullptr;
  if (real == nullptr) real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  g_locks.fetch_add(1, std::memory_order_relaxed);
  return real(m);
}
}

namespace frit {
namespace {

TEST(Counters, SeeTheWholeProcess) {
  const long allocations = g_allocations, locks = g_locks;
  log(LogLevel::error, "a line that takes the lock of the log");
  const std::vector<float> v(1000, 1.0f);
  EXPECT_EQ(v[999], 1.0f);
  EXPECT_GT(g_allocations, allocations);
  EXPECT_GT(g_locks, locks);
}

TEST(Enqueue, NeitherAllocatesNorLocks) {
  const auto bytes = test::sample().write();
  ASSERT_TRUE(bytes.ok());
  for (const std::int32_t threads : {1, 2, 4}) {
    for (const std::int32_t profile : {0, 1}) {
      frit_engine_options o = {};
      o.size = sizeof o;
      o.cpu_threads = threads;
      o.module_dir = FRIT_TEST_MODULES;
      frit_engine* engine = nullptr;
      ASSERT_EQ(frit_engine_load_memory(bytes->data(), bytes->size(), &o, &engine), FRIT_OK)
          << frit_last_error();
      frit_context_options co = {};
      co.size = sizeof co;
      co.profile_steps = profile;
      frit_context* context = nullptr;
      ASSERT_EQ(frit_context_create(engine, &co, &context), FRIT_OK);
      std::vector<float> x(65), y(64);
      ASSERT_EQ(frit_context_set_address(context, 1, y.data(), 256), FRIT_OK);
      // An unaligned address too: its buffer must exist before the run.
      ASSERT_EQ(frit_context_set_address(context, 0, reinterpret_cast<char*>(x.data()) + 1, 256),
                FRIT_OK);
      const long allocations = g_allocations, locks = g_locks;
      ASSERT_GT(allocations, 0);
      frit_status status = FRIT_OK;
      for (int i = 0; i < 50 && status == FRIT_OK; ++i)
        status = frit_context_enqueue(context, nullptr);
      EXPECT_EQ(g_allocations - allocations, 0);
      EXPECT_EQ(g_locks - locks, 0);
      EXPECT_EQ(status, FRIT_OK);
      frit_context_destroy(context);
      frit_engine_destroy(engine);
    }
  }
}

TEST(Enqueue, ErrorsDoNotAllocateEither) {
  test::Sample sample = test::sample();
  sample.plan.tensors.push_back(test::f32_tensor({1}, plan::Location::arena, plan::kNone, 768));
  sample.plan.steps.push_back(test::kernel_step("check", "testkit", "testkit.guard", {0}, {6}));
  const auto bytes = sample.write();
  ASSERT_TRUE(bytes.ok());
  frit_engine_options o = {};
  o.size = sizeof o;
  o.cpu_threads = 1;
  o.module_dir = FRIT_TEST_MODULES;
  frit_engine* engine = nullptr;
  ASSERT_EQ(frit_engine_load_memory(bytes->data(), bytes->size(), &o, &engine), FRIT_OK);
  frit_context* context = nullptr;
  ASSERT_EQ(frit_context_create(engine, nullptr, &context), FRIT_OK);
  std::vector<float> x(64, -1.0f), y(64);
  const long unbound = g_allocations;
  EXPECT_EQ(frit_context_enqueue(context, nullptr), FRIT_INVALID_ARGUMENT);
  EXPECT_EQ(g_allocations - unbound, 0);
  ASSERT_EQ(frit_context_set_address(context, 0, x.data(), 256), FRIT_OK);
  ASSERT_EQ(frit_context_set_address(context, 1, y.data(), 256), FRIT_OK);
  const long before = g_allocations;
  const frit_status status = frit_context_enqueue(context, nullptr);
  EXPECT_EQ(g_allocations - before, 0);
  EXPECT_EQ(status, FRIT_EXECUTION_FAILED);
  EXPECT_NE(std::string(frit_last_error()).find("/onnx/check"), std::string::npos);
  frit_engine_destroy(engine);  // the context keeps what it needs
  EXPECT_EQ(frit_context_enqueue(context, nullptr), FRIT_EXECUTION_FAILED);
  frit_context_destroy(context);
}

}  // namespace
}  // namespace frit

#endif
