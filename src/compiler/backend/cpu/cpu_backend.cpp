// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/cpu/cpu_backend.h"

#include <algorithm>
#include <map>

#include "compiler/backend/cpu/kernel_tactic.h"
#include "compiler/error.h"
#include "compiler/ops/schema.h"
#include "runtime/module_loader.h"

namespace frit::backend {
namespace {

struct Row {
  const char* op;
  const char* source;
  const char* kernel;
};

constexpr Row kRows[] = {
#define FRIT_TACTIC(op, source, kernel) {#op, source, kernel},
#include "compiler/backend/cpu/tactics.def"
#undef FRIT_TACTIC
};

constexpr const char* kModules[] = {"onednn"};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const BackendOptions& options) : options_(options) {
    for (const char* module : kModules) open_module(module);
  }

  std::string_view name() const override { return "cpu"; }
  std::string target() const override { return "x86-64"; }
  const std::vector<std::string>& notes() const override { return notes_; }

  std::span<const tune::Tactic* const> tactics(const ir::Node& node) const override {
    const std::string key =
        std::string(node.op()) +
        (node.subgraph_count() > 0 && node.schema().has(ir::kEpilogue) ? "+" : "");
    auto it = lists_.find(key);
    if (it == lists_.end()) it = lists_.emplace(key, make_list(node)).first;
    return it->second;
  }

  plan::ModuleRequirement requirement(std::string_view module) const override {
    const runtime::Module* opened = find_module(module);
    check(opened != nullptr, "a step needs the module '{}' that is not open", module);
    return {std::string(module), opened->abi_version, opened->fingerprint};
  }

 private:
  bool enabled(std::string_view source) const {
    return std::ranges::find(options_.disabled, source) == options_.disabled.end();
  }

  void open_module(const char* module) {
    if (!enabled(module)) return;
    auto opened = runtime::open_module(module, options_.module_path.c_str());
    if (opened.ok())
      modules_.push_back(*opened);
    else
      notes_.push_back(opened.status().message());
  }

  const runtime::Module* find_module(std::string_view name) const {
    for (const runtime::Module* m : modules_)
      if (name == m->name) return m;
    return nullptr;
  }

  static const kernels::Kernel* find_in(const runtime::Module& module, std::string_view kernel) {
    for (std::int32_t i = 0; i < module.kernel_count; ++i)
      if (kernel == module.kernels[i].name) return &module.kernels[i];
    return nullptr;
  }

  // Fused form before split form of one kernel, kernels in the order of tactics.def, reference
  // last.
  std::vector<const tune::Tactic*> make_list(const ir::Node& node) const {
    std::vector<const tune::Tactic*> list;
    const std::string op(node.op());
    const bool epilogue = node.subgraph_count() > 0 && node.schema().has(ir::kEpilogue);
    const auto add = [&](const kernels::Kernel* kernel, const runtime::Module* module) {
      if (kernel == nullptr) return;
      if (module != nullptr || !epilogue || std::string_view(kernel->name).substr(0, 4) != "ref.")
        list.push_back(own(*kernel, module, nullptr));
      if (!epilogue) return;
      for (const char* region : {"cpu.region", "ref.region"})
        if (const kernels::Kernel* finish = kernels::find_kernel(region))
          if (region[0] == 'r' || enabled("cpu")) list.push_back(own(*kernel, module, finish));
    };
    for (const Row& row : kRows) {
      if (op != row.op || !enabled(row.source)) continue;
      if (std::string_view(row.source) == "cpu") {
        add(kernels::find_kernel(row.kernel), nullptr);
      } else if (const runtime::Module* module = find_module(row.source)) {
        add(find_in(*module, row.kernel), module);
      }
    }
    add(kernels::find_kernel("ref." + op), nullptr);
    return list;
  }

  const tune::Tactic* own(const kernels::Kernel& kernel, const runtime::Module* module,
                          const kernels::Kernel* region) const {
    owned_.push_back(std::make_unique<KernelTactic>(kernel, module, region));
    return owned_.back().get();
  }

  BackendOptions options_;
  std::vector<const runtime::Module*> modules_;
  std::vector<std::string> notes_;
  // Lists are made on first use; a backend serves one building thread.
  mutable std::map<std::string, std::vector<const tune::Tactic*>, std::less<>> lists_;
  mutable std::vector<std::unique_ptr<KernelTactic>> owned_;
};

}  // namespace

std::unique_ptr<Backend> open_cpu(const BackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace frit::backend
