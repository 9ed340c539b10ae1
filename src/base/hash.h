// SPDX-License-Identifier: Apache-2.0
// xxh3 hashing. Values are part of the engine format, so they never depend on the machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/common/kernel.h"

namespace frit {

/// 64-bit xxh3 of `data`.
std::uint64_t hash64(std::span<const std::byte> data, std::uint64_t seed = 0) noexcept;
std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0) noexcept;

/// Block length of `hash_blocks`.
inline constexpr std::size_t kHashBlock = std::size_t{1} << 20;

/// xxh3 of the little-endian xxh3 values of each 1 MiB block of `data`: the checksum of engine
/// sections, made so that several threads can compute it.
std::uint64_t hash_blocks(std::span<const std::byte> data,
                          const kernels::Parallel& parallel = {}) noexcept;

/// Incremental xxh3 for structured keys; feed the same calls in the same order for equal values.
class Hasher {
 public:
  Hasher() noexcept;
  Hasher& add(std::span<const std::byte> data) noexcept;
  /// Adds length and text, so that "a"+"bc" and "ab"+"c" differ.
  Hasher& add(std::string_view text) noexcept;
  Hasher& add(std::int64_t value) noexcept;
  Hasher& add(double value) noexcept;
  std::uint64_t value() const noexcept;

 private:
  alignas(64) std::byte state_[640];
};

}  // namespace frit
