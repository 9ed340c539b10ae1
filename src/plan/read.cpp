// SPDX-License-Identifier: Apache-2.0
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/dtypes.h"
#include "base/hash.h"
#include "plan/format.h"
#include "plan/metadata.h"

namespace frit::plan {
namespace {

constexpr const char* kAgain = "the file is damaged or incomplete, copy or build the engine again";

using Number = unsigned long long;

Status bad(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));
Status bad(const char* format, ...) noexcept {
  char text[512];
  std::va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return Status::error(Code::invalid_engine, "engine file: %s", text);
}

// The sections this version knows, as views of the image.
struct Layout {
  FileHeader header;
  Section sections[kMaxSections];
  std::span<const std::byte> metadata, weights, code;
  std::uint64_t metadata_hash = 0, weights_hash = 0, code_hash = 0;
};

Status read_header(std::span<const std::byte> image, FileHeader& header) noexcept {
  if (image.size() < sizeof header)
    return bad("expected at least %zu bytes, found %zu; %s", sizeof header, image.size(), kAgain);
  std::memcpy(&header, image.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return bad("it does not begin as a Frit engine does; pass a file that Frit built");
  if (header.major != kFormatMajor || header.minor > kFormatMinor)
    return bad(
        "expected format %u.0 to %u.%u, found %u.%u; build the engine again with this "
        "version, or update the runtime",
        unsigned{kFormatMajor}, unsigned{kFormatMajor}, unsigned{kFormatMinor},
        unsigned{header.major}, unsigned{header.minor});
  if (header.file_bytes != image.size())
    return bad("expected %llu bytes, found %zu; %s", Number{header.file_bytes}, image.size(),
               kAgain);
  if (header.section_count < 1 || header.section_count > kMaxSections)
    return bad("expected 1 to %u sections, found %u; %s", kMaxSections, header.section_count,
               kAgain);
  return {};
}

Status check_header_hash(std::span<const std::byte> image, FileHeader header) noexcept {
  std::byte start[sizeof(FileHeader) + sizeof(Section) * kMaxSections];
  const std::size_t length = sizeof header + sizeof(Section) * header.section_count;
  if (image.size() < length) return bad("its section table is cut off; %s", kAgain);
  const std::uint64_t expected = header.hash;
  std::memcpy(start, image.data(), length);
  header.hash = 0;
  std::memcpy(start, &header, sizeof header);
  if (hash64(std::span<const std::byte>(start, length)) != expected)
    return bad("the checksum of its header does not match; %s", kAgain);
  return {};
}

// Sections follow each other with nothing but zero padding between, so that no byte goes unchecked.
Status check_padding(std::span<const std::byte> image, std::uint64_t from,
                     std::uint64_t to) noexcept {
  if (to < from || to > image.size() || to - from >= kWeightAlignment)
    return bad("its sections overlap, leave a gap or run past the end; %s", kAgain);
  for (std::uint64_t i = from; i < to; ++i)
    if (image[i] != std::byte{0}) return bad("its padding is not zero; %s", kAgain);
  return {};
}

Status take_section(Layout& layout, const Section& section, std::span<const std::byte> bytes) {
  const auto store = [&](std::span<const std::byte>& view, std::uint64_t& hash) -> Status {
    if (view.data() != nullptr) return bad("it has two sections of one kind; %s", kAgain);
    view = bytes;
    hash = section.hash;
    return {};
  };
  switch (static_cast<SectionKind>(section.kind)) {
    case SectionKind::metadata:
      return store(layout.metadata, layout.metadata_hash);
    case SectionKind::weights:
      return store(layout.weights, layout.weights_hash);
    case SectionKind::code:
      return store(layout.code, layout.code_hash);
  }
  return bad("it has a section of unknown kind %u; %s", section.kind, kAgain);
}

Status read_layout(std::span<const std::byte> image, Layout& layout) noexcept {
  FRIT_TRY(read_header(image, layout.header));
  FRIT_TRY(check_header_hash(image, layout.header));
  const std::uint32_t count = layout.header.section_count;
  std::memcpy(layout.sections, image.data() + sizeof(FileHeader), sizeof(Section) * count);
  std::uint64_t position = sizeof(FileHeader) + sizeof(Section) * count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Section& s = layout.sections[i];
    FRIT_TRY(check_padding(image, position, s.offset));
    if (s.offset % kWeightAlignment != 0 || s.bytes > image.size() - s.offset)
      return bad("section %u is misaligned or runs past the end; %s", i, kAgain);
    FRIT_TRY(take_section(layout, s, image.subspan(s.offset, s.bytes)));
    position = s.offset + s.bytes;
  }
  if (position != image.size()) return bad("bytes follow its last section; %s", kAgain);
  if (layout.metadata.size() > kMaxMetadataBytes)
    return bad("expected at most %llu bytes of metadata, found %zu", Number{kMaxMetadataBytes},
               layout.metadata.size());
  return {};
}

Status check_hash(std::span<const std::byte> section, std::uint64_t expected, const char* name,
                  const kernels::Parallel& parallel) noexcept {
  if (section.data() == nullptr || hash_blocks(section, parallel) == expected) return {};
  return bad("the checksum of its %s does not match; %s", name, kAgain);
}

}  // namespace

Result<Contents> read(std::span<const std::byte> image, const ReadOptions& options) noexcept {
  if (reinterpret_cast<std::uintptr_t>(image.data()) % kWeightAlignment != 0)
    return Status::error(Code::invalid_argument,
                         "engine image: expected memory aligned to %llu bytes, found %p",
                         Number{kWeightAlignment}, static_cast<const void*>(image.data()));
  Layout layout;
  FRIT_TRY(read_layout(image, layout));
  FRIT_TRY(check_hash(layout.metadata, layout.metadata_hash, "metadata", options.parallel));
  if (options.check_weights) {
    FRIT_TRY(check_hash(layout.weights, layout.weights_hash, "weights", options.parallel));
    FRIT_TRY(check_hash(layout.code, layout.code_hash, "code", options.parallel));
  }
  try {
    Result<Plan> plan = decode_metadata(layout.metadata);
    FRIT_TRY(plan);
    FRIT_TRY(verify(*plan, layout.weights.size(), layout.code.size()));
    Contents contents;
    contents.plan = std::move(*plan);
    contents.format_major = layout.header.major;
    contents.format_minor = layout.header.minor;
    contents.fingerprint = layout.header.hash;
    contents.weights = layout.weights;
    contents.code = layout.code;
    return contents;
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, "not enough memory to read the engine's metadata");
  }
}

}  // namespace frit::plan
