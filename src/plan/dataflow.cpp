// SPDX-License-Identifier: Apache-2.0
#include "plan/dataflow.h"

#include <algorithm>

#include "plan/intervals.h"

namespace frit::plan {
namespace {

// One change of ownership, with what was there before, so that a branch can be undone.
struct Change {
  std::size_t area;
  Intervals::Range before;
};

class Dataflow {
 public:
  Dataflow(const Plan& plan, const std::vector<std::int32_t>& roots)
      : plan_(plan), roots_(roots), stamps_(plan.tensors.size(), 0) {
    // Area 0 is the arena, area 1 + b the memory of binding b.
    areas_.emplace_back(plan.arena_bytes);
    for (const Binding& b : plan.bindings)
      areas_.emplace_back(b.is_input ? 0 : plan.tensors[index(b.tensor)].bytes);
  }

  Status run() {
    FRIT_TRY(steps(plan_.steps));
    for (const Binding& b : plan_.bindings)
      if (!b.is_input && !available(b.tensor))
        return Status::error(Code::invalid_engine,
                             "engine plan: output '%s' is not completely written by any step",
                             b.name.c_str());
    return {};
  }

 private:
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  const Tensor& tensor(std::int32_t id) const { return plan_.tensors[index(id)]; }

  // Constants and inputs of the engine are always there and never written.
  bool fixed(const Tensor& t) const {
    return t.location == Location::constant ||
           (t.location == Location::binding && plan_.bindings[index(t.index)].is_input);
  }
  std::size_t area_of(const Tensor& t) const {
    return t.location == Location::arena ? 0 : 1 + index(t.index);
  }
  bool available(std::int32_t id) const {
    const Tensor& t = tensor(id);
    return fixed(t) || areas_[area_of(t)].owned(t.offset, t.offset + t.bytes, roots_[index(id)]);
  }

  void assign(std::size_t area, std::uint64_t begin, std::uint64_t end, std::int32_t owner) {
    if (journal_ != nullptr)
      areas_[area].visit(begin, end, [&](const Intervals::Range& r) {
        journal_->push_back({area, r});
      });
    areas_[area].assign(begin, end, owner);
  }
  void define(std::int32_t id) {
    const Tensor& t = tensor(id);
    assign(area_of(t), t.offset, t.offset + t.bytes, roots_[index(id)]);
  }

  Status fault(const Step& step, const char* what, std::int32_t id) const {
    return Status::error(Code::invalid_engine, "engine plan: step '%s': tensor %d %s",
                         step.name.c_str(), id, what);
  }

  Status steps(const std::vector<Step>& list) {
    for (const Step& s : list) FRIT_TRY(step(s));
    return {};
  }

  Status step(const Step& s) {
    for (const std::int32_t id : s.inputs)
      if (id != kNone && !available(id))
        return fault(s, "is read before it is written, or after other data replaced it", id);
    if (s.kind == StepKind::branch) return branch(s);
    if (s.kind == StepKind::loop) return loop(s);
    return plain(s);
  }

  Status plain(const Step& s) {
    ++stamp_;
    for (const std::int32_t id : s.inputs)
      if (id != kNone) stamps_[index(roots_[index(id)])] = stamp_;
    const std::uint64_t work_begin = s.workspace_offset;
    const std::uint64_t work_end = work_begin + s.workspace_bytes;
    bool clash = false;
    areas_[0].visit(work_begin, work_end,
                    [&](const Intervals::Range& r) { clash |= is_input(r.owner); });
    if (clash) return fault(s, "overlaps the step's workspace", first_input(s));
    assign(0, work_begin, work_end, Intervals::kNobody);
    FRIT_TRY(outputs(s));
    areas_[0].visit(work_begin, work_end,
                    [&](const Intervals::Range& r) { clash |= r.owner != Intervals::kNobody; });
    if (clash) return fault(s, "overlaps the step's workspace", s.outputs[0]);
    return {};
  }

