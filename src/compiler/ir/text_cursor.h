// SPDX-License-Identifier: Apache-2.0
// A position in IR text: tokens are taken from it, and errors say where and what was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace frit::ir::text {

/// A number as written: integers that fit are exact in both forms.
struct Number {
  bool integer = false;         ///< no point, exponent, nan or inf
  bool negative = false;        ///< has a minus sign
  std::uint64_t magnitude = 0;  ///< integers only
  double real = 0;
};

/// Reads tokens of one text. Blanks and `//` comments before a token are skipped. Every `need`
/// throws Error(invalid_argument) with line, column, what was expected and what was found.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// Position of the next token.
  std::size_t position() {
    skip();
    return pos_;
  }
  std::size_t remaining() const { return text_.size() - pos_; }
  bool at_end() { return position() == text_.size(); }
  /// The next character without taking it; '\0' at the end.
  char peek();
  /// The character after `peek()`.
  char peek_second();
  bool take(char c);
  void need(char c, const char* what);
  /// Takes `word` if it is the next whole word.
  bool take_word(std::string_view word);
  bool at_word(std::string_view word);
  /// A name of letters, digits, '_' and '.'; empty if the next token is none.
  std::string_view word();
  /// "…" with escapes \" \\ \n \t \xHH.
  std::string need_quoted(const char* what);
  /// The raw characters up to the next '"', which is taken too; for hexadecimal blobs.
  std::string_view need_raw_until_quote();
  Number need_number(const char* what);
  std::int64_t need_integer(const char* what);
  /// 0x… up to 64 bits.
  std::uint64_t need_bits(const char* what);
  /// The inside of balanced [ ], both taken; brackets and quotes inside are respected.
  std::string_view need_bracketed(const char* what);

  /// "line L, column C: expected …, found …" at the next token.
  [[noreturn]] void refuse(std::string_view expected);
  /// "line L, column C: message" at a position.
  [[noreturn]] void refuse_at(std::size_t position, std::string_view message) const;

 private:
  void skip();
  std::string found() const;

  std::string_view text_;
  std::size_t pos_ = 0;
};

}  // namespace frit::ir::text
