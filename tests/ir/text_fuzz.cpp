// SPDX-License-Identifier: Apache-2.0
// libFuzzer entry: any text parses or is refused, and what parses prints and parses to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "compiler/error.h"
#include "compiler/ir/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace frit;
  ir::Graph graph;
  try {
    ir::parse({reinterpret_cast<const char*>(data), size}, graph);
  } catch (const Error&) {
    return 0;
  }
  const std::string printed = ir::print(graph);
  ir::Graph again;
  ir::parse(printed, again);
  if (ir::print(again) != printed) std::abort();
  return 0;
}
