// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/cpu/execute.h"

#include <cstring>
#include <ctime>

namespace frit::runtime::cpu {
namespace {

std::uint64_t now_ns() noexcept {
  timespec t = {};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

template <class T>
T load(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void fill(const Instruction& i, void* out) noexcept {
  auto* bytes = static_cast<unsigned char*>(out);
  for (std::uint64_t at = 0; at < i.bytes; at += i.element)
    std::memcpy(bytes + at, &i.value, i.element);
}

const char* run_kernel(const Instruction& i, const Frame& frame) noexcept {
  kernels::RunArgs args;
  args.in = frame.slots + i.in;
  args.out = frame.slots + i.out;
  args.workspace = frame.slots[i.workspace];
  args.parallel = frame.parallel;
  return i.kernel->run(i.state, args);
}

// Executes one instruction and moves `at` on; returns a message on failure.
const char* step(const Instruction& i, const Frame& frame, std::size_t& at) noexcept {
  void* const* in = frame.slots + i.in;
  void* const* out = frame.slots + i.out;
  ++at;
  switch (i.op) {
    case Op::kernel:
      return run_kernel(i, frame);
    case Op::copy:
      std::memcpy(out[0], in[0], i.bytes);
      return nullptr;
    case Op::fill:
      fill(i, out[0]);
      return nullptr;
    case Op::jump:
      at = i.target;
      return nullptr;
    case Op::jump_if_false:
      if (load<std::uint8_t>(in[0]) == 0) at = i.target;
      return nullptr;
    case Op::loop_begin:
      frame.counters[i.counter] = {0, in[1] == nullptr || load<std::uint8_t>(in[1]) != 0};
      return nullptr;
    case Op::loop_test: {
      const Counter& c = frame.counters[i.counter];
      if (!c.go_on || (in[0] != nullptr && c.iteration >= load<std::int64_t>(in[0]))) {
        at = i.target;
      } else if (out[0] != nullptr) {
        std::memcpy(out[0], &c.iteration, sizeof c.iteration);
      }
      return nullptr;
    }
    case Op::loop_next: {
      Counter& c = frame.counters[i.counter];
      ++c.iteration;
      c.go_on = out[1] == nullptr || load<std::uint8_t>(out[1]) != 0;
      at = i.target;
      return nullptr;
    }
  }
  return "unknown instruction";
}

}  // namespace

Failure execute(const Program& program, const Frame& frame) noexcept {
  const std::size_t end = program.code.size();
  for (std::size_t at = 0; at < end;) {
    const Instruction& i = program.code[at];
    const char* message;
    if (frame.times.empty()) {
      message = step(i, frame, at);
    } else {
      const std::uint64_t start = now_ns();
      message = step(i, frame, at);
      StepTime& time = frame.times[static_cast<std::size_t>(i.step)];
      time.last_ns = now_ns() - start;
      time.total_ns += time.last_ns;
      ++time.calls;
    }
    if (message != nullptr) return {i.step, message};
  }
  return {};
}

}  // namespace frit::runtime::cpu