  bool is_input(std::int32_t owner) const {
    return owner != Intervals::kNobody && stamps_[index(owner)] == stamp_;
  }
  static std::int32_t first_input(const Step& s) { return s.inputs.empty() ? kNone : s.inputs[0]; }

  Status outputs(const Step& s) {
    // (output position, root of an input that it may replace), sorted for searching.
    std::vector<std::pair<std::int32_t, std::int32_t>> allowed;
    for (const InPlace& p : s.in_place)
      if (s.inputs[index(p.input)] != kNone)
        allowed.emplace_back(p.output, roots_[index(s.inputs[index(p.input)])]);
    std::sort(allowed.begin(), allowed.end());
    for (std::size_t i = 0; i < s.outputs.size(); ++i) {
      const std::int32_t id = s.outputs[i];
      if (id == kNone) continue;
      const Tensor& t = tensor(id);
      bool clash = false;
      areas_[area_of(t)].visit(t.offset, t.offset + t.bytes, [&](const Intervals::Range& r) {
        const std::pair key{static_cast<std::int32_t>(i), r.owner};
        clash |= is_input(r.owner) && !std::binary_search(allowed.begin(), allowed.end(), key);
      });
      if (clash) return fault(s, "overwrites an operand of its own step", id);
    }
    for (const std::int32_t id : s.outputs)
      if (id != kNone) define(id);
    for (const std::int32_t id : s.outputs)
      if (id != kNone && !available(id)) return fault(s, "overlaps another result", id);
    return {};
  }

  Status all_available(const Step& s, std::size_t first) const {
    for (std::size_t i = first; i < s.outputs.size(); ++i)
      if (s.outputs[i] != kNone && !available(s.outputs[i]))
        return fault(s, "is a result that not every path writes", s.outputs[i]);
    return {};
  }

  // Forgets what the recorded block wrote, except the results of the step that owns it.
  void leave(const Step& s, const std::vector<Change>& journal) {
    for (const Change& c : journal)
      assign(c.area, c.before.begin, c.before.end, Intervals::kNobody);
    for (const std::int32_t id : s.outputs)
      if (id != kNone) define(id);
  }

  Status branch(const Step& s) {
    std::vector<Change>* const outer = journal_;
    std::vector<Change> journals[2];
    for (std::size_t b = 0; b < 2; ++b) {
      journal_ = &journals[b];
      Status status = steps(s.blocks[b].steps);
      if (status.ok()) status = all_available(s, 0);
      journal_ = nullptr;
      for (auto c = journals[b].rbegin(); c != journals[b].rend(); ++c)
        areas_[c->area].assign(c->before.begin, c->before.end, c->before.owner);
      if (!status.ok()) return status;
    }
    journal_ = outer;
    leave(s, journals[0]);
    leave(s, journals[1]);
    return {};
  }

  Status loop(const Step& s) {
    std::vector<Change>* const outer = journal_;
    std::vector<Change> journal;
    // States have a value even when the loop runs zero times.
    FRIT_TRY(all_available(s, 2));
    journal_ = &journal;
    Status status;
    // The second pass starts from what the first leaves, so it finds captures that do not survive.
    for (int pass = 0; pass < 2 && status.ok(); ++pass) {
      if (s.outputs[0] != kNone) define(s.outputs[0]);
      status = steps(s.blocks[0].steps);
      if (status.ok()) status = all_available(s, 1);
    }
    journal_ = outer;
    if (!status.ok()) return status;
    leave(s, journal);
    return {};
  }

  const Plan& plan_;
  const std::vector<std::int32_t>& roots_;
  std::vector<Intervals> areas_;
  std::vector<std::uint64_t> stamps_;  ///< by root: the last step that reads it
  std::uint64_t stamp_ = 0;
  std::vector<Change>* journal_ = nullptr;
};

}  // namespace

Status verify_dataflow(const Plan& plan, const std::vector<std::int32_t>& roots) {
  return Dataflow(plan, roots).run();
}

}  // namespace frit::plan
