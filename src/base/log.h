// SPDX-License-Identifier: Apache-2.0
// One process-wide log with levels and a replaceable sink. Never used while an engine runs.
#pragma once

#include <cstdint>

namespace frit {

/// Severity; the numbers are part of the C ABI.
enum class LogLevel : std::int32_t { error = 0, warning = 1, info = 2, verbose = 3 };

/// Receives one line without a newline; called under a lock, so it must not log itself.
using LogSink = void (*)(void* user, LogLevel level, const char* message);

/// Replaces the sink; null restores the default, which prints to stderr.
void set_log_sink(LogSink sink, void* user) noexcept;

/// Drops lines less severe than `level` (default: warning).
void set_log_level(LogLevel level) noexcept;
bool log_enabled(LogLevel level) noexcept;

/// Formats and emits one line, cut at 2047 characters.
[[gnu::format(printf, 2, 3)]] void log(LogLevel level, const char* format, ...) noexcept;

}  // namespace frit
