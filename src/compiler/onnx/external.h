// SPDX-License-Identifier: Apache-2.0
// Tensor contents in files beside the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/mapped_file.h"

namespace frit::importer {

/// Bytes of an external file and what keeps them mapped.
struct ExternalBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Maps each external file once. Locations may not leave the model's folder, neither by an absolute
/// path or "..", nor through a symbolic link.
class ExternalFiles {
 public:
  ExternalFiles() = default;
  /// `folder` empty: every external location is refused.
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  /// `length` bytes of `location` from `offset`. Throws Error naming `tensor`, the file and the
  /// reason.
  ExternalBytes read(const std::string& location, std::uint64_t offset, std::uint64_t length,
                     const std::string& tensor);

 private:
  const MappedFile& open(const std::string& location, const std::string& tensor);

  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace frit::importer
