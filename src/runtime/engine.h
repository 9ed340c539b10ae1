// SPDX-License-Identifier: Apache-2.0
// A loaded engine: verified once, immutable, shared by threads and contexts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mapped_file.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "plan/plan.h"
#include "runtime/device/cpu/program.h"
#include "runtime/memory.h"

namespace frit::runtime {

/// How to load an engine.
struct EngineOptions {
  int cpu_threads = 0;         ///< of the pool, caller included; 0 = all processors
  bool check_weights = true;   ///< checksums of weights and code
  bool borrow_memory = false;  ///< load_memory: use the image in place; it outlives the engine
  const char* module_dir = nullptr;  ///< where modules lie; null = beside this library
};

/// All members are const after loading; any thread may use them.
class Engine {
 public:
  /// Maps and loads a file.
  static Result<std::shared_ptr<const Engine>> load_file(const char* path,
                                                         const EngineOptions& options) noexcept;
  /// Loads from a copy of an image in memory or, with borrow_memory, from an image aligned to 256
  /// bytes in place.
  static Result<std::shared_ptr<const Engine>> load_memory(std::span<const std::byte> image,
                                                           const EngineOptions& options) noexcept;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const plan::Plan& plan() const noexcept { return contents_.plan; }
  const plan::Contents& contents() const noexcept { return contents_; }
  const cpu::Program& program() const noexcept { return program_; }
  /// All steps, nested ones after their owners: the numbering of profiles and errors.
  std::span<const plan::Step* const> steps() const noexcept { return program_.steps; }

  /// Binding of that name, or -1.
  int find_binding(std::string_view name) const noexcept;
  /// Storage of a binding.
  std::uint64_t binding_bytes(int binding) const noexcept;
  /// Bytes a context takes: arena and further workspace.
  std::uint64_t context_bytes() const noexcept;

  int threads() const noexcept { return threads_; }
  /// The loops kernels run on: those of a module that brings its own pool, else ours.
  const kernels::Parallel& parallel() const noexcept { return parallel_; }
  /// Lets modules set up the calling thread; once per enqueue.
  void thread_begin() const noexcept;

 private:
  Engine() = default;
  static Result<std::shared_ptr<const Engine>> load(MappedFile file, HostBuffer copy,
                                                    std::span<const std::byte> image,
                                                    const EngineOptions& options) noexcept;
  Status build(std::span<const std::byte> image, const EngineOptions& options);
  Status open_modules(const EngineOptions& options);

  MappedFile file_;
  HostBuffer copy_;
  int threads_ = 1;
  std::unique_ptr<ThreadPool> pool_;
  kernels::Parallel parallel_;
  plan::Contents contents_;
  std::vector<const Module*> modules_;
  cpu::Program program_;  ///< destroyed first: it points into all of the above
};

}  // namespace frit::runtime
