// SPDX-License-Identifier: Apache-2.0
#include "tools/frit-conformance/report.h"

#include <fmt/format.h>

#include <fstream>

#include "compiler/error.h"

namespace frit::conformance {
namespace {

// XML 1.0 has no way to write most control characters.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += ' ';
    else
      out += c;
  }
  return out;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) fail(Code::io_error, "cannot write '{}'", path);
}

}  // namespace

std::map<std::string, std::string> read_known_failures(const std::string& file) {
  std::ifstream in(file);
  if (!in) fail(Code::not_found, "cannot read the known failures '{}'", file);
  std::map<std::string, std::string> known;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    if (space == std::string::npos || space + 1 == line.size())
      fail(Code::invalid_argument, "{}:{}: expected a case, a space and a reason, found '{}'", file,
           number, line);
    if (!known.emplace(line.substr(0, space), line.substr(space + 1)).second)
      fail(Code::invalid_argument, "{}:{}: '{}' is listed twice", file, number,
           line.substr(0, space));
  }
  return known;
}

void write_junit(const std::string& file, const std::vector<Finished>& finished) {
  int failures = 0, skipped = 0;
  double seconds = 0;
  std::string cases;
  for (const auto& [the_case, result] : finished) {
    seconds += result.seconds;
    cases += fmt::format("  <testcase classname=\"conformance\" name=\"{}\" time=\"{:.3f}\"",
                         escaped(the_case.path), result.seconds);
    if (result.outcome == Outcome::passed) {
      cases += "/>\n";
      continue;
    }
    const bool failed = result.outcome == Outcome::failed;
    ++(failed ? failures : skipped);
    cases += fmt::format("><{} message=\"{}\"/></testcase>\n", failed ? "failure" : "skipped",
                         escaped(result.reason));
  }
  write(file, fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          "<testsuite name=\"frit-conformance\" tests=\"{}\" failures=\"{}\" "
                          "skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n",
                          finished.size(), failures, skipped, seconds, cases));
}

void write_passed(const std::string& file, const std::vector<Finished>& finished) {
  std::string text;
  for (const auto& [the_case, result] : finished)
    if (result.outcome == Outcome::passed) text += the_case.path + "\n";
  write(file, text);
}

}  // namespace frit::conformance
