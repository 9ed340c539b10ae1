// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace frit {
namespace {

TEST(Log, FiltersByLevelAndFormats) {
  std::vector<std::string> lines;
  set_log_sink(
      [](void* user, LogLevel level, const char* message) {
        static_cast<std::vector<std::string>*>(user)->push_back(
            std::to_string(static_cast<int>(level)) + message);
      },
      &lines);
  set_log_level(LogLevel::info);
  log(LogLevel::verbose, "dropped");
  log(LogLevel::info, "kept %d", 5);
  log(LogLevel::error, "%s", std::string(5000, 'y').c_str());
  set_log_sink(nullptr, nullptr);
  set_log_level(LogLevel::warning);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "2kept 5");
  EXPECT_EQ(lines[1].size(), 2048u);
  EXPECT_FALSE(log_enabled(LogLevel::info));
}

}  // namespace
}  // namespace frit
