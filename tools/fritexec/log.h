// SPDX-License-Identifier: Apache-2.0
// Log lines in trtexec's shape: "[MM/DD/YYYY-HH:MM:SS] [I] text".
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace frit::exec {

/// Also prints verbose lines from now on.
void set_verbose(bool verbose);
bool is_verbose();

/// Prints every line of `text` with time and letter (E, W, I, V); E and W go to stderr. Any thread.
void log_line(char letter, std::string_view text);
/// Prints a line as it is, on stdout.
void log_raw(std::string_view text);
/// "=== title ===" on a line of its own, after an empty one.
void log_section(std::string_view title);

template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log_line('I', fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) {
  log_line('W', fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log_line('E', fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace frit::exec
