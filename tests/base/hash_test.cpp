// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/thread_pool.h"

namespace frit {
namespace {

TEST(Hash, IsXxh3) {
  // Published value of XXH3_64bits for empty input.
  EXPECT_EQ(hash64(std::string_view()), 0x2D06800538D394C2u);
  EXPECT_NE(hash64("a"), hash64("b"));
  EXPECT_NE(hash64("a", 0), hash64("a", 1));
}

TEST(Hash, IncrementalEqualsWhole) {
  const std::string text(3000, 'q');
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  Hasher h;
  h.add(bytes.first(1)).add(bytes.subspan(1, 999)).add(bytes.subspan(1000));
  EXPECT_EQ(h.value(), hash64(bytes));
}

TEST(Hash, TextsAreSeparated) {
  EXPECT_NE(Hasher().add("a").add("bc").value(), Hasher().add("ab").add("c").value());
  EXPECT_NE(Hasher().add(0.0).value(), Hasher().add(-0.0).value());
}

TEST(HashBlocks, DoesNotDependOnThreads) {
  Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(3);
  ASSERT_TRUE(pool.ok());
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kHashBlock - 1, kHashBlock,
                                 kHashBlock + 1, 5 * kHashBlock + 77}) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 31 >> 3);
    const std::uint64_t serial = hash_blocks(data);
    EXPECT_EQ(hash_blocks(data, (*pool)->parallel()), serial);
    if (size == 0) continue;
    data[size - 1] ^= std::byte{1};
    EXPECT_NE(hash_blocks(data), serial);
  }
}

}  // namespace
}  // namespace frit
