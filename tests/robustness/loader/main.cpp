// SPDX-License-Identifier: Apache-2.0
// Loads damaged copies of one file, many in one process; tools/dev/damage.py drives it.
//
//   frit_damage_loader engine|model FILE
//
// Each line of standard input is one damage: "cut SIZE", "flip BIT" or, for engines, "reseal BIT"
// (the bit flipped under fresh checksums). Each gives one line, flushed: "CODE MESSAGE". A program
// that ends early crashed on the damage it has not answered.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "tests/robustness/damage.h"

namespace {

using frit::test::Outcome;

bool answer(bool engine, std::vector<std::byte>& file, const std::string& kind,
            std::uint64_t value) {
  const auto load = [&](std::span<const std::byte> bytes, bool run) {
    return engine ? frit::test::load_engine(bytes, run) : frit::test::load_model(bytes, false);
  };
  Outcome outcome;
  if (kind == "cut" && value <= file.size()) {
    outcome = load(std::span(file).first(value), false);
  } else if (kind == "flip" && value < file.size() * 8) {
    frit::test::flip(file, value);
    outcome = load(file, false);
    frit::test::flip(file, value);
  } else if (kind == "reseal" && engine && value < file.size() * 8) {
    std::vector<std::byte> copy = file;
    frit::test::flip(copy, value);
    frit::test::reseal(copy);
    outcome = load(copy, true);
  } else {
    std::fprintf(stderr,
                 "expected \"cut SIZE\", \"flip BIT\" or \"reseal BIT\" within the file, "
                 "found \"%s %llu\"\n",
                 kind.c_str(), static_cast<unsigned long long>(value));
    return false;
  }
  if (!frit::test::clear(outcome)) outcome.message = "UNCLEAR " + outcome.message;
  for (char& c : outcome.message)
    if (c == '\n') c = ' ';
  std::printf("%d %s\n", static_cast<int>(outcome.code), outcome.message.c_str());
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || (std::strcmp(argv[1], "engine") != 0 && std::strcmp(argv[1], "model") != 0)) {
    std::fprintf(stderr, "usage: frit_damage_loader engine|model FILE < DAMAGES\n");
    return 2;
  }
  std::ifstream in(argv[2], std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in.good() && text.empty()) {
    std::fprintf(stderr, "cannot read %s\n", argv[2]);
    return 2;
  }
  const auto bytes = std::as_bytes(std::span(text));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  std::string kind;
  std::uint64_t value = 0;
  while (std::cin >> kind >> value)
    if (!answer(std::strcmp(argv[1], "engine") == 0, file, kind, value)) return 2;
  return 0;
}
