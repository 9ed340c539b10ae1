// SPDX-License-Identifier: Apache-2.0
// The part of the C ABI that needs no object: version, errors, names, log.
#include <cstdio>
#include <cstring>

#include "base/dtypes.h"
#include "base/log.h"
#include "base/printable.h"
#include "runtime/c_status.h"

namespace frit::runtime {
namespace {

thread_local char t_last_error[kMaxMessage] = "";

}  // namespace

frit_status report(const Status& status) noexcept {
  if (!status.ok()) {
    std::snprintf(t_last_error, sizeof t_last_error, "%s", status.message());
    make_printable(t_last_error, std::strlen(t_last_error));
  }
  return static_cast<frit_status>(status.code());
}

namespace {

// What the C caller registered; read only under the log's lock.
struct CSink {
  frit_log_callback callback = nullptr;
  void* user = nullptr;
};
CSink g_sink;

void forward(void* user, LogLevel level, const char* message) {
  const auto* sink = static_cast<const CSink*>(user);
  sink->callback(sink->user, static_cast<std::int32_t>(level), message);
}

}  // namespace
}  // namespace frit::runtime

extern "C" {

const char* frit_version(void) noexcept {
  return FRIT_VERSION_TEXT;
}

const char* frit_last_error(void) noexcept {
  return frit::runtime::t_last_error;
}

const char* frit_status_name(frit_status status) noexcept {
  return frit::code_name(static_cast<frit::Code>(status));
}

const char* frit_dtype_name(int32_t dtype) noexcept {
  return dtype < 0 || dtype >= frit::kDTypeCount
             ? "undefined"
             : frit::dtype_name(static_cast<frit::DType>(dtype));
}

int32_t frit_dtype_bits(int32_t dtype) noexcept {
  return dtype < 0 || dtype >= frit::kDTypeCount
             ? 0
             : frit::dtype_bits(static_cast<frit::DType>(dtype));
}

void frit_set_log(frit_log_callback callback, void* user, int32_t level) noexcept {
  using namespace frit::runtime;
  frit::set_log_sink(nullptr, nullptr);  // waits for a call under way
  g_sink = {callback, user};
  if (callback != nullptr) frit::set_log_sink(forward, &g_sink);
  frit::set_log_level(static_cast<frit::LogLevel>(level));
}

}  // extern "C"
