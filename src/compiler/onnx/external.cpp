// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/external.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "compiler/error.h"

namespace frit::importer {
namespace {

namespace fs = std::filesystem;

// True if `path` lies below `folder`; both are canonical.
bool is_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

}  // namespace

const MappedFile& ExternalFiles::open(const std::string& location, const std::string& tensor) {
  if (const auto known = files_.find(location); known != files_.end()) return *known->second;
  if (folder_.empty())
    fail(
        Code::invalid_argument,
        "tensor \"{}\" keeps its data in the file \"{}\", but the model was given as bytes without "
        "a folder; pass the folder or import the file",
        tensor, location);
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute())
    fail(Code::invalid_model,
         "tensor \"{}\" has the external location \"{}\"; expected a path relative to the model",
         tensor, location);
  for (const fs::path& part : relative)
    if (part == "..")
      fail(
          Code::invalid_model,
          "tensor \"{}\" has the external location \"{}\", which leaves the model's folder through "
          "\"..\"; move the data beside the model",
          tensor, location);

  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  if (error) fail(Code::not_found, "cannot open the model's folder \"{}\"", folder_);
  const fs::path path = fs::canonical(folder / relative, error);
  if (error)
    fail(Code::not_found,
         "the data of tensor \"{}\" are missing: cannot find \"{}\" in the model's folder \"{}\"",
         tensor, location, folder_);
  if (!is_below(path, folder))
    fail(
        Code::invalid_model,
        "tensor \"{}\" has the external location \"{}\", which leaves the model's folder through a "
        "symbolic link; move the data beside the model",
        tensor, location);
  Result<MappedFile> mapped = MappedFile::open(path.c_str());
  if (!mapped.ok())
    fail(mapped.status().code(), "cannot read the data of tensor \"{}\": {}", tensor,
         mapped.status().message());
  auto file = std::make_shared<const MappedFile>(std::move(*mapped));
  return *files_.emplace(location, std::move(file)).first->second;
}

ExternalBytes ExternalFiles::read(const std::string& location, std::uint64_t offset,
                                  std::uint64_t length, const std::string& tensor) {
  const std::span<const std::byte> bytes = open(location, tensor).bytes();
  if (offset > bytes.size() || length > bytes.size() - offset)
    fail(
        Code::invalid_model,
        "tensor \"{}\" needs bytes {} to {} of \"{}\", which has only {}; the file is truncated or "
        "belongs to another model",
        tensor, offset, offset + length, location, bytes.size());
  return {bytes.subspan(offset, length), files_.at(location)};
}

}  // namespace frit::importer
