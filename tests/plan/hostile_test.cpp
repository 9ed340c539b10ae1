// SPDX-License-Identifier: Apache-2.0
// Small files that would take for ever, or all memory, if references to shared data were followed
// without a limit.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/hash.h"
#include "plan/format.h"
#include "plan/plan_generated.h"
#include "tests/support/sample_plan.h"

namespace frit::plan {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr std::size_t kMany = 100000;

// A file that holds nothing but the given metadata.
Status read_metadata(FlatBufferBuilder& builder) {
  FileHeader header;
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.major = kFormatMajor;
  header.section_count = 1;
  Section section;
  section.kind = 1;
  section.offset = kWeightAlignment;
  section.bytes = builder.GetSize();
  header.file_bytes = section.offset + section.bytes;
  const std::span<const std::byte> metadata =
      std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  section.hash = hash_blocks(metadata);
  std::vector<std::byte> file(header.file_bytes);
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, &section, sizeof section);
  header.hash = hash64(std::span<const std::byte>(file).first(sizeof header + sizeof section));
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + section.offset, metadata.data(), metadata.size());
  test::AlignedBytes aligned(file);
  return read(aligned.span()).status();
}

// Metadata whose steps are all the one that `make` builds.
Status read_steps(const std::function<Offset<fb::Step>(FlatBufferBuilder&)>& make,
                  std::size_t count) {
  FlatBufferBuilder b;
  const auto strings = b.CreateVectorOfStrings({"", "cpu"});
  const std::vector<Offset<fb::Step>> steps(count, make(b));
  const auto list = b.CreateVector(steps);
  fb::RootBuilder root(b);
  root.add_strings(strings);
  root.add_backend(1);
  root.add_steps(list);
  b.Finish(root.Finish(), fb::RootIdentifier());
  return read_metadata(b);
}

void expect_refused(const Status& s, const char* part) {
  EXPECT_EQ(s.code(), Code::invalid_engine);
  EXPECT_NE(std::string(s.message()).find(part), std::string::npos) << s.message();
}

TEST(Hostile, ManyReferencesToOneStep) {
  const auto step = [](FlatBufferBuilder& b) {
    const auto ids = b.CreateVector(std::vector<std::int32_t>(kMany, -1));
    fb::StepBuilder s(b);
    s.add_inputs(ids);
    return s.Finish();
  };
  expect_refused(read_steps(step, 3 * kMany), "structure");
  // Few enough to pass for honest, but their lists unpack to far more than the file.
  expect_refused(read_steps(step, kMany / 4), "far more than its size");
}

TEST(Hostile, BlocksWithinBlocks) {
  const auto step = [](FlatBufferBuilder& b) {
    Offset<fb::Step> inner = fb::CreateStep(b);
    for (int depth = 0; depth < 1000; ++depth) {
      const auto steps = b.CreateVector(std::vector<Offset<fb::Step>>(2, inner));
      const auto block = fb::CreateBlock(b, steps);
      const auto blocks = b.CreateVector(std::vector<Offset<fb::Block>>(2, block));
      fb::StepBuilder s(b);
      s.add_blocks(blocks);
      inner = s.Finish();
    }
    return inner;
  };
  expect_refused(read_steps(step, 1), "structure");
}

TEST(Hostile, ManyTextsOfOneName) {
  const auto step = [](FlatBufferBuilder& b) {
    const auto origin = b.CreateVector(std::vector<std::uint32_t>(kMany, 1));
    fb::StepBuilder s(b);
    s.add_origin(origin);
    return s.Finish();
  };
  expect_refused(read_steps(step, 1000), "far more than its size");
}

TEST(Hostile, TextsOutOfRange) {
  const auto step = [](FlatBufferBuilder& b) {
    fb::StepBuilder s(b);
    s.add_name(2);
    return s.Finish();
  };
  expect_refused(read_steps(step, 1), "text number is out of range");
  FlatBufferBuilder b;
  fb::RootBuilder root(b);
  b.Finish(root.Finish(), fb::RootIdentifier());
  expect_refused(read_metadata(b), "list of texts is missing");
}

}  // namespace
}  // namespace frit::plan
