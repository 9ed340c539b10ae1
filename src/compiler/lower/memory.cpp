// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/memory.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace frit::lower {
namespace {

// Beyond this many pieces the quadratic placement by size would dominate the build.
constexpr std::size_t kMaxBySize = 4096;

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

std::uint64_t bound(std::span<const Lifetime> pieces, std::uint64_t alignment) {
  std::map<std::int32_t, std::int64_t> change;
  for (const Lifetime& p : pieces) {
    const auto bytes = static_cast<std::int64_t>(round_up(p.bytes, alignment));
    change[p.first] += bytes;
    change[p.last + 1] -= bytes;
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [step, delta] : change) most = std::max(most, now += delta);
  return static_cast<std::uint64_t>(most);
}

// Greedy by size (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference").
void place_by_size(std::span<const Lifetime> pieces, std::uint64_t alignment, MemoryPlan& plan) {
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return pieces[a].bytes > pieces[b].bytes; });
  std::vector<std::size_t> placed;  // by offset
  for (std::size_t i : order) {
    const Lifetime& p = pieces[i];
    const std::uint64_t bytes = round_up(p.bytes, alignment);
    std::uint64_t end = 0, best = 0, best_gap = ~std::uint64_t{0};
    for (std::size_t k : placed) {
      const Lifetime& other = pieces[k];
      if (other.last < p.first || p.last < other.first) continue;
      const std::uint64_t start = plan.offsets[k];
      if (start >= end + bytes && start - end < best_gap) {
        best = end;
        best_gap = start - end;
      }
      end = std::max(end, start + round_up(other.bytes, alignment));
    }
    plan.offsets[i] = best_gap != ~std::uint64_t{0} ? best : end;
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + bytes);
    const auto at = std::ranges::upper_bound(placed, plan.offsets[i], {},
                                             [&](std::size_t k) { return plan.offsets[k]; });
    placed.insert(at, i);
  }
}

// First fit in order of time with a list of free ranges.
void place_by_time(std::span<const Lifetime> pieces, std::uint64_t alignment, MemoryPlan& plan) {
  std::vector<std::size_t> starts(pieces.size());
  std::iota(starts.begin(), starts.end(), std::size_t{0});
  std::vector<std::size_t> ends = starts;
  std::ranges::stable_sort(starts, {}, [&](std::size_t i) { return pieces[i].first; });
  std::ranges::stable_sort(ends, {}, [&](std::size_t i) { return pieces[i].last; });
  std::map<std::uint64_t, std::uint64_t> free;  // offset -> bytes
  const auto release = [&](std::uint64_t offset, std::uint64_t bytes) {
    auto it = free.emplace(offset, bytes).first;
    if (auto next = std::next(it); next != free.end() && it->first + it->second == next->first) {
      it->second += next->second;
      free.erase(next);
    }
    if (it != free.begin()) {
      auto prev = std::prev(it);
      if (prev->first + prev->second == it->first) {
        prev->second += it->second;
        free.erase(it);
      }
    }
  };
  std::size_t ended = 0;
  for (std::size_t i : starts) {
    while (ended < ends.size() && pieces[ends[ended]].last < pieces[i].first) {
      const std::size_t e = ends[ended++];
      if (pieces[e].bytes > 0) release(plan.offsets[e], round_up(pieces[e].bytes, alignment));
    }
    const std::uint64_t bytes = round_up(pieces[i].bytes, alignment);
    if (bytes == 0) continue;
    auto best = free.end();
    for (auto it = free.begin(); it != free.end(); ++it)
      if (it->second >= bytes && (best == free.end() || it->second < best->second)) best = it;
    if (best == free.end()) {
      // Grow the arena, starting in its free tail if it has one.
      std::uint64_t offset = plan.bytes;
      if (!free.empty()) {
        auto tail = std::prev(free.end());
        if (tail->first + tail->second == plan.bytes) {
          offset = tail->first;
          free.erase(tail);
        }
      }
      plan.offsets[i] = offset;
      plan.bytes = offset + bytes;
      continue;
    }
    const auto [offset, room] = *best;
    free.erase(best);
    plan.offsets[i] = offset;
    if (room > bytes) free.emplace(offset + bytes, room - bytes);
  }
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> pieces, std::uint64_t alignment) {
  MemoryPlan plan;
  plan.offsets.resize(pieces.size(), 0);
  plan.lower_bound = bound(pieces, alignment);
  if (pieces.size() <= kMaxBySize)
    place_by_size(pieces, alignment, plan);
  else
    place_by_time(pieces, alignment, plan);
  return plan;
}

}  // namespace frit::lower
