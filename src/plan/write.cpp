// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>
#include <unordered_map>

#include "base/dtypes.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "plan/format.h"
#include "plan/metadata.h"

namespace frit::plan {
namespace {

// Receives the file front to back; `patch` overwrites the start once all hashes are known.
struct Sink {
  virtual ~Sink() = default;
  virtual Status append(std::span<const std::byte> bytes) = 0;
  virtual Status patch(std::span<const std::byte> start) = 0;
};

struct MemorySink final : Sink {
  std::vector<std::byte> bytes;
  Status append(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return {};
  }
  Status patch(std::span<const std::byte> start) override {
    std::memcpy(bytes.data(), start.data(), start.size());
    return {};
  }
};

struct FileSink final : Sink {
  explicit FileSink(AtomicFile& f) : file(f) {}
  AtomicFile& file;
  Status append(std::span<const std::byte> more) override { return file.write(more); }
  Status patch(std::span<const std::byte> start) override { return file.write_at(0, start); }
};

// One distinct blob of a raw section and where it lies.
struct Placed {
  Blob blob;
  std::uint64_t offset;
};

// Lays blobs out at aligned offsets; equal contents share one place.
class RawSection {
 public:
  std::uint64_t place(Blob blob, std::uint64_t hash) {
    auto [begin, end] = by_hash_.equal_range(hash);
    for (; begin != end; ++begin) {
      const Placed& p = placed_[begin->second];
      if (p.blob.size() == blob.size() &&
          (blob.empty() || std::memcmp(p.blob.data(), blob.data(), blob.size()) == 0))
        return p.offset;
    }
    by_hash_.emplace(hash, placed_.size());
    const std::uint64_t offset = align_up(bytes_, kWeightAlignment);
    placed_.push_back({blob, offset});
    bytes_ = offset + blob.size();
    return offset;
  }
  std::uint64_t bytes() const { return bytes_; }
  const std::vector<Placed>& placed() const { return placed_; }

 private:
  std::vector<Placed> placed_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_hash_;
  std::uint64_t bytes_ = 0;
};

// hash_blocks of data that comes in pieces.
class BlockHasher {
 public:
  void add(std::span<const std::byte> data) {
    while (!data.empty()) {
      const std::size_t n = std::min(data.size(), kHashBlock - filled_);
      inner_.add(data.first(n));
      filled_ += n;
      data = data.subspan(n);
      if (filled_ == kHashBlock) close();
    }
  }
  std::uint64_t value() {
    if (filled_ > 0) close();
    return outer_.value();
  }

 private:
  void close() {
    outer_.add(static_cast<std::int64_t>(inner_.value()));
    inner_ = Hasher();
    filled_ = 0;
  }
  Hasher inner_, outer_;
  std::size_t filled_ = 0;
};

class Writer {
 public:
  explicit Writer(Sink& sink) : sink_(sink) {}

  Status run(Plan& plan, std::span<const Blob> constants, std::span<const Blob> images) {
    RawSection weights, code;
    FRIT_TRY(place(plan.constants, constants, weights, "constant"));
    FRIT_TRY(place(plan.images, images, code, "code image"));
    FRIT_TRY(verify(plan, weights.bytes(), code.bytes()));
    const Result<std::vector<std::byte>> metadata = encode_metadata(plan);
    FRIT_TRY(metadata);

    Section sections[3];
    const std::size_t table = sizeof(FileHeader) + sizeof sections;
    FRIT_TRY(pad(table));
    FRIT_TRY(begin(sections[0], SectionKind::metadata));
    FRIT_TRY(append(*metadata));
    end(sections[0]);
    FRIT_TRY(raw(sections[1], SectionKind::weights, weights));
    FRIT_TRY(raw(sections[2], SectionKind::code, code));

    FileHeader header;
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.major = kFormatMajor;
    header.minor = kFormatMinor;
    header.section_count = 3;
    header.file_bytes = position_;
    std::byte start[sizeof(FileHeader) + sizeof sections];
    std::memcpy(start, &header, sizeof header);
    std::memcpy(start + sizeof header, sections, sizeof sections);
    header.hash = hash64(std::span<const std::byte>(start));
    std::memcpy(start, &header, sizeof header);
    return sink_.patch(start);
  }

 private:
  static std::uint64_t* hash_of(Constant& c) { return &c.hash; }
  static std::uint64_t* hash_of(CodeImage&) { return nullptr; }

  template <class T>
  static Status place(std::vector<T>& items, std::span<const Blob> blobs, RawSection& section,
                      const char* what) {
    if (items.size() != blobs.size())
      return Status::error(Code::internal, "engine writer: expected %zu %ss, found data for %zu",
                           items.size(), what, blobs.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].bytes != blobs[i].size())
        return Status::error(Code::internal,
                             "engine writer: %s %zu: expected %llu bytes of data, found %zu", what,
                             i, static_cast<unsigned long long>(items[i].bytes), blobs[i].size());
      const std::uint64_t hash = hash64(blobs[i]);
      if (std::uint64_t* h = hash_of(items[i])) *h = hash;
      items[i].offset = section.place(blobs[i], hash);
    }
    return {};
  }

  Status raw(Section& section, SectionKind kind, const RawSection& contents) {
    FRIT_TRY(begin(section, kind));
    for (const Placed& p : contents.placed()) {
      FRIT_TRY(pad(section.offset + p.offset));
      FRIT_TRY(append(p.blob));
    }
    end(section);
    return {};
  }

  Status begin(Section& section, SectionKind kind) {
    FRIT_TRY(pad(align_up(position_, kWeightAlignment)));
    section.kind = static_cast<std::uint32_t>(kind);
    section.offset = position_;
    hasher_ = BlockHasher();
    return {};
  }
  void end(Section& section) {
    section.bytes = position_ - section.offset;
    section.hash = hasher_.value();
  }
  Status append(std::span<const std::byte> bytes) {
    hasher_.add(bytes);
    position_ += bytes.size();
    return sink_.append(bytes);
  }
  Status pad(std::uint64_t to) {
    static constexpr std::byte kZeros[kWeightAlignment] = {};
    while (position_ < to)
      FRIT_TRY(append(std::span(kZeros).first(
          static_cast<std::size_t>(std::min<std::uint64_t>(to - position_, sizeof kZeros)))));
    return {};
  }

  Sink& sink_;
  BlockHasher hasher_;
  std::uint64_t position_ = 0;
};

constexpr const char* kNoMemory = "not enough memory to write the engine";

}  // namespace

Result<std::vector<std::byte>> write(Plan plan, std::span<const Blob> constants,
                                     std::span<const Blob> images) noexcept {
  try {
    MemorySink sink;
    FRIT_TRY(Writer(sink).run(plan, constants, images));
    return std::move(sink.bytes);
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, kNoMemory);
  }
}

Status write_file(const char* path, Plan plan, std::span<const Blob> constants,
                  std::span<const Blob> images) noexcept {
  try {
    Result<AtomicFile> file = AtomicFile::create(path);
    FRIT_TRY(file);
    FileSink sink(*file);
    FRIT_TRY(Writer(sink).run(plan, constants, images));
    return file->commit();
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, kNoMemory);
  }
}

}  // namespace frit::plan
