// SPDX-License-Identifier: Apache-2.0
// The byte layout around the metadata: header and section table, little-endian.
#pragma once

#include <cstdint>

namespace frit::plan {

inline constexpr unsigned char kMagic[8] = {0x8F, 'F', 'R', 'I', 'T', '\r', '\n', 0x1A};

/// First 64 bytes of a file. `hash` is the xxh3 of header and section table with `hash` = 0.
struct FileHeader {
  unsigned char magic[8] = {};
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint32_t section_count = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t hash = 0;
  std::uint8_t reserved[32] = {};  ///< zero
};
static_assert(sizeof(FileHeader) == 64);

enum class SectionKind : std::uint32_t { metadata = 1, weights = 2, code = 3 };

/// One entry of the table that follows the header. `hash` is hash_blocks of the section.
struct Section {
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;  ///< zero
  std::uint64_t offset = 0;    ///< in the file, a multiple of 256
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
};
static_assert(sizeof(Section) == 32);

inline constexpr std::uint32_t kMaxSections = 16;
inline constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{1} << 30;

}  // namespace frit::plan
