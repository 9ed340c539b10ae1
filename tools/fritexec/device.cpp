// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/device.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "base/thread_pool.h"
#include "frit/builder.h"
#include "tools/fritexec/log.h"

namespace frit::exec {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

void report_device() {
  log_section("Device Information");
  log_info("Available Devices: CPU");
  log_info("Selected Device: {}", processor_name());
  log_info("Processors: {}", available_cpus());
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && page > 0)
    log_info("Host Memory: {} MiB",
             static_cast<unsigned long long>(pages) * static_cast<unsigned long long>(page) >> 20U);
  log_info("");
  log_info("Frit version: {}", builder_version());
}

}  // namespace frit::exec
