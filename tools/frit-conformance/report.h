// SPDX-License-Identifier: Apache-2.0
// The files that frit-conformance reads and writes about results.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/frit-conformance/cases.h"

namespace frit::conformance {

struct Finished {
  Case the_case;
  Result result;
};

/// Reads "PATH REASON…" lines, '#' comments; the reason is required. Throws Error naming the line.
std::map<std::string, std::string> read_known_failures(const std::string& file);

/// Writes the results in JUnit's XML. Throws Error(io_error).
void write_junit(const std::string& file, const std::vector<Finished>& finished);

/// Writes the paths of the cases that passed, one a line. Throws Error(io_error).
void write_passed(const std::string& file, const std::vector<Finished>& finished);

}  // namespace frit::conformance
