// SPDX-License-Identifier: Apache-2.0
// The module's table: kernels, packing, and the OpenMP pool that oneDNN and our loops share.
#include "runtime/module.h"

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/modules/onednn/kernels.h"

namespace frit::onednn {
namespace {

void run_parallel(void* pool, std::int64_t n, std::int64_t grain, kernels::Parallel::Body body,
                  void* arg) {
  const auto threads = static_cast<int>(reinterpret_cast<std::intptr_t>(pool));
  const std::int64_t parts = std::min<std::int64_t>(
      threads, (n + std::max<std::int64_t>(grain, 1) - 1) / std::max<std::int64_t>(grain, 1));
  if (parts <= 1) {
    if (n > 0) body(arg, 0, n, 0);
    return;
  }
#pragma omp parallel num_threads(static_cast <int>(parts))
  {
    const std::int64_t part = omp_get_thread_num(), count = omp_get_num_threads();
    const std::int64_t begin = n * part / count, end = n * (part + 1) / count;
    if (begin < end) body(arg, begin, end, static_cast<int>(part));
  }
}

kernels::Parallel make_parallel(int threads) {
  return {.pool = reinterpret_cast<void*>(static_cast<std::intptr_t>(threads)),
          .threads = threads,
          .run = run_parallel};
}

void thread_begin(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

// Layouts of operand 1, or false when the kernel does not pack this operand.
bool layouts(const runtime::PackRequest& request, dnnl::memory::desc& wanted,
             dnnl::memory::desc& given) {
  const std::string_view kernel = request.kernel;
  if (request.operand != 1) return false;
  if (kernel == conv_kernel.name)
    wanted = packed_conv(request, given);
  else if (kernel == conv_transpose_kernel.name)
    wanted = packed_conv_transpose(request, given);
  else if (kernel == matmul_kernel.name)
    wanted = packed_matmul(request, given);
  else
    return false;
  return wanted != given;
}

const char* with_layouts(
    const runtime::PackRequest& request,
    const std::function<void(const dnnl::memory::desc&, const dnnl::memory::desc&)>& body) {
  PrepareArgs args;
  args.threads = request.threads;
  args.message = request.message;
  return guarded(args, [&] {
    dnnl::memory::desc wanted, given;
    if (layouts(request, wanted, given)) body(wanted, given);
  });
}

const char* pack_query(const runtime::PackRequest& request, runtime::PackAnswer& answer) {
  answer = {};
  return with_layouts(request, [&](const dnnl::memory::desc& wanted, const dnnl::memory::desc&) {
    const std::string format = format_text(wanted);
    if (format.size() >= sizeof answer.format) return;
    answer.bytes = wanted.get_size();
    std::memcpy(answer.format, format.c_str(), format.size() + 1);
  });
}

const char* pack(const runtime::PackRequest& request, void* packed) {
  return with_layouts(
      request, [&](const dnnl::memory::desc& wanted, const dnnl::memory::desc& given) {
        // Padding inside the layout is part of the engine's bytes: keep it defined.
        std::memset(packed, 0, wanted.get_size());
        const void* data = request.in[static_cast<std::size_t>(request.operand)].constant;
        dnnl::memory from(given, cpu_engine(), const_cast<void*>(data));
        dnnl::memory to(wanted, cpu_engine(), packed);
        dnnl::stream stream(cpu_engine());
        dnnl::reorder(from, to).execute(stream, from, to);
        stream.wait();
      });
}

const char* fingerprint() {
  static char text[64];
  const dnnl_version_t* v = dnnl_version();
  std::snprintf(text, sizeof text, "oneDNN %d.%d.%d isa %d", v->major, v->minor, v->patch,
                static_cast<int>(dnnl_get_effective_cpu_isa()));
  return text;
}

}  // namespace
}  // namespace frit::onednn

extern "C" __attribute__((visibility("default"))) const frit::runtime::Module* frit_module_v1() {
  using namespace frit::onednn;
  static const frit::kernels::Kernel kernels[] = {conv_kernel, conv_transpose_kernel, matmul_kernel,
                                                  pool_kernel};
  static const frit::runtime::Module module = {.abi_version = frit::runtime::kModuleAbi,
                                               .name = "onednn",
                                               .fingerprint = fingerprint(),
                                               .kernels = kernels,
                                               .kernel_count = std::size(kernels),
                                               .make_parallel = make_parallel,
                                               .thread_begin = thread_begin,
                                               .pack_query = pack_query,
                                               .pack = pack};
  return &module;
}
