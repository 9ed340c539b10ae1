// SPDX-License-Identifier: Apache-2.0
#include "runtime/step_error.h"

#include <cstdio>

namespace frit::runtime {
namespace {

constexpr std::size_t kMaxOrigins = 6;  // of a fused region; more would hide the message

// Appends to a fixed text, cutting silently at its end.
class Text {
 public:
  explicit Text(std::span<char> out) : out_(out) {}
  void add(const char* format, const char* value) noexcept {
    if (used_ >= out_.size()) return;
    const int n = std::snprintf(out_.data() + used_, out_.size() - used_, format, value);
    if (n > 0) used_ += static_cast<std::size_t>(n);
  }

 private:
  std::span<char> out_;
  std::size_t used_ = 0;
};

}  // namespace

void format_step_error(std::span<char> out, const plan::Step& step, const char* message) noexcept {
  Text text(out);
  text.add("step '%.200s'", step.name.c_str());
  text.add(" (%.100s", step.kernel.empty() ? plan::step_kind_name(step.kind) : step.kernel.c_str());
  for (std::size_t i = 0; i < step.origin.size() && i < kMaxOrigins; ++i)
    text.add(i == 0 ? ", ONNX node '%.200s'" : ", '%.200s'", step.origin[i].c_str());
  if (step.origin.size() > kMaxOrigins) text.add("%s", ", ...");
  text.add("): %s", message);
}

Status step_error(Code code, const plan::Step& step, const char* message) noexcept {
  char text[kMaxMessage];
  format_step_error(text, step, message);
  return Status::error(code, "%s", text);
}

}  // namespace frit::runtime
