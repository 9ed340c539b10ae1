// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cpu/program.h"

#include <algorithm>
#include <cstdio>

#include "runtime/module_loader.h"
#include "runtime/step_error.h"

namespace frit::runtime::cpu {

/// Translates a plan into a Program in two passes: instructions and slots first, then, in one
/// allocation, the states.
class Builder {
 public:
  Builder(Program& program, const plan::Contents& contents, Modules modules, int threads)
      : program_(program),
        contents_(contents),
        plan_(contents.plan),
        modules_(modules),
        threads_(threads) {}

  Status run() {
    program_.uses.resize(plan_.bindings.size());
    FRIT_TRY(block(plan_.steps));
    std::uint64_t bytes = 0;
    for (const Instruction& i : program_.code)
      if (i.kernel != nullptr) bytes += align_up(i.kernel->state_size, 64);
    Result<HostBuffer> states = HostBuffer::allocate(bytes, "kernel states");
    FRIT_TRY(states);
    program_.states_ = std::move(*states);
    std::byte* at = program_.states_.data();
    for (Instruction& i : program_.code) {
      if (i.kernel != nullptr) {
        i.state = at;
        at += align_up(i.kernel->state_size, 64);
        FRIT_TRY(prepare(i));
      }
      ++program_.prepared_;
    }
    return {};
  }

 private:
  const plan::Tensor& tensor(std::int32_t id) const {
    return plan_.tensors[static_cast<std::size_t>(id)];
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }

  std::uint32_t add_slot(const Slot& slot) {
    const auto number = static_cast<std::uint32_t>(program_.slots.size());
    if (slot.base == Slot::Base::binding)
      program_.uses[static_cast<std::size_t>(slot.binding)].push_back(number);
    program_.slots.push_back(slot);
    return number;
  }

  void add_operand(std::int32_t id) {
    Slot slot;
    if (id != plan::kNone) {
      const plan::Tensor& t = tensor(id);
      slot.offset = t.offset;
      switch (t.location) {
        case plan::Location::none:
          break;
        case plan::Location::arena:
          slot.base = Slot::Base::arena;
          break;
        case plan::Location::binding:
          slot.base = Slot::Base::binding;
          slot.binding = t.index;
          break;
        case plan::Location::constant:
          slot.base = Slot::Base::constant;
          slot.offset += plan_.constants[static_cast<std::size_t>(t.index)].offset;
          break;
      }
    }
    add_slot(slot);
  }

  // A new instruction of the step with slots for its operands.
  Instruction& add(Op op, const plan::Step& step, std::int32_t step_number) {
    Instruction i;
    i.op = op;
    i.step = step_number;
    i.in = static_cast<std::uint32_t>(program_.slots.size());
    for (const std::int32_t id : step.inputs) add_operand(id);
    i.out = static_cast<std::uint32_t>(program_.slots.size());
    for (const std::int32_t id : step.outputs) add_operand(id);
    program_.code.push_back(i);
    return program_.code.back();
  }

  Status block(const std::vector<plan::Step>& steps) {
    for (const plan::Step& s : steps) {
      const auto number = static_cast<std::int32_t>(program_.steps.size());
      program_.steps.push_back(&s);
      FRIT_TRY(step(s, number));
    }
    return {};
  }

  Status step(const plan::Step& s, std::int32_t number) {
    using plan::StepKind;
    switch (s.kind) {
      case StepKind::kernel:
      case StepKind::host_call:
      case StepKind::vendor_call:
      case StepKind::plugin:
        return kernel(s, number);
      case StepKind::copy:
        add(Op::copy, s, number).bytes = tensor(s.inputs[0]).bytes;
        return {};
      case StepKind::fill: {
        Instruction& i = add(Op::fill, s, number);
        i.bytes = tensor(s.outputs[0]).bytes;
        i.element = static_cast<std::uint8_t>(dtype_bits(tensor(s.outputs[0]).dtype) / 8);
        for (const plan::Attr& a : s.attrs)
          if (a.name == "value") i.value = a.i;
        return {};
      }
      case StepKind::branch:
        return branch(s, number);
      case StepKind::loop:
        return loop(s, number);
      case StepKind::fork:
      case StepKind::join:
        return {};  // steps run in order anyway
      case StepKind::launch:
        break;
    }
    return step_error(Code::unsupported, s, "device code cannot run on the CPU backend");
  }

  Status branch(const plan::Step& s, std::int32_t number) {
    const std::uint32_t test = here();
    add(Op::jump_if_false, s, number);
    FRIT_TRY(block(s.blocks[0].steps));
    const std::uint32_t skip = here();
    add(Op::jump, s, number);
    program_.code[test].target = here();
    FRIT_TRY(block(s.blocks[1].steps));
    program_.code[skip].target = here();
    return {};
  }

