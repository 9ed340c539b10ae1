// SPDX-License-Identifier: Apache-2.0
// Runs an engine on zeros and times it:  example_run_engine ENGINE [RUNS]
// Needs the runtime alone. Every binding gets memory of the application; nothing is copied.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "frit/runtime.h"

namespace {

int report(const char* doing, const frit::RuntimeStatus& status) {
  std::fprintf(stderr, "%s: %s\n", doing, status.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 2 ? std::atoi(argv[2]) : 10;
  if (argc < 2 || runs < 1) {
    std::fprintf(stderr, "usage: %s ENGINE [RUNS]\n", argv[0]);
    return 2;
  }
  frit::RuntimeEngine engine;
  if (const auto status = engine.load(argv[1]); !status) return report("load", status);
  frit::RuntimeContext context;
  if (const auto status = context.create(engine); !status) return report("context", status);

  std::vector<std::vector<std::byte>> memory;
  for (int b = 0; b < engine.binding_count(); ++b) {
    const frit::BindingInfo info = engine.binding(b);
    std::printf("%s %s: %s[", info.is_input ? "input" : "output", info.name,
                frit_dtype_name(static_cast<std::int32_t>(info.dtype)));
    for (std::size_t d = 0; d < info.dims.size(); ++d)
      std::printf("%s%lld", d > 0 ? "," : "", static_cast<long long>(info.dims[d]));
    std::printf("], %llu bytes\n", static_cast<unsigned long long>(info.bytes));
    memory.emplace_back(info.bytes);
    if (const auto status = context.set_address(b, memory.back().data(), info.bytes); !status)
      return report(info.name, status);
  }

  // The first run warms the caches up.
  if (const auto status = context.enqueue(); !status) return report("run", status);
  const auto start = std::chrono::steady_clock::now();
  for (int r = 0; r < runs; ++r)
    if (const auto status = context.enqueue(); !status) return report("run", status);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::printf("%d runs, %.3f ms each\n", runs, took.count() / runs);
  return 0;
}
