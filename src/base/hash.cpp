// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <bit>
#include <cstring>
#include <new>

// Inlined, so that nothing links libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace frit {
namespace {

static_assert(std::endian::native == std::endian::little,
              "hashes are taken of little-endian bytes");

// Hashes of this many blocks are gathered before they are fed to the outer hash.
constexpr std::int64_t kBatch = 256;

}  // namespace

std::uint64_t hash64(std::span<const std::byte> data, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data.data(), data.size(), seed);
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

std::uint64_t hash_blocks(std::span<const std::byte> data,
                          const kernels::Parallel& parallel) noexcept {
  const auto blocks = static_cast<std::int64_t>((data.size() + kHashBlock - 1) / kHashBlock);
  Hasher outer;
  std::uint64_t hashes[kBatch];
  for (std::int64_t first = 0; first < blocks; first += kBatch) {
    const std::int64_t count = blocks - first < kBatch ? blocks - first : kBatch;
    parallel(count, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::size_t offset = static_cast<std::size_t>(first + i) * kHashBlock;
        const std::size_t length =
            data.size() - offset < kHashBlock ? data.size() - offset : kHashBlock;
        hashes[i] = hash64(data.subspan(offset, length));
      }
    });
    outer.add(std::as_bytes(std::span(hashes, static_cast<std::size_t>(count))));
  }
  return outer.value();
}

Hasher::Hasher() noexcept {
  static_assert(sizeof(XXH3_state_t) <= sizeof state_ && alignof(XXH3_state_t) <= 64);
  auto* state = ::new (static_cast<void*>(state_)) XXH3_state_t;
  XXH3_INITSTATE(state);
  XXH3_64bits_reset(state);
}

Hasher& Hasher::add(std::span<const std::byte> data) noexcept {
  auto* state = std::launder(reinterpret_cast<XXH3_state_t*>(state_));
  XXH3_64bits_update(state, data.data(), data.size());
  return *this;
}

Hasher& Hasher::add(std::string_view text) noexcept {
  add(static_cast<std::int64_t>(text.size()));
  return add(std::as_bytes(std::span(text.data(), text.size())));
}

Hasher& Hasher::add(std::int64_t value) noexcept {
  return add(std::as_bytes(std::span(&value, 1)));
}

Hasher& Hasher::add(double value) noexcept {
  return add(std::bit_cast<std::int64_t>(value));
}

std::uint64_t Hasher::value() const noexcept {
  return XXH3_64bits_digest(std::launder(reinterpret_cast<const XXH3_state_t*>(state_)));
}

}  // namespace frit
