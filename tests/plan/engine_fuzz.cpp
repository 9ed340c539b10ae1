// SPDX-License-Identifier: Apache-2.0
// Feeds engine files to the reader: as they come, and again with all checksums put right, so that
// the input reaches the checks behind them. Seeds: any engine files.
#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "plan/format.h"
#include "tests/support/sample_plan.h"

namespace frit::plan {
namespace {

// Touches what the runtime would trust after a successful read.
void read_and_touch(std::span<const std::byte> image) {
  const Result<Contents> c = read(image);
  if (!c.ok()) return;
  for (std::size_t i = 0; i < c->plan.constants.size(); ++i) hash64(c->constant(i));
  for (std::size_t i = 0; i < c->plan.images.size(); ++i) hash64(c->image(i));
}

void reseal(std::span<std::byte> file) {
  FileHeader header;
  if (file.size() < sizeof header) return;
  std::memcpy(&header, file.data(), sizeof header);
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.file_bytes = file.size();
  const std::size_t count = std::min<std::size_t>(header.section_count, kMaxSections);
  const std::size_t table = sizeof header + count * sizeof(Section);
  if (file.size() < table) return;
  for (std::size_t i = 0; i < count; ++i) {
    Section s;
    std::byte* const at = file.data() + sizeof header + i * sizeof s;
    std::memcpy(&s, at, sizeof s);
    if (s.offset > file.size() || s.bytes > file.size() - s.offset) continue;
    s.hash = hash_blocks(file.subspan(s.offset, s.bytes));
    std::memcpy(at, &s, sizeof s);
  }
  header.hash = 0;
  std::memcpy(file.data(), &header, sizeof header);
  header.hash = hash64(std::span<const std::byte>(file).first(table));
  std::memcpy(file.data(), &header, sizeof header);
}

}  // namespace
}  // namespace frit::plan

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  frit::test::AlignedBytes file(std::as_bytes(std::span(data, size)));
  frit::plan::read_and_touch(file.span());
  frit::plan::reseal(file.span());
  frit::plan::read_and_touch(file.span());
  return 0;
}
