// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace frit {
namespace {

Status file_error(const char* action, const char* path, int error) noexcept {
  return Status::error(error == ENOENT ? Code::not_found : Code::io_error, "cannot %s '%s': %s",
                       action, path, std::strerror(error));
}

int open_retrying(const char* path, int flags, mode_t mode) noexcept {
  int descriptor;
  do {
    descriptor = ::open(path, flags, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

Status check_regular(const char* path, int descriptor, struct stat& info) noexcept {
  if (::fstat(descriptor, &info) != 0) return file_error("examine", path, errno);
  if (!S_ISREG(info.st_mode))
    return Status::error(Code::io_error, "cannot read '%s': expected a regular file, found %s",
                         path, S_ISDIR(info.st_mode) ? "a directory" : "a special file");
  return {};
}

// Makes the rename itself durable.
void sync_folder(const std::string& path) noexcept {
  char folder[4096];
  const std::size_t slash = path.rfind('/');
  const std::size_t length = slash == std::string::npos ? 0 : slash + 1;
  if (length >= sizeof folder) return;
  std::memcpy(folder, path.data(), length);
  std::strcpy(folder + length, length == 0 ? "." : "");
  const int descriptor = open_retrying(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<MappedFile> MappedFile::open(const char* path) noexcept {
  const int descriptor = open_retrying(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (descriptor < 0) return file_error("open", path, errno);
  struct stat info = {};
  Status status = check_regular(path, descriptor, info);
  MappedFile file;
  if (status.ok() && info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      status = file_error("map", path, errno);
    } else {
      ::madvise(data, size, MADV_WILLNEED);
      file.data_ = data;
      file.size_ = size;
    }
  }
  ::close(descriptor);
  if (!status.ok()) return status;
  return file;
}

Result<AtomicFile> AtomicFile::create(const char* path) noexcept {
  static std::atomic<unsigned> counter{0};
  AtomicFile file;
  try {
    file.path_ = path;
    file.temporary_ = file.path_ + ".tmp." + std::to_string(::getpid()) + "." +
                      std::to_string(counter.fetch_add(1));
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, "no memory for a file name");
  }
  file.descriptor_ =
      open_retrying(file.temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.descriptor_ < 0) return file_error("create", file.temporary_.c_str(), errno);
  return file;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

Status AtomicFile::write(std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return file_error("write", temporary_.c_str(), n < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return file_error("write", temporary_.c_str(), n < 0 ? errno : EIO);
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Status AtomicFile::commit() noexcept {
  if (::fsync(descriptor_) != 0) return file_error("sync", temporary_.c_str(), errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    return file_error("rename the finished file to", path_.c_str(), errno);
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder(path_);
  return {};
}

Status write_file(const char* path, std::span<const std::byte> bytes) noexcept {
  Result<AtomicFile> file = AtomicFile::create(path);
  FRIT_TRY(file);
  FRIT_TRY(file->write(bytes));
  return file->commit();
}

}  // namespace frit
