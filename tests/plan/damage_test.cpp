// SPDX-License-Identifier: Apache-2.0
// Damaged files: truncated, with flipped bits, and with flipped bits under fresh checksums.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/hash.h"
#include "plan/format.h"
#include "tests/support/sample_plan.h"

namespace frit::plan {
namespace {

using test::AlignedBytes;

std::vector<std::byte> image() {
  const auto bytes = test::sample().write();
  EXPECT_TRUE(bytes.ok());
  return *bytes;
}

// Recomputes all checksums, so that the damage reaches the checks behind them.
void reseal(std::span<std::byte> file) {
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  Section sections[3];
  std::memcpy(sections, file.data() + sizeof header, sizeof sections);
  for (Section& s : sections) s.hash = hash_blocks(file.subspan(s.offset, s.bytes));
  std::memcpy(file.data() + sizeof header, sections, sizeof sections);
  header.hash = 0;
  std::memcpy(file.data(), &header, sizeof header);
  header.hash = hash64(file.first(sizeof header + sizeof sections));
  std::memcpy(file.data(), &header, sizeof header);
}

TEST(Damage, EveryTruncationIsOneError) {
  const std::vector<std::byte> whole = image();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::span<const std::byte> part(whole.data(), size);
    AlignedBytes cut(part);
    const Status s = read(cut.span()).status();
    ASSERT_EQ(s.code(), Code::invalid_engine) << size;
    ASSERT_NE(std::string(s.message()), "");
  }
}

TEST(Damage, EveryFlippedBitIsOneError) {
  AlignedBytes file(image());
  ASSERT_TRUE(read(file.span()).ok());
  for (std::size_t i = 0; i < file.span().size(); ++i) {
    const auto mask = static_cast<std::byte>(1 << (i % 8));
    file.span()[i] ^= mask;
    ASSERT_EQ(read(file.span()).status().code(), Code::invalid_engine) << "byte " << i;
    file.span()[i] ^= mask;
  }
}

TEST(Damage, AppendedBytesAreRefused) {
  std::vector<std::byte> longer = image();
  longer.resize(longer.size() + 1);
  AlignedBytes file(longer);
  EXPECT_EQ(read(file.span()).status().code(), Code::invalid_engine);
}

// The reader must survive, and refuse or accept, whatever stands under good checksums. What it
// accepts obeys the bounds that the runtime relies on, which touching every constant shows.
TEST(Damage, ResealedMetadataIsSafe) {
  const std::vector<std::byte> good = image();
  Section metadata;
  std::memcpy(&metadata, good.data() + sizeof(FileHeader), sizeof metadata);
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    AlignedBytes file(good);
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int f = 0; f < flips; ++f) {
      std::byte& target = file.span()[metadata.offset + random() % metadata.bytes];
      switch (random() % 3) {
        case 0:
          target ^= static_cast<std::byte>(1 << random() % 8);
          break;
        case 1:
          target = std::byte{0xFF};
          break;
        default:
          target = static_cast<std::byte>(random());
          break;
      }
    }
    reseal(file.span());
    const Result<Contents> c = read(file.span());
    if (!c.ok()) {
      ASSERT_EQ(c.status().code(), Code::invalid_engine);
      ++refused;
      continue;
    }
    for (std::size_t i = 0; i < c->plan.constants.size(); ++i) hash64(c->constant(i));
  }
  EXPECT_GT(refused, 1000);
}

TEST(Damage, ResealedHeadersAreSafe) {
  const std::vector<std::byte> good = image();
  std::mt19937_64 random(2);
  for (int round = 0; round < 5000; ++round) {
    AlignedBytes file(good);
    const std::size_t at = random() % (sizeof(FileHeader) + 3 * sizeof(Section));
    file.span()[at] = static_cast<std::byte>(random());
    std::uint64_t zero = 0;
    const std::size_t where = offsetof(FileHeader, hash);
    std::memcpy(file.data() + where, &zero, sizeof zero);
    const std::uint64_t hash = hash64(file.first(sizeof(FileHeader) + 3 * sizeof(Section)));
    std::memcpy(file.data() + where, &hash, sizeof hash);
    const Result<Contents> c = read(file.span());
    if (!c.ok()) {
      ASSERT_EQ(c.status().code(), Code::invalid_engine);
    }
  }
}

TEST(Damage, SaysWhatToDo) {
  std::vector<std::byte> bytes = image();
  AlignedBytes file(bytes);
  file.span()[8] = std::byte{9};
  EXPECT_NE(std::string(read(file.span()).status().message()).find("format 1.0"),
            std::string::npos);
  AlignedBytes other(
      std::as_bytes(std::span("this is certainly not an engine file, but long "
                              "enough for its header to be looked at")));
  EXPECT_NE(std::string(read(other.span()).status().message()).find("pass a file that Frit built"),
            std::string::npos);
  AlignedBytes weights(bytes);
  weights.span()[weights.span().size() - 1] ^= std::byte{1};
  EXPECT_NE(std::string(read(weights.span()).status().message()).find("weights"),
            std::string::npos);
  ReadOptions trusting;
  trusting.check_weights = false;
  EXPECT_TRUE(read(weights.span(), trusting).ok());
}

TEST(Damage, UnalignedMemoryIsAnArgumentError) {
  AlignedBytes file(image());
  EXPECT_EQ(read(file.span().subspan(1)).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace frit::plan
