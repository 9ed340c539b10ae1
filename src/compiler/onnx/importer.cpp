// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/importer.h"

#include <filesystem>
#include <utility>

#include "base/mapped_file.h"
#include "compiler/error.h"
#include "compiler/onnx/translation.h"

namespace frit::importer {

void import_memory(std::span<const std::byte> bytes, const std::string& folder,
                   const ImportOptions& options, ir::Graph& out, ImportReport& report) {
  Translation(parse_model(bytes, folder, "the model"), options, out, report).run();
}

void import_file(const std::string& path, const ImportOptions& options, ir::Graph& out,
                 ImportReport& report) {
  std::shared_ptr<Model> model;
  {
    const Result<MappedFile> file = MappedFile::open(path.c_str());
    if (!file.ok()) throw Error(file.status().code(), file.status().message());
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    model = parse_model(file->bytes(), folder, fmt::format("\"{}\"", path));
  }
  Translation(std::move(model), options, out, report).run();
}

}  // namespace frit::importer
