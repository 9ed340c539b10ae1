// SPDX-License-Identifier: Apache-2.0
// Sizes that may be symbolic: constants, bounded symbols, and + - * floor-division and max over
// them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace frit::ir {

class Symbols;
struct DimExpr;

/// Inclusive range of values an expression may take.
struct Bounds {
  std::int64_t lo = 0;
  std::int64_t hi = std::numeric_limits<std::int64_t>::max();
};

/// A size in elements. Constants need no table; symbolic expressions are interned in the Symbols of
/// the root graph, in one canonical polynomial form, so equal expressions compare equal.
class Dim {
 public:
  Dim(std::int64_t value = 0) : value_(value) {}  // NOLINT: sizes convert from numbers on purpose

  bool is_const() const { return expr_ == nullptr; }
  /// The number; only for constants.
  std::int64_t value() const { return value_; }
  const DimExpr* expr() const { return expr_; }
  Bounds bounds() const;
  /// True if the two are equal for every binding of the symbols (canonical forms are identical).
  friend bool operator==(const Dim& a, const Dim& b) = default;
  /// True when no binding can make them equal.
  bool never_equals(const Dim& other) const;
  std::string to_string() const;

 private:
  friend struct DimMaker;
  explicit Dim(const DimExpr& expr) : expr_(&expr) {}
  const DimExpr* expr_ = nullptr;
  std::int64_t value_ = 0;
};

Dim operator+(const Dim& a, const Dim& b);
Dim operator-(const Dim& a, const Dim& b);
Dim operator*(const Dim& a, const Dim& b);
/// Floor division; exact when the polynomial divides. Throws Error on division by constant zero.
Dim floor_div(const Dim& a, const Dim& b);
Dim ceil_div(const Dim& a, const Dim& b);
Dim max(const Dim& a, const Dim& b);
Dim min(const Dim& a, const Dim& b);

using Shape = std::vector<Dim>;

/// Product of all dims.
Dim element_count(const Shape& shape);
bool is_static(const Shape& shape);
/// The numbers of a static shape. Throws Error(internal) if one is symbolic.
std::vector<std::int64_t> static_dims(const Shape& shape);
std::string to_string(const Shape& shape);
/// Dims from plain numbers.
Shape make_shape(const std::vector<std::int64_t>& dims);

/// Names and bounds of the symbols of a graph, and owner of every expression over them.
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// The symbol of that name, made on first use with the given bounds.
  Dim symbol(std::string_view name, Bounds bounds = {});
  /// A new symbol that equals nothing else, named "<prefix><number>".
  Dim fresh(std::string_view prefix, Bounds bounds = {});
  /// Replaces symbols by numbers; names that do not occur are ignored.
  Dim bind(const Dim& dim, const std::map<std::string, std::int64_t>& values) const;
  /// Reads what Dim::to_string wrote. Throws Error(invalid_argument) with the offending text.
  Dim parse(std::string_view text);
  /// Names and bounds in order of creation.
  std::vector<std::pair<std::string, Bounds>> list() const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace frit::ir
