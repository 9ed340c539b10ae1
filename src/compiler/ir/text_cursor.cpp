// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/text_cursor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "compiler/error.h"

namespace frit::ir::text {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Cursor::skip() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++pos_;
    } else if (c == '/' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '/') {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else {
      return;
    }
  }
}

char Cursor::peek() {
  skip();
  return pos_ < text_.size() ? text_[pos_] : '\0';
}

char Cursor::peek_second() {
  skip();
  return pos_ + 1 < text_.size() ? text_[pos_ + 1] : '\0';
}

bool Cursor::take(char c) {
  if (peek() != c || pos_ == text_.size()) return false;
  ++pos_;
  return true;
}

void Cursor::need(char c, const char* what) {
  if (!take(c)) refuse(what);
}

std::string_view Cursor::word() {
  skip();
  std::size_t end = pos_;
  if (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) return {};
  while (end < text_.size() && is_word(text_[end])) ++end;
  const std::string_view taken = text_.substr(pos_, end - pos_);
  pos_ = end;
  return taken;
}

bool Cursor::at_word(std::string_view expected) {
  const std::size_t start = position();
  const bool same = word() == expected;
  pos_ = start;
  return same;
}

bool Cursor::take_word(std::string_view expected) {
  const std::size_t start = position();
  if (word() == expected) return true;
  pos_ = start;
  return false;
}

std::string Cursor::need_quoted(const char* what) {
  if (!take('"')) refuse(what);
  const std::size_t start = pos_ - 1;
  std::string text;
  while (pos_ < text_.size() && text_[pos_] != '"') {
    const char c = text_[pos_++];
    if (c != '\\') {
      text += c;
      continue;
    }
    const char escape = pos_ < text_.size() ? text_[pos_++] : '\0';
    if (escape == '"' || escape == '\\') {
      text += escape;
    } else if (escape == 'n' || escape == 't') {
      text += escape == 'n' ? '\n' : '\t';
    } else {
      const int high = escape == 'x' && pos_ + 1 < text_.size() ? hex_digit(text_[pos_]) : -1;
      const int low = high >= 0 ? hex_digit(text_[pos_ + 1]) : -1;
      if (low < 0)
        refuse_at(pos_ - 1,
                  "expected one of the escapes \\\" \\\\ \\n \\t \\xHH, found another one");
      text += static_cast<char>(16 * high + low);
      pos_ += 2;
    }
  }
  if (pos_ == text_.size())
    refuse_at(start, "expected a closing quote for this one, found the end of the text");
  ++pos_;
  return text;
}

std::string_view Cursor::need_raw_until_quote() {
  const std::size_t start = pos_;
  const std::size_t end = text_.find('"', pos_);
  if (end == std::string_view::npos)
    refuse_at(start, "expected a closing quote, found the end of the text");
  pos_ = end + 1;
  return text_.substr(start, end - start);
}

std::uint64_t Cursor::need_bits(const char* what) {
  if (peek() != '0' || peek_second() != 'x') refuse(what);
  const std::size_t start = pos_ + 2;
  std::uint64_t bits = 0;
  const char* const last = text_.data() + text_.size();
  const auto [end, error] = std::from_chars(text_.data() + start, last, bits, 16);
  if (error != std::errc()) refuse("up to 16 hexadecimal digits after 0x");
  pos_ = static_cast<std::size_t>(end - text_.data());
  return bits;
}

Number Cursor::need_number(const char* what) {
  const std::size_t start = position();
  Number number;
  if (take_word("nan")) {
    number.real = std::numeric_limits<double>::quiet_NaN();
    if (!take('(')) return number;
    number.real = std::bit_cast<double>(need_bits("the bits of a NaN, as 0x…"));
    if (!std::isnan(number.real)) refuse_at(start, "expected the bits of a NaN, found a number");
    need(')', "')' after the bits of a NaN");
    return number;
  }
  if (pos_ < text_.size() && text_[pos_] == '-') {
    number.negative = true;
    ++pos_;
  }
  if (pos_ < text_.size() && !is_digit(text_[pos_]) && take_word("inf")) {
    number.real = std::numeric_limits<double>::infinity() * (number.negative ? -1 : 1);
    return number;
  }
  const char* const begin = text_.data() + pos_;
  const char* const last = text_.data() + text_.size();
  const char* end = begin;
  while (end != last && is_digit(*end)) ++end;
  if (end == begin) {
    pos_ = start;
    refuse(what);
  }
  const bool range = last - end >= 2 && end[0] == '.' && end[1] == '.';  // "1..8" is two integers
  number.integer = range || end == last || (*end != '.' && *end != 'e' && *end != 'E');
  const auto [stop, error] = std::from_chars(begin, number.integer ? end : last, number.real);
  // Digits beyond 2^64 are a real: 1e22 in full.
  if (number.integer)
    number.integer = std::from_chars(begin, end, number.magnitude).ec == std::errc();
  if (error != std::errc())
    refuse_at(start, "expected a number within the range of f64, found one beyond it");
  if (number.negative) number.real = -number.real;
  pos_ = static_cast<std::size_t>(stop - text_.data());
  return number;
}

std::int64_t Cursor::need_integer(const char* what) {
  const std::size_t start = position();
  const Number number = need_number(what);
  if (!number.integer) {
    pos_ = start;
    refuse(what);
  }
  const std::uint64_t limit = (std::uint64_t{1} << 63) - (number.negative ? 0 : 1);
  if (number.magnitude > limit)
    refuse_at(start, "expected an integer of 64 bits with sign, found one beyond it");
  return static_cast<std::int64_t>(number.negative ? 0 - number.magnitude : number.magnitude);
}

std::string_view Cursor::need_bracketed(const char* what) {
  if (!take('[')) refuse(what);
  const std::size_t start = pos_;
  bool quoted = false;
  for (; pos_ < text_.size(); ++pos_) {
    const char c = text_[pos_];
    if (quoted && c == '\\')
      ++pos_;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ']')
      return text_.substr(start, pos_++ - start);
  }
  pos_ = text_.size();
  refuse_at(start - 1, "expected a closing ']' for this one, found the end of the text");
}

std::string Cursor::found() const {
  if (pos_ >= text_.size()) return "the end of the text";
  std::size_t end = pos_;
  while (end < text_.size() && end - pos_ < 32 && is_word(text_[end])) ++end;
  if (end == pos_) ++end;
  const unsigned char first = static_cast<unsigned char>(text_[pos_]);
  if (first < 32 || first > 126) return fmt::format("the byte 0x{:02x}", first);
  return "'" + std::string(text_.substr(pos_, end - pos_)) + "'";
}

void Cursor::refuse(std::string_view expected) {
  skip();
  refuse_at(pos_, fmt::format("expected {}, found {}", expected, found()));
}

void Cursor::refuse_at(std::size_t position, std::string_view message) const {
  const std::string_view before = text_.substr(0, std::min(position, text_.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  fail(Code::invalid_argument, "line {}, column {}: {}", line, column, message);
}

}  // namespace frit::ir::text
