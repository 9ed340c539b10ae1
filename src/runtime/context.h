// SPDX-License-Identifier: Apache-2.0
// One execution of an engine at a time: addresses, activations, errors and times.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "runtime/device/cpu/execute.h"
#include "runtime/engine.h"

namespace frit::runtime {

/// How to make a context.
struct ContextOptions {
  int profile = 0;             ///< profile of input shapes to run with
  bool profile_steps = false;  ///< record the time of every step
  void* memory = nullptr;      ///< activation memory of Engine::context_bytes, 64-byte aligned,
                               ///< e.g. shared by contexts that never run at once; null = own
  std::uint64_t memory_bytes = 0;
};

/// For one thread at a time. Keeps its engine alive.
class Context {
 public:
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<const Engine> engine,
                                                 const ContextOptions& options) noexcept;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Engine& engine() const noexcept { return *engine_; }

  /// Checks dims against the engine; shapes are fixed, so only equal dims are accepted.
  Status set_input_shape(int binding, std::span<const std::int64_t> dims) noexcept;
  /// Dims of a binding under the shapes set; `binding` must be valid.
  std::span<const std::int64_t> shape(int binding) const noexcept;

  /// Gives `bytes` of host memory to a binding. Memory that is not aligned to the element size is
  /// served through a buffer of the context.
  Status set_address(int binding, void* address, std::uint64_t bytes) noexcept;

  /// Runs all steps; on the CPU complete on return. Neither allocates, locks nor throws; the
  /// message of an error lives in the context until the next call.
  Status enqueue(void* stream) noexcept;

  /// Times by step number; empty unless asked for in the options.
  std::span<const cpu::StepTime> times() const noexcept { return times_; }
  void reset_times() noexcept;

 private:
  // The address of one binding as the caller gave it, and the buffer that stands in for it.
  struct Bound {
    void* address = nullptr;
    HostBuffer staging;
    bool staged = false;
  };

  explicit Context(std::shared_ptr<const Engine> engine) : engine_(std::move(engine)) {}
  Status init(const ContextOptions& options);
  void point(int binding, void* base) noexcept;
  Status check_bound() noexcept;
  Status check_binding(int binding) const noexcept;

  std::shared_ptr<const Engine> engine_;
  HostBuffer memory_;
  std::vector<void*> slots_;
  std::vector<Bound> bound_;
  std::vector<cpu::Counter> counters_;
  std::vector<cpu::StepTime> times_;
  bool complete_ = false;  ///< every binding has an address
  char message_[kMaxMessage] = "";
};

}  // namespace frit::runtime
