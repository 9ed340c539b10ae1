// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace frit {
namespace {

std::atomic<LogLevel> g_level{LogLevel::warning};
std::mutex g_mutex;
LogSink g_sink = nullptr;
void* g_user = nullptr;

void print(LogLevel level, const char* message) noexcept {
  static constexpr const char* kNames[] = {"error", "warning", "info", "verbose"};
  const int index = static_cast<int>(level);
  std::fprintf(stderr, "[frit %s] %s\n", index >= 0 && index < 4 ? kNames[index] : "?", message);
}

}  // namespace

void set_log_sink(LogSink sink, void* user) noexcept {
  const std::lock_guard lock(g_mutex);
  g_sink = sink;
  g_user = user;
}

void set_log_level(LogLevel level) noexcept {
  g_level.store(level, std::memory_order_relaxed);
}

bool log_enabled(LogLevel level) noexcept {
  return level <= g_level.load(std::memory_order_relaxed);
}

void log(LogLevel level, const char* format, ...) noexcept {
  if (!log_enabled(level)) return;
  char text[2048];
  std::va_list args;
  va_start(args, format);
  const int length = std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (length < 0) return;
  const std::lock_guard lock(g_mutex);
  if (g_sink != nullptr) {
    g_sink(g_user, level, text);
  } else {
    print(level, text);
  }
}

}  // namespace frit
