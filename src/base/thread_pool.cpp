// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <sched.h>

#include <new>
#include <system_error>

namespace frit {
namespace {

constexpr std::uint32_t kOpen = 1u << 31;  // of state_: workers may still enter the job
constexpr int kMaxThreads = 1024;
// About 20-50 us: longer than the gap between two steps, far shorter than a scheduler slice.
constexpr int kSpins = 1000;
// Chunks per thread: enough to even out unequal cores, few enough to keep the counter cold.
constexpr std::int64_t kChunksPerThread = 4;

// Which worker of a running loop this thread is; a nested loop keeps the number, so that per-worker
// scratch stays unshared.
thread_local int t_worker = 0;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

int available_cpus() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  const unsigned n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(int threads) noexcept {
  if (threads < 0 || threads > kMaxThreads)
    return Status::error(Code::invalid_argument,
                         "thread count: expected 0 (all processors) to %d, found %d", kMaxThreads,
                         threads);
  std::unique_ptr<ThreadPool> pool(new (std::nothrow) ThreadPool);
  if (pool == nullptr) return Status::borrowed(Code::out_of_memory, "no memory for a thread pool");
  const int wanted = threads > 0 ? threads : available_cpus();
  pool->workers_.reset(new (std::nothrow) std::thread[static_cast<std::size_t>(wanted)]);
  if (pool->workers_ == nullptr)
    return Status::borrowed(Code::out_of_memory, "no memory for a thread pool");
  try {
    for (int i = 1; i < wanted; ++i) {
      pool->workers_[static_cast<std::size_t>(i)] =
          std::thread([p = pool.get(), i] { p->worker_main(i); });
      pool->threads_ = i + 1;
    }
  } catch (const std::system_error&) {
    const int started = pool->threads_;  // the destructor joins these
    return Status::error(Code::out_of_memory,
                         "the system refused to start thread %d of %d; ask for fewer threads",
                         started + 1, wanted);
  }
  return pool;
}

ThreadPool::~ThreadPool() {
  stop_.store(true, std::memory_order_relaxed);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (int i = 1; i < threads_; ++i) workers_[static_cast<std::size_t>(i)].join();
}

void ThreadPool::worker_main(int worker) noexcept {
  t_worker = worker;
  std::uint32_t seen = 0;
  for (;;) {
    std::uint32_t now = epoch_.load(std::memory_order_acquire);
    for (int spin = 0; now == seen && spin < kSpins; ++spin) {
      pause();
      now = epoch_.load(std::memory_order_acquire);
    }
    if (now == seen) {
      epoch_.wait(seen, std::memory_order_acquire);
      continue;
    }
    seen = now;
    if (stop_.load(std::memory_order_relaxed)) return;
    if (!join_job()) continue;
    work(worker);
    if (state_.fetch_sub(1, std::memory_order_acq_rel) == 1) state_.notify_one();
  }
}

// Enters the current job unless its caller has closed it already. The caller writes the next job
// only after closing this one and seeing everybody leave, so job_ is stable for whoever got in.
bool ThreadPool::join_job() noexcept {
  std::uint32_t s = state_.load(std::memory_order_acquire);
  while ((s & kOpen) != 0)
    if (state_.compare_exchange_weak(s, s + 1, std::memory_order_acq_rel)) return true;
  return false;
}

void ThreadPool::work(int worker) noexcept {
  const Job job = job_;
  for (;;) {
    const std::int64_t begin = next_.fetch_add(job.chunk, std::memory_order_relaxed);
    if (begin >= job.n) return;
    const std::int64_t end = job.n - begin < job.chunk ? job.n : begin + job.chunk;
    job.body(job.arg, begin, end, worker);
  }
}

void ThreadPool::parallel_for(std::int64_t n, std::int64_t grain, kernels::Parallel::Body body,
                              void* arg) noexcept {
  if (n <= 0) return;
  if (grain < 1) grain = 1;
  if (threads_ == 1 || n <= grain || busy_.exchange(true, std::memory_order_acquire)) {
    body(arg, 0, n, t_worker);
    return;
  }
  const std::int64_t grains = (n - 1) / grain + 1;
  const std::int64_t per_chunk = (grains - 1) / (threads_ * kChunksPerThread) + 1;
  job_ = {body, arg, n, per_chunk * grain};
  next_.store(0, std::memory_order_relaxed);
  state_.store(kOpen, std::memory_order_release);
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();

  work(0);

  std::uint32_t inside = state_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  for (int spin = 0; inside != 0; ++spin) {
    if (spin < kSpins) {
      pause();
    } else {
      state_.wait(inside, std::memory_order_acquire);
    }
    inside = state_.load(std::memory_order_acquire);
  }
  busy_.store(false, std::memory_order_release);
}

kernels::Parallel ThreadPool::parallel() noexcept {
  return {this, threads_,
          [](void* pool, std::int64_t n, std::int64_t grain, kernels::Parallel::Body body,
             void* arg) { static_cast<ThreadPool*>(pool)->parallel_for(n, grain, body, arg); }};
}

}  // namespace frit
