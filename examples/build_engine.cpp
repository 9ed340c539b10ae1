// SPDX-License-Identifier: Apache-2.0
// Builds an engine of an ONNX model:  example_build_engine MODEL.onnx ENGINE [INPUT:1x3x224x224]...
#include <cstdio>
#include <cstdlib>
#include <string>

#include "frit/builder.h"

namespace {

// "input:1x3x224x224" into a name and dims; false if it is not of that form.
bool read_shape(const std::string& text, frit::InputShapes& shapes) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  std::vector<std::int64_t>& dims = shapes[text.substr(0, colon)];
  const char* at = text.c_str() + colon;
  do {
    char* end = nullptr;
    dims.push_back(std::strtoll(at + 1, &end, 10));
    if (end == at + 1) return false;
    at = end;
  } while (*at == 'x');
  return *at == '\0';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s MODEL.onnx ENGINE [INPUT:1x3x224x224]...\n", argv[0]);
    return 2;
  }
  frit::ParseOptions parse;
  for (int a = 3; a < argc; ++a) {
    if (!read_shape(argv[a], parse.shapes)) {
      std::fprintf(stderr, "expected INPUT:1x3x224x224, found '%s'\n", argv[a]);
      return 2;
    }
  }
  const auto network = frit::Network::parse_file(argv[1], parse);
  if (!network) {
    std::fprintf(stderr, "%s\n", network.error().text().c_str());
    return 1;
  }

  frit::BuildConfig config;
  config.progress = [](const frit::Progress& at) {
    if (at.step == 0)
      std::fprintf(stderr, "%.*s\n", static_cast<int>(at.phase.size()), at.phase.data());
    return true;  // false would cancel the build
  };
  const auto engine = frit::Builder().build(*network, config);
  if (!engine) {
    std::fprintf(stderr, "%s\n", engine.error().text().c_str());
    return 1;
  }
  const frit::BuildReport& report = engine->report;
  std::printf("%zu nodes became %zu steps; weights %llu bytes, activations %llu bytes\n",
              report.nodes_before, report.steps.size(),
              static_cast<unsigned long long>(report.weights_bytes),
              static_cast<unsigned long long>(report.arena_bytes));
  for (const frit::VerifyRow& row : report.verification)
    std::printf("%s: %s, largest error %.2g (%s)\n", row.output.c_str(),
                row.passed ? "matches the reference" : "DIFFERS from the reference",
                row.max_abs_error, row.covered.c_str());
  if (const auto error = engine->save(argv[2])) {
    std::fprintf(stderr, "%s\n", error->text().c_str());
    return 1;
  }
  return report.verified() ? 0 : 1;
}
