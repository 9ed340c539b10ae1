// SPDX-License-Identifier: Apache-2.0
#include "plan/verify_steps.h"

#include <algorithm>

#include "base/dtypes.h"

namespace frit::plan {
namespace {

class Steps {
 public:
  explicit Steps(const Plan& plan) : plan_(plan) {}

  Status list(const std::vector<Step>& steps, int depth, int loops) {
    if (depth > kMaxBlockDepth)
      return plan_error("expected blocks nested at most %d deep, found more", kMaxBlockDepth);
    if (loops > kMaxLoopDepth)
      return plan_error("expected loops nested at most %d deep, found more", kMaxLoopDepth);
    for (const Step& s : steps) {
      FRIT_TRY(step(s));
      const int inner = loops + (s.kind == StepKind::loop ? 1 : 0);
      for (const Block& b : s.blocks) FRIT_TRY(list(b.steps, depth + 1, inner));
    }
    return {};
  }

 private:
  static Status fault(const Step& s, const char* what) noexcept {
    return plan_error("step '%s' (%s): %s", s.name.c_str(), step_kind_name(s.kind), what);
  }
  const Tensor& tensor(std::int32_t id) const {
    return plan_.tensors[static_cast<std::size_t>(id)];
  }
  bool is_id(std::int32_t id) const {
    return id >= 0 && static_cast<std::size_t>(id) < plan_.tensors.size();
  }

  Status step(const Step& s) {
    if (s.kind > StepKind::join) return fault(s, "expected a known kind of step");
    if (s.stream < 0 || s.stream >= plan_.streams || s.peer_stream < 0 ||
        s.peer_stream >= plan_.streams)
      return fault(s, "its stream is out of range");
    if (s.workspace_offset % kTensorAlignment != 0 || s.workspace_offset > plan_.arena_bytes ||
        s.workspace_bytes > plan_.arena_bytes - s.workspace_offset)
      return fault(s, "its workspace is misaligned or outside the arena");
    FRIT_TRY(operands(s));
    FRIT_TRY(attributes(s));
    return form(s);
  }

  Status operands(const Step& s) {
    for (const std::int32_t id : s.inputs) {
      if (id == kNone) continue;
      if (!is_id(id)) return fault(s, "an input is not a tensor of the plan");
      if (tensor(id).location == Location::none) return fault(s, "an input has no storage");
    }
    for (const std::int32_t id : s.outputs) {
      if (id == kNone) continue;
      if (!is_id(id)) return fault(s, "an output is not a tensor of the plan");
      const Tensor& t = tensor(id);
      const bool writable = t.location == Location::arena ||
                            (t.location == Location::binding &&
                             !plan_.bindings[static_cast<std::size_t>(t.index)].is_input);
      if (!writable) return fault(s, "an output lies in read-only or no storage");
    }
    for (const InPlace& p : s.in_place)
      if (p.input < 0 || static_cast<std::size_t>(p.input) >= s.inputs.size() || p.output < 0 ||
          static_cast<std::size_t>(p.output) >= s.outputs.size())
        return fault(s, "its in-place pairs name operands it does not have");
    return {};
  }

  static Status attributes(const Step& s) {
    for (const Attr& a : s.attrs)
      if (a.name.empty() || a.kind > Attr::Kind::reals)
        return fault(s, "an attribute has no name or an unknown kind");
    return {};
  }

  Status form(const Step& s) {
    const std::size_t blocks = s.kind == StepKind::branch ? 2 : (s.kind == StepKind::loop ? 1 : 0);
    if (s.blocks.size() != blocks) return fault(s, "it has the wrong number of blocks");
    switch (s.kind) {
      case StepKind::kernel:
      case StepKind::host_call:
      case StepKind::vendor_call:
      case StepKind::plugin:
        return kernel(s);
      case StepKind::launch:
        if (s.launch.image < 0 || static_cast<std::size_t>(s.launch.image) >= plan_.images.size())
          return fault(s, "its code image is out of range");
        return kernel(s);
      case StepKind::copy:
        if (!operand_count(s, 1, 1) || tensor(s.inputs[0]).bytes != tensor(s.outputs[0]).bytes ||
            !tensor(s.inputs[0]).strides.empty() || !tensor(s.outputs[0]).strides.empty())
          return fault(s, "expected one dense input and one dense output of equal size");
        return {};
      case StepKind::fill:
        return fill(s);
      case StepKind::branch:
        if (s.inputs.empty() || !is_scalar(s.inputs[0], DType::boolean))
          return fault(s, "expected one bool as its condition");
        return {};
      case StepKind::loop:
        return loop(s);
      case StepKind::fork:
      case StepKind::join:
        return {};
    }
    return fault(s, "expected a known kind of step");
  }

  Status kernel(const Step& s) {
    if (s.kernel.empty()) return fault(s, "it names no kernel");
    if (s.module.empty()) return {};
    const bool listed = std::any_of(plan_.modules.begin(), plan_.modules.end(),
                                    [&](const ModuleRequirement& m) { return m.name == s.module; });
    return listed ? Status() : fault(s, "its module is not in the engine's list");
  }

  static bool operand_count(const Step& s, std::size_t inputs, std::size_t outputs) {
    return s.inputs.size() == inputs && s.outputs.size() == outputs &&
           std::count(s.inputs.begin(), s.inputs.end(), kNone) == 0 &&
           std::count(s.outputs.begin(), s.outputs.end(), kNone) == 0;
  }

  Status fill(const Step& s) {
    const bool valued = std::any_of(s.attrs.begin(), s.attrs.end(), [](const Attr& a) {
      return a.name == "value" && a.kind == Attr::Kind::integer;
    });
    if (!operand_count(s, 0, 1) || !valued || !tensor(s.outputs[0]).strides.empty() ||
        dtype_bits(tensor(s.outputs[0]).dtype) < 8 || dtype_bits(tensor(s.outputs[0]).dtype) > 64)
      return fault(s, "expected one dense output of 8- to 64-bit elements and an integer `value`");
    return {};
  }

  bool is_scalar(std::int32_t id, DType dtype) const {
    return id != kNone && tensor(id).dtype == dtype &&
           tensor(id).bytes == storage_bytes(dtype, std::uint64_t{1});
  }

  Status loop(const Step& s) {
    if (s.inputs.size() < 2 || s.outputs.size() < 2)
      return fault(s,
                   "expected inputs (trip count, condition, ...) and outputs (counter, "
                   "condition, ...)");
    const auto absent_or = [&](std::int32_t id, DType d) {
      return id == kNone || is_scalar(id, d);
    };
    if (!absent_or(s.inputs[0], DType::i64) || !absent_or(s.inputs[1], DType::boolean) ||
        !absent_or(s.outputs[0], DType::i64) || !absent_or(s.outputs[1], DType::boolean))
      return fault(s,
                   "expected an i64 trip count and counter and bool conditions, one element each");
    if (s.inputs[0] == kNone && s.outputs[1] == kNone)
      return fault(s, "it has neither a trip count nor a condition, so it would not end");
    return {};
  }

  const Plan& plan_;
};

}  // namespace

Status verify_steps(const Plan& plan) noexcept {
  return Steps(plan).list(plan.steps, 0, 0);
}

}  // namespace frit::plan
