// SPDX-License-Identifier: Apache-2.0
// Who wrote which bytes of one storage area last.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace frit::plan {

/// A partition of [0, size) into ranges with an owner (kNobody at first). Neighbours of one owner
/// are merged, so a fully written tensor is one range and all operations take amortized log time.
class Intervals {
 public:
  static constexpr std::int32_t kNobody = -1;

  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    std::int32_t owner;
  };

  explicit Intervals(std::uint64_t size) : size_(size) {
    if (size > 0) starts_[0] = kNobody;
  }

  /// True if all of [begin, end) belongs to `owner`.
  bool owned(std::uint64_t begin, std::uint64_t end, std::int32_t owner) const {
    if (begin >= end) return true;
    const auto it = find(begin);
    return it->second == owner && end_of(it) >= end;
  }

  /// Calls f(range) for each range that meets [begin, end), cut to it.
  template <class F>
  void visit(std::uint64_t begin, std::uint64_t end, F&& f) const {
    if (begin >= end) return;
    for (auto it = find(begin); it != starts_.end() && it->first < end; ++it) {
      const std::uint64_t from = it->first > begin ? it->first : begin;
      const std::uint64_t to = end_of(it) < end ? end_of(it) : end;
      f(Range{from, to, it->second});
    }
  }

  void assign(std::uint64_t begin, std::uint64_t end, std::int32_t owner) {
    if (begin >= end) return;
    split(begin);
    split(end);
    const auto first = starts_.find(begin);
    first->second = owner;
    auto last = std::next(first);
    while (last != starts_.end() && last->first < end) last = starts_.erase(last);
    if (last != starts_.end() && last->second == owner) starts_.erase(last);
    if (first != starts_.begin() && std::prev(first)->second == owner) starts_.erase(first);
  }

 private:
  using Map = std::map<std::uint64_t, std::int32_t>;

  Map::const_iterator find(std::uint64_t at) const { return std::prev(starts_.upper_bound(at)); }
  std::uint64_t end_of(Map::const_iterator it) const {
    const auto next = std::next(it);
    return next == starts_.end() ? size_ : next->first;
  }
  void split(std::uint64_t at) {
    if (at < size_) starts_.try_emplace(at, find(at)->second);
  }

  std::uint64_t size_;
  Map starts_;
};

}  // namespace frit::plan
