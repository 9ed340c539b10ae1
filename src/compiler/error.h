// SPDX-License-Identifier: Apache-2.0
// The compiler's one exception. Caught at the API edge and turned into a status there.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <utility>

#include "frit/types.h"

namespace frit {

/// A failed build: what kind, one complete sentence, and the ONNX nodes it concerns (may be empty).
class Error : public std::exception {
 public:
  Error(Code code, std::string message, std::string origin = {})
      : code_(code), message_(std::move(message)), origin_(std::move(origin)) {}

  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& origin() const { return origin_; }
  /// Names the ONNX node if none is known yet; the importer and the pass manager call this once.
  void set_origin(std::string origin) {
    if (origin_.empty()) origin_ = std::move(origin);
  }
  /// Puts "in <where>: " in front of the message.
  void add_context(const std::string& where) { message_ = "in " + where + ": " + message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Code code_;
  std::string message_;
  std::string origin_;
};

/// Throws an Error with a formatted message.
template <class... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Checks an invariant of the compiler itself; a violation is a bug, reported as Code::internal.
template <class... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw Error(Code::internal, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace frit
