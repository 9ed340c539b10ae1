// SPDX-License-Identifier: Apache-2.0
// Errors of the layers that do not throw: Status, Result and the macro that passes them on.
#pragma once

#include <cstdarg>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "frit/types.h"

namespace frit {

/// Longest message a Status holds, terminator included; longer ones are cut.
inline constexpr int kMaxMessage = 2048;

/// Stable lower-case name of a code ("invalid_engine").
const char* code_name(Code code) noexcept;

/// Success, or a code with a message that says what was expected, what was found and what to do.
/// Owns its message unless made by `borrowed`. Never throws: if memory is short the text is lost,
/// the code is not.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(Status&& other) noexcept { swap(other); }
  Status(const Status& other) noexcept { assign(other); }
  Status& operator=(Status other) noexcept {
    swap(other);
    return *this;
  }
  ~Status() {
    if (owned_) delete[] message_;
  }

  /// An error with a printf-style message, copied.
  [[gnu::format(printf, 2, 3)]] static Status error(Code code, const char* format, ...) noexcept;
  static Status verror(Code code, const char* format, std::va_list args) noexcept;

  /// An error whose message lives elsewhere (a literal, a context's buffer); allocates nothing.
  static Status borrowed(Code code, const char* message) noexcept {
    Status s;
    s.code_ = code;
    s.message_ = const_cast<char*>(message);
    return s;
  }

  bool ok() const noexcept { return code_ == Code::ok; }
  Code code() const noexcept { return code_; }
  /// The text, never null; empty on success.
  const char* message() const noexcept { return message_ != nullptr ? message_ : ""; }

 private:
  void swap(Status& other) noexcept {
    std::swap(code_, other.code_);
    std::swap(owned_, other.owned_);
    std::swap(message_, other.message_);
  }
  void assign(const Status& other) noexcept;
  void own(const char* text) noexcept;

  Code code_ = Code::ok;
  bool owned_ = false;
  char* message_ = nullptr;
};

/// A value or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) noexcept : value_(std::move(value)) {}
  Result(Status status) noexcept : status_(std::move(status)) {}

  bool ok() const noexcept { return value_.has_value(); }
  const Status& status() const noexcept { return status_; }
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

namespace detail {
inline Status take_status(Status&& s) noexcept {
  return std::move(s);
}
inline const Status& take_status(const Status& s) noexcept {
  return s;
}
template <class T>
const Status& take_status(const Result<T>& r) noexcept {
  return r.status();
}
}  // namespace detail

}  // namespace frit

/// Returns from the enclosing function when `...`, a Status or a Result, is an error.
#define FRIT_TRY(...)                                                           \
  do {                                                                          \
    if (::frit::Status frit_status_ = ::frit::detail::take_status(__VA_ARGS__); \
        !frit_status_.ok())                                                     \
      return frit_status_;                                                      \
  } while (false)
