// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/log.h"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <string>

namespace frit::exec {
namespace {

std::atomic<bool> verbose_lines = false;
std::mutex print_mutex;

std::string stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "[%m/%d/%Y-%H:%M:%S]", &parts);
  return text;
}

}  // namespace

void set_verbose(bool verbose) {
  verbose_lines = verbose;
}

bool is_verbose() {
  return verbose_lines;
}

void log_line(char letter, std::string_view text) {
  if (letter == 'V' && !is_verbose()) return;
  const bool problem = letter == 'E' || letter == 'W';
  const std::string prefix = fmt::format("{} [{}]", stamp(), letter);
  const std::lock_guard lock(print_mutex);
  // Keeps the order of lines where both streams go to one place.
  if (problem) std::fflush(stdout);
  std::FILE* stream = problem ? stderr : stdout;
  for (;;) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    fmt::print(stream, "{}{}{}\n", prefix, line.empty() ? "" : " ", line);
    if (end == std::string_view::npos || end + 1 == text.size()) break;
    text.remove_prefix(end + 1);
  }
}

void log_raw(std::string_view text) {
  const std::lock_guard lock(print_mutex);
  fmt::print(stdout, "{}\n", text);
  std::fflush(stdout);
}

void log_section(std::string_view title) {
  log_line('I', "");
  log_info("=== {} ===", title);
}

}  // namespace frit::exec
