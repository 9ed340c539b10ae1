// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <cstdio>

namespace frit {

const char* code_name(Code code) noexcept {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::invalid_model:
      return "invalid_model";
    case Code::unsupported:
      return "unsupported";
    case Code::invalid_engine:
      return "invalid_engine";
    case Code::not_found:
      return "not_found";
    case Code::out_of_memory:
      return "out_of_memory";
    case Code::io_error:
      return "io_error";
    case Code::shape_mismatch:
      return "shape_mismatch";
    case Code::execution_failed:
      return "execution_failed";
    case Code::verification_failed:
      return "verification_failed";
    case Code::cancelled:
      return "cancelled";
    case Code::internal:
      return "internal";
  }
  return "unknown";
}

Status Status::error(Code code, const char* format, ...) noexcept {
  std::va_list args;
  va_start(args, format);
  Status s = verror(code, format, args);
  va_end(args);
  return s;
}

Status Status::verror(Code code, const char* format, std::va_list args) noexcept {
  char text[kMaxMessage];
  if (std::vsnprintf(text, sizeof text, format, args) < 0) text[0] = '\0';
  Status s;
  s.code_ = code;
  s.own(text);
  return s;
}

void Status::own(const char* text) noexcept {
  const std::size_t length = std::strlen(text) + 1;
  message_ = new (std::nothrow) char[length];
  if (message_ == nullptr) return;
  owned_ = true;
  std::memcpy(message_, text, length);
}

void Status::assign(const Status& other) noexcept {
  code_ = other.code_;
  if (other.owned_) {
    own(other.message_);
  } else {
    message_ = other.message_;
  }
}

}  // namespace frit
