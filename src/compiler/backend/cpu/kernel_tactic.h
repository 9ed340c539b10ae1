// SPDX-License-Identifier: Apache-2.0
// Tactics of the CPU backend: one kernel each. The kernel's own `prepare` decides what it supports,
// so the builder and the loader can never disagree.
#pragma once

#include <string>

#include "compiler/tune/tactic.h"
#include "runtime/module.h"

namespace frit::backend {

/// Runs one kernel. On nodes with an epilogue there are two forms: fused (the kernel gets the
/// epilogue) and split (the kernel, then a region step).
class KernelTactic final : public tune::Tactic {
 public:
  /// `module` null = built in. `region` finishes split epilogues; null = fused form.
  KernelTactic(const kernels::Kernel& kernel, const runtime::Module* module,
               const kernels::Kernel* region);

  std::string_view name() const override { return name_; }
  tune::Support support(const ir::Node& node, int threads) const override;
  tune::Draft emit(const ir::Node& node, const tune::Config& config, int threads) const override;

 private:
  tune::Support try_prepare(const kernels::Kernel& kernel, const tune::Problem& problem) const;
  tune::DraftStep draft_step(const tune::Problem& problem, tune::Draft& draft) const;

  const kernels::Kernel& kernel_;
  const runtime::Module* module_;
  const kernels::Kernel* region_;
  std::string name_;
};

}  // namespace frit::backend
