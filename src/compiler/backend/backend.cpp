// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/backend.h"

#include "compiler/backend/cpu/cpu_backend.h"
#include "compiler/error.h"

namespace frit::backend {

std::unique_ptr<Backend> open_backend(std::string_view name, const BackendOptions& options) {
  if (name == "cpu") return open_cpu(options);
  fail(Code::unsupported, "this build has no backend '{}'; available: cpu", name);
}

tune::Choice choose_default(const Backend& backend, const ir::Node& node, int threads) {
  tune::Choice choice;
  choice.node = &node;
  for (const tune::Tactic* tactic : backend.tactics(node)) {
    tune::Support support = tactic->support(node, threads);
    if (support.ok) {
      choice.tactic = tactic;
      choice.config = tactic->configs(node, threads).front();
      return choice;
    }
    choice.declined.push_back({std::string(tactic->name()), std::move(support.reason)});
  }
  std::string reasons;
  for (const tune::Declined& d : choice.declined) reasons += "\n  " + d.tactic + ": " + d.reason;
  throw Error(Code::unsupported,
              fmt::format("backend {} has no way to compute '{}':{}", backend.name(), node.op(),
                          reasons.empty() ? " no tactic is known for this op" : reasons),
              ir::origin_text(node));
}

}  // namespace frit::backend
