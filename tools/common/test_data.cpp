// SPDX-License-Identifier: Apache-2.0
#include "tools/common/test_data.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "compiler/error.h"

namespace frit::tools {
namespace {

namespace fs = std::filesystem;

// N of "<prefix>N<suffix>", or -1.
int number_in(const std::string& name, std::string_view prefix, std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return -1;
  const char* begin = name.data() + prefix.size();
  const char* end = name.data() + name.size() - suffix.size();
  int number = -1;
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc() && stop == end && begin < end ? number : -1;
}

std::vector<importer::NamedTensor> read_files(const fs::path& folder, std::string_view prefix) {
  std::map<int, fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const int number = number_in(entry.path().filename().string(), prefix, ".pb");
    if (number >= 0) files[number] = entry.path();
  }
  std::vector<importer::NamedTensor> tensors;
  for (const auto& [number, path] : files) {
    if (number != static_cast<int>(tensors.size()))
      fail(Code::not_found, "'{}' has no {}{}.pb", folder.string(), prefix, tensors.size());
    tensors.push_back(importer::read_tensor_file(path.string()));
  }
  return tensors;
}

}  // namespace

std::vector<fs::path> find_test_sets(const fs::path& folder) {
  std::error_code error;
  std::map<int, fs::path> sets;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const int number = number_in(entry.path().filename().string(), "test_data_set_", "");
    if (number >= 0 && entry.is_directory()) sets[number] = entry.path();
  }
  if (sets.empty())
    fail(Code::not_found,
         "'{}' has no test_data_set_N folders; expected the layout of ONNX's backend tests",
         folder.string());
  std::vector<fs::path> list;
  for (auto& [number, path] : sets) list.push_back(std::move(path));
  return list;
}

TestSet read_test_set(const fs::path& folder) {
  return {folder, read_files(folder, "input_"), read_files(folder, "output_")};
}

void write_outputs(const fs::path& folder, const std::vector<importer::NamedTensor>& outputs) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(Code::io_error, "cannot make '{}': {}", folder.string(), error.message());
  for (std::size_t k = 0; k < outputs.size(); ++k)
    importer::write_tensor_file((folder / ("output_" + std::to_string(k) + ".pb")).string(),
                                outputs[k]);
}

}  // namespace frit::tools
