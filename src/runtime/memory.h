// SPDX-License-Identifier: Apache-2.0
// Aligned host memory with an owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "base/dtypes.h"
#include "base/status.h"

namespace frit::runtime {

/// A block of uninitialized host memory aligned to 256 bytes; move-only.
class HostBuffer {
 public:
  HostBuffer() noexcept = default;
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HostBuffer() { std::free(data_); }

  /// Errors: out_of_memory, naming `what`.
  static Result<HostBuffer> allocate(std::uint64_t bytes, const char* what) noexcept {
    HostBuffer buffer;
    if (bytes == 0) return buffer;
    if (bytes <= kMaxBytes)
      buffer.data_ = static_cast<std::byte*>(std::aligned_alloc(256, align_up(bytes, 256)));
    if (buffer.data_ == nullptr)
      return Status::error(Code::out_of_memory, "cannot allocate %llu bytes for %s",
                           static_cast<unsigned long long>(bytes), what);
    buffer.size_ = bytes;
    return buffer;
  }

  std::byte* data() const noexcept { return data_; }
  std::uint64_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace frit::runtime
