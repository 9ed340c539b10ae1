// SPDX-License-Identifier: Apache-2.0
// A module for tests: a parallel add that needs workspace, a kernel that fails when asked to, and
// counters of prepared and destroyed states.
#include <atomic>
#include <cstring>
#include <string_view>

#include "runtime/module.h"

#ifndef FRIT_TESTKIT_FINGERPRINT
#define FRIT_TESTKIT_FINGERPRINT "testkit 1.0"
#endif

namespace {

using frit::kernels::PrepareArgs;
using frit::kernels::RunArgs;

std::atomic<int> g_alive{0};

struct State {
  std::int64_t count;
  int threads;
};

const char* prepare_add(void* state, PrepareArgs& args) {
  if (args.in.size() != 2 || args.out.size() != 1) return "expected two operands and one result";
  if (const auto* a = args.find("refuse")) return a->s;
  std::int64_t count = 1;
  for (const std::int64_t d : args.out[0].shape()) count *= d;
  *static_cast<State*>(state) = {count, args.threads};
  args.workspace = static_cast<std::uint64_t>(args.threads) * 64;
  ++g_alive;
  return nullptr;
}

// Writes its sum by way of the workspace of each worker, so that a wrong workspace shows.
const char* run_add(const void* state, const RunArgs& args) {
  const auto& s = *static_cast<const State*>(state);
  const auto* a = static_cast<const float*>(args.in[0]);
  const auto* b = static_cast<const float*>(args.in[1]);
  auto* y = static_cast<float*>(args.out[0]);
  auto* scratch = static_cast<float*>(args.workspace);
  args.parallel(s.count, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    for (std::int64_t i = begin; i < end; ++i) {
      scratch[worker * 16] = a[i];
      y[i] = scratch[worker * 16] + b[i];
    }
  });
  return nullptr;
}

void destroy_add(void*) {
  --g_alive;
}

const char* prepare_guard(void*, PrepareArgs&) {
  return nullptr;
}

const char* run_guard(const void*, const RunArgs& args) {
  const auto* x = static_cast<const float*>(args.in[0]);
  if (x[0] < 0) return "expected a value >= 0, found a negative one";
  std::memcpy(args.out[0], x, sizeof(float));
  return nullptr;
}

// y = x > 0, as a bool.
const char* run_positive(const void*, const RunArgs& args) {
  float x;
  std::memcpy(&x, args.in[0], sizeof x);
  *static_cast<bool*>(args.out[0]) = x > 0;
  return nullptr;
}

// Reports how many states are alive, as a float.
const char* run_alive(const void*, const RunArgs& args) {
  const float alive = static_cast<float>(g_alive.load());
  std::memcpy(args.out[0], &alive, sizeof alive);
  return nullptr;
}

constexpr frit::kernels::Kernel kKernels[] = {
    {"testkit.add", sizeof(State), prepare_add, run_add, destroy_add},
    {"testkit.guard", 0, prepare_guard, run_guard, nullptr},
    {"testkit.positive", 0, nullptr, run_positive, nullptr},
    {"testkit.alive", 0, nullptr, run_alive, nullptr},
};

const frit::runtime::Module* module() {
  static const frit::runtime::Module m = [] {
    frit::runtime::Module out;
    out.name = "testkit";
    out.fingerprint = FRIT_TESTKIT_FINGERPRINT;
    out.kernels = kKernels;
    out.kernel_count = sizeof kKernels / sizeof kKernels[0];
    return out;
  }();
  return &m;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const frit::runtime::Module* frit_module_v1() {
  return module();
}
