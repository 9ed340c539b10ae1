// SPDX-License-Identifier: Apache-2.0
// frit-inspect: what is inside an engine file.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/mapped_file.h"
#include "tools/frit-inspect/describe.h"

namespace frit::inspect {
namespace {

int report(const std::string& path, const Status& status) {
  std::fprintf(stderr, "error: %s: %s: %s\n", path.c_str(), code_name(status.code()),
               status.message());
  return 1;
}

int inspect(const std::string& path, const Sections& sections, bool json, bool skip_checksums) {
  const auto file = MappedFile::open(path.c_str());
  if (!file.ok()) return report(path, file.status());
  const auto engine = plan::read(file->bytes(), {.check_weights = !skip_checksums, .parallel = {}});
  if (!engine.ok()) return report(path, engine.status());
  const std::string text = json ? print_json(*engine, sections) : print_text(*engine, sections);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return report(path, Status::error(Code::io_error, "the report cannot be written to stdout"));
  return 0;
}

}  // namespace
}  // namespace frit::inspect

int main(int argc, char** argv) {
  std::string path;
  frit::inspect::Sections sections;
  bool json = false, skip_checksums = false;
  CLI::App app("Shows what is inside an engine: all sections, or those chosen.", "frit-inspect");
  app.add_option("engine", path, "the engine file")->required();
  app.add_flag("--json", json, "print JSON");
  app.add_flag("--bindings", sections.bindings, "inputs and outputs");
  app.add_flag("--steps", sections.steps, "steps with kernels, operands, attributes and origin");
  app.add_flag("--memory", sections.memory, "map of the arena and list of constants");
  app.add_flag("--modules", sections.modules, "modules the engine needs");
  app.add_flag("--verification", sections.verification, "errors that the build measured");
  app.add_flag("--skip-checksums", skip_checksums, "do not read the weights to check them");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (!sections.bindings && !sections.steps && !sections.memory && !sections.modules &&
      !sections.verification)
    sections = {true, true, true, true, true};
  try {
    return frit::inspect::inspect(path, sections, json, skip_checksums);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s: %s\n", path.c_str(), error.what());
  }
  return 1;
}