  Status loop(const plan::Step& s, std::int32_t number) {
    const std::uint32_t counter = program_.counters++;
    add(Op::loop_begin, s, number).counter = counter;
    const std::uint32_t test = here();
    add(Op::loop_test, s, number).counter = counter;
    FRIT_TRY(block(s.blocks[0].steps));
    Instruction& next = add(Op::loop_next, s, number);
    next.counter = counter;
    next.target = test;
    program_.code[test].target = here();
    return {};
  }

  Status kernel(const plan::Step& s, std::int32_t number) {
    const kernels::Kernel* found = nullptr;
    if (s.module.empty()) {
      found = kernels::find_kernel(s.kernel);
    } else {
      for (std::size_t m = 0; m < plan_.modules.size(); ++m)
        if (plan_.modules[m].name == s.module) found = find_kernel(*modules_[m], s.kernel.c_str());
    }
    if (found == nullptr) {
      char text[512];
      std::snprintf(text, sizeof text,
                    "expected kernel '%s' in %s%s, found none; load the engine with the version of "
                    "Frit that built it, or build it again",
                    s.kernel.c_str(), s.module.empty() ? "this runtime" : "module ",
                    s.module.c_str());
      return step_error(Code::unsupported, s, text);
    }
    add(Op::kernel, s, number).kernel = found;
    return {};
  }

  void describe(const std::vector<std::int32_t>& ids, std::vector<kernels::TensorDesc>& out) const {
    out.clear();
    for (const std::int32_t id : ids) {
      kernels::TensorDesc d;
      if (id != plan::kNone) {
        const plan::Tensor& t = tensor(id);
        d.dtype = t.dtype;
        d.rank = static_cast<std::int32_t>(t.dims.size());
        d.dims = t.dims.data();
        d.strides = t.strides.empty() ? nullptr : t.strides.data();
        d.bytes = t.bytes;
        if (t.location == plan::Location::constant)
          d.constant = contents_.weights.data() +
                       plan_.constants[static_cast<std::size_t>(t.index)].offset + t.offset;
      }
      out.push_back(d);
    }
  }

  static void describe(const std::vector<plan::Attr>& attrs, std::vector<kernels::Attr>& out) {
    out.clear();
    for (const plan::Attr& a : attrs) {
      kernels::Attr k;
      k.name = a.name.c_str();
      k.kind = a.kind;
      k.i = a.i;
      k.f = a.f;
      k.s = a.s.c_str();
      k.ints = a.ints.data();
      k.floats = a.floats.data();
      k.count = static_cast<std::int32_t>(a.kind == plan::Attr::Kind::reals ? a.floats.size()
                                                                            : a.ints.size());
      out.push_back(k);
    }
  }

  Status prepare(Instruction& i) {
    const plan::Step& s = *program_.steps[static_cast<std::size_t>(i.step)];
    describe(s.inputs, in_);
    describe(s.outputs, out_);
    describe(s.attrs, attrs_);
    char message[1024] = "";
    kernels::PrepareArgs args;
    args.in = in_;
    args.out = out_;
    args.attrs = attrs_;
    args.threads = threads_;
    args.message = message;
    const char* refusal = i.kernel->prepare != nullptr ? i.kernel->prepare(i.state, args) : nullptr;
    if (refusal != nullptr) {
      i.kernel = nullptr;  // nothing to destroy
      return step_error(Code::unsupported, s, refusal);
    }
    Slot workspace;
    if (args.workspace > 0 && args.workspace <= s.workspace_bytes) {
      workspace.base = Slot::Base::arena;
      workspace.offset = s.workspace_offset;
    } else if (args.workspace > 0) {
      // More threads here than where the engine was built can need more scratch than was planned.
      workspace.base = Slot::Base::extra;
      program_.extra_bytes = std::max(program_.extra_bytes, args.workspace);
    }
    i.workspace = add_slot(workspace);
    return {};
  }

  Program& program_;
  const plan::Contents& contents_;
  const plan::Plan& plan_;
  Modules modules_;
  int threads_;
  std::vector<kernels::TensorDesc> in_, out_;
  std::vector<kernels::Attr> attrs_;
};

Program::~Program() {
  for (std::size_t i = 0; i < prepared_; ++i)
    if (code[i].kernel != nullptr && code[i].kernel->destroy != nullptr)
      code[i].kernel->destroy(code[i].state);
}

Status Program::build(const plan::Contents& contents, Modules modules, int threads) {
  return Builder(*this, contents, modules, threads).run();
}

}  // namespace frit::runtime::cpu
