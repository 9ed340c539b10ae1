// SPDX-License-Identifier: Apache-2.0
#include "compiler/backend/cpu/kernel_tactic.h"

#include <array>
#include <memory>
#include <new>

#include "compiler/error.h"
#include "compiler/ops/schema.h"

namespace frit::backend {
namespace {

using tune::Draft;
using tune::DraftStep;
using tune::Problem;
using tune::ProblemView;
using tune::Ref;
using tune::Support;

struct AlignedDelete {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
};
using AlignedBytes = std::unique_ptr<std::byte, AlignedDelete>;

AlignedBytes aligned_bytes(std::size_t bytes) {
  return AlignedBytes(static_cast<std::byte*>(
      ::operator new (std::max<std::size_t>(bytes, 64), std::align_val_t{64})));
}

bool has_epilogue(const ir::Node& node) {
  return node.schema().has(ir::kEpilogue) && node.subgraph_count() > 0;
}

}  // namespace

KernelTactic::KernelTactic(const kernels::Kernel& kernel, const runtime::Module* module,
                           const kernels::Kernel* region)
    : kernel_(kernel), module_(module), region_(region), name_(kernel.name) {
  if (region_ != nullptr) name_ += std::string("+") + region_->name;
}

Support KernelTactic::try_prepare(const kernels::Kernel& kernel, const Problem& problem) const {
  const ProblemView view(problem);
  std::array<char, 512> message{};
  kernels::PrepareArgs args;
  args.in = view.in();
  args.out = view.out();
  args.attrs = view.attrs();
  args.threads = problem.threads;
  args.message = message;
  const AlignedBytes state = aligned_bytes(kernel.state_size);
  if (const char* refusal = kernel.prepare(state.get(), args)) return Support::no(refusal);
  if (kernel.destroy != nullptr) kernel.destroy(state.get());
  return Support::yes();
}

Support KernelTactic::support(const ir::Node& node, int threads) const {
  if (region_ == nullptr) return try_prepare(kernel_, Problem::from(node, threads));
  if (!has_epilogue(node)) return Support::no("the node has no epilogue to split off");
  const tune::SplitProblem split = tune::split_epilogue(node, threads);
  const Support main = try_prepare(kernel_, split.main);
  return main.ok ? try_prepare(*region_, split.region) : main;
}

// The step for a problem whose operand i is node operand i and whose results are the node's,
// with constants packed where the module wants them packed.
DraftStep KernelTactic::draft_step(const Problem& problem, Draft& draft) const {
  DraftStep step;
  step.kernel = kernel_.name;
  step.module = module_ != nullptr ? module_->name : "";
  step.attrs = tune::plan_attrs(problem.attrs);
  const ProblemView view(problem);
  for (std::size_t i = 0; i < problem.in.size(); ++i) {
    const int index = static_cast<int>(i);
    step.in.push_back({problem.in[i].present() ? Ref::Kind::operand : Ref::Kind::none, index});
    if (module_ == nullptr || module_->pack_query == nullptr || !problem.in[i].constant.defined())
      continue;
    std::array<char, 512> message{};
    const runtime::PackRequest request{.kernel = kernel_.name,
                                       .attrs = view.attrs(),
                                       .in = view.in(),
                                       .out = view.out(),
                                       .operand = index,
                                       .threads = problem.threads,
                                       .message = message};
    runtime::PackAnswer answer;
    if (const char* refusal = module_->pack_query(request, answer))
      fail(Code::internal, "{} cannot pack operand {}: {}", name_, index, refusal);
    if (answer.bytes == 0) continue;
    const AlignedBytes packed = aligned_bytes(answer.bytes);
    if (const char* refusal = module_->pack(request, packed.get()))
      fail(Code::internal, "{} cannot pack operand {}: {}", name_, index, refusal);
    step.in.back() = {Ref::Kind::constant, static_cast<int>(draft.constants.size())};
    draft.constants.push_back({.name = "packed",
                               .dtype = DType::u8,
                               .dims = {static_cast<std::int64_t>(answer.bytes)},
                               .bytes = {packed.get(), packed.get() + answer.bytes}});
    const std::string prefix = "packed" + std::to_string(index) + "_";
    const ir::Attrs extra{{prefix + "format", std::string(answer.format)},
                          {prefix + "dims", problem.in[i].dims},
                          {prefix + "dtype", static_cast<std::int64_t>(problem.in[i].dtype)}};
    for (plan::Attr& attr : tune::plan_attrs(extra)) step.attrs.push_back(std::move(attr));
  }
  for (std::size_t r = 0; r < problem.out.size(); ++r)
    step.out.push_back(
        {problem.out[r].present() ? Ref::Kind::result : Ref::Kind::none, static_cast<int>(r)});
  return step;
}

Draft KernelTactic::emit(const ir::Node& node, const tune::Config&, int threads) const {
  Draft draft;
  if (region_ == nullptr) {
    draft.steps.push_back(draft_step(Problem::from(node, threads), draft));
    return draft;
  }
  const tune::SplitProblem split = tune::split_epilogue(node, threads);
  DraftStep main = draft_step(split.main, draft);
  main.out = {{Ref::Kind::temporary, 0}};
  draft.temporaries.push_back(split.main.out[0]);
  draft.steps.push_back(std::move(main));

  DraftStep region;
  region.kernel = region_->name;
  region.attrs = tune::plan_attrs(split.region.attrs);
  region.in.push_back({Ref::Kind::temporary, 0});
  for (int i = tune::kFirstExtraOperand; i < node.operand_count(); ++i)
    region.in.push_back({Ref::Kind::operand, i});
  region.out = {{Ref::Kind::result, 0}};
  draft.steps.push_back(std::move(region));
  return draft;
}

}  // namespace frit::backend
