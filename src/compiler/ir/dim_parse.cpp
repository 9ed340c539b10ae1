// SPDX-License-Identifier: Apache-2.0
// Symbols::parse: recursive descent over the form that Dim::to_string prints.
#include <cctype>
#include <charconv>

#include "compiler/error.h"
#include "compiler/ir/dim.h"

namespace frit::ir {
namespace {

constexpr int kMaxDepth = 64;

class DimParser {
 public:
  DimParser(Symbols& symbols, std::string_view text) : symbols_(symbols), text_(text) {}

  Dim whole() {
    const Dim dim = sum();
    if (peek() != '\0') refuse("end of text");
    return dim;
  }

 private:
  [[noreturn]] void refuse(const char* expected) const {
    fail(Code::invalid_argument, "size '{}': expected {} at character {}", text_, expected,
         pos_ + 1);
  }
  char peek() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++pos_;
    return true;
  }
  void need(char c, const char* what) {
    if (!take(c)) refuse(what);
  }

  Dim sum() {
    if (++depth_ > kMaxDepth) refuse("less nesting (at most 64 levels)");
    const bool negative = take('-');
    Dim total = product();
    if (negative) total = Dim(0) - total;
    for (;;) {
      if (take('+'))
        total = total + product();
      else if (take('-'))
        total = total - product();
      else
        break;
    }
    --depth_;
    return total;
  }
  Dim product() {
    Dim total = factor();
    while (take('*')) total = total * factor();
    return total;
  }
  Dim factor() {
    const char c = peek();
    if (take('(')) {
      const Dim inner = sum();
      need(')', "')'");
      return inner;
    }
    if (c == '"') return symbols_.symbol(quoted_name());
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number();
    if (std::isalpha(static_cast<unsigned char>(c)) == 0 && c != '_')
      refuse("a number, a symbol or '('");
    const std::size_t start = pos_;
    while (pos_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[pos_])) != 0 || text_[pos_] == '_'))
      ++pos_;
    const std::string_view word = text_.substr(start, pos_ - start);
    if (word != "floor_div" && word != "max" && word != "min") return symbols_.symbol(word);
    need('(', "'('");
    const Dim a = sum();
    need(',', "','");
    const Dim b = sum();
    need(')', "')'");
    return word == "floor_div" ? floor_div(a, b) : word == "max" ? max(a, b) : min(a, b);
  }
  Dim number() {
    std::int64_t value = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + pos_, end, value);
    if (error != std::errc()) refuse("a number below 2^63");
    pos_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }
  std::string quoted_name() {
    std::string name;
    for (++pos_; pos_ < text_.size() && text_[pos_] != '"'; ++pos_) {
      if (text_[pos_] == '\\' && pos_ + 1 < text_.size()) ++pos_;
      name += text_[pos_];
    }
    need('"', "a closing quote");
    return name;
  }

  Symbols& symbols_;
  std::string_view text_;
  std::size_t pos_ = 0;
  int depth_ = 0;
};

}  // namespace

Dim Symbols::parse(std::string_view text) {
  return DimParser(*this, text).whole();
}

}  // namespace frit::ir
