// SPDX-License-Identifier: Apache-2.0
// Runs a Program on the pointers of one context.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/device/cpu/program.h"

namespace frit::runtime::cpu {

/// Time spent in one step; the layout is that of frit_step_profile.
struct StepTime {
  std::uint64_t calls = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t total_ns = 0;
};

/// State of a loop that is running.
struct Counter {
  std::int64_t iteration = 0;
  bool go_on = false;
};

/// What belongs to one run: pointers by slot, counters of loops, where times go (may be empty).
struct Frame {
  void* const* slots = nullptr;
  Counter* counters = nullptr;
  std::span<StepTime> times;
  kernels::Parallel parallel;
};

/// A step that failed, with the kernel's message; step < 0 on success.
struct Failure {
  std::int32_t step = -1;
  const char* message = nullptr;
};

/// Runs all steps in order on the calling thread. Allocates, locks and throws nothing.
Failure execute(const Program& program, const Frame& frame) noexcept;

}  // namespace frit::runtime::cpu
