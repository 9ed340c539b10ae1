// SPDX-License-Identifier: Apache-2.0
// The thread pool of the CPU backend.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "base/status.h"
#include "kernels/common/kernel.h"

namespace frit {

/// Processors this process may run on (its affinity mask), at least 1.
int available_cpus() noexcept;

/// A fixed set of workers that serves one parallel loop at a time. The caller works along as worker
/// 0. Workers spin briefly between loops, then sleep. A loop started while another one runs - from
/// another thread, or nested in a body - runs on its caller alone, so nothing ever waits for a
/// turn.
class ThreadPool {
 public:
  /// A pool of `threads` including the caller (0: one per available processor).
  static Result<std::unique_ptr<ThreadPool>> create(int threads) noexcept;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const noexcept { return threads_; }

  /// Runs body over [0, n) in chunks that are multiples of `grain` (but the last); returns when all
  /// are done. Callable from any thread at any time; allocates nothing.
  void parallel_for(std::int64_t n, std::int64_t grain, kernels::Parallel::Body body,
                    void* arg) noexcept;

  /// The pool as kernels see it; valid as long as the pool.
  kernels::Parallel parallel() noexcept;

 private:
  struct Job {
    kernels::Parallel::Body body = nullptr;
    void* arg = nullptr;
    std::int64_t n = 0;
    std::int64_t chunk = 0;
  };

  ThreadPool() = default;
  void worker_main(int worker) noexcept;
  bool join_job() noexcept;
  void work(int worker) noexcept;

  int threads_ = 1;
  std::unique_ptr<std::thread[]> workers_;
  Job job_;
  alignas(64) std::atomic<bool> busy_{false};
  alignas(64) std::atomic<std::uint32_t> epoch_{0};  ///< bumped for each job and to stop
  alignas(64) std::atomic<std::uint32_t> state_{0};  ///< kOpen bit + workers inside the job
  alignas(64) std::atomic<std::int64_t> next_{0};    ///< first index nobody has taken
  std::atomic<bool> stop_{false};
};

}  // namespace frit
