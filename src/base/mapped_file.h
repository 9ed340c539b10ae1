// SPDX-License-Identifier: Apache-2.0
// Files: read-only mapping, and writing that never leaves a half-written file behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/status.h"

namespace frit {

/// A whole regular file mapped read-only. Move-only; unmaps when destroyed. The file must not be
/// truncated while mapped (replace engine files by renaming over them).
class MappedFile {
 public:
  MappedFile() noexcept = default;
  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~MappedFile();

  /// Maps `path`. Errors: not_found, io_error. An empty file maps to an empty span.
  static Result<MappedFile> open(const char* path) noexcept;

  std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(data_), size_};
  }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Writes a file piece by piece under a temporary name beside `path`; `commit` syncs it and renames
/// it into place. Without commit, nothing remains.
class AtomicFile {
 public:
  AtomicFile() noexcept = default;
  AtomicFile(AtomicFile&& other) noexcept
      : path_(std::move(other.path_)),
        temporary_(std::move(other.temporary_)),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  static Result<AtomicFile> create(const char* path) noexcept;
  Status write(std::span<const std::byte> bytes) noexcept;
  /// Overwrites bytes written earlier.
  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  Status commit() noexcept;

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// Writes `bytes` to `path` atomically.
Status write_file(const char* path, std::span<const std::byte> bytes) noexcept;

}  // namespace frit
