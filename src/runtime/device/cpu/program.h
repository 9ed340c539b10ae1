// SPDX-License-Identifier: Apache-2.0
// A plan made ready for the CPU: kernels found and prepared, blocks flattened into jumps, operands
// turned into pointer slots that a context fills in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "plan/plan.h"
#include "runtime/memory.h"
#include "runtime/module.h"

namespace frit::runtime::cpu {

/// Where the pointer of one slot comes from.
struct Slot {
  enum class Base : std::uint8_t { null, arena, extra, constant, binding };
  Base base = Base::null;
  std::int32_t binding = -1;
  std::uint64_t offset = 0;  ///< from the base; of the weights section for constants
};

enum class Op : std::uint8_t {
  kernel,
  copy,           ///< `bytes` from in[0] to out[0]
  fill,           ///< `bytes` of out[0] with elements of `element` bytes equal to `value`
  jump,           ///< to `target`
  jump_if_false,  ///< to `target` unless in[0] holds true
  loop_begin,     ///< resets counter `counter`; falls through to loop_test
  loop_test,      ///< leaves to `target` when trips or condition say so, else stores the counter
  loop_next,      ///< counts, takes over the condition of out[1], jumps back to `target`
};

/// One instruction. `step` indexes Program::steps; slots are consecutive: inputs, outputs,
/// workspace.
struct Instruction {
  Op op = Op::kernel;
  std::uint8_t element = 0;
  std::int32_t step = 0;
  std::uint32_t in = 0;
  std::uint32_t out = 0;
  std::uint32_t workspace = 0;
  std::uint32_t target = 0;
  std::uint32_t counter = 0;
  std::uint64_t bytes = 0;
  std::int64_t value = 0;
  const kernels::Kernel* kernel = nullptr;
  void* state = nullptr;
};

/// A module in use, by its position in Plan::modules.
using Modules = std::span<const Module* const>;

/// Immutable once built; shared by all contexts of an engine. Keeps pointers into the plan.
class Program {
 public:
  Program() noexcept = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Finds and prepares all kernels; errors name the step and its ONNX nodes. May throw
  /// std::bad_alloc, which leaves the program fit for destruction only.
  Status build(const plan::Contents& contents, Modules modules, int threads);

  std::vector<Instruction> code;
  std::vector<Slot> slots;
  std::vector<const plan::Step*> steps;          ///< all steps, blocks after their owners
  std::vector<std::vector<std::uint32_t>> uses;  ///< by binding: slots that point into it
  std::uint32_t counters = 0;                    ///< of loops
  std::uint64_t extra_bytes = 0;                 ///< workspace beyond what the plan provides

 private:
  friend class Builder;
  HostBuffer states_;
  std::size_t prepared_ = 0;  ///< instructions whose state needs destroy
};

}  // namespace frit::runtime::cpu
