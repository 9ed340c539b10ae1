// SPDX-License-Identifier: Apache-2.0
// Attributes of a node: a short sorted list of name and value, checked against the node's Schema.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/ir/tensor.h"

namespace frit::ir {

using Ints = std::vector<std::int64_t>;
using Reals = std::vector<double>;

/// One attribute's value; the alternatives are the kinds of docs/ir-ops.md (dtype is an integer).
using AttrValue = std::variant<std::int64_t, double, std::string, Ints, Reals, Tensor>;

/// Bitwise equality (NaN equals itself, tensors by contents).
bool same(const AttrValue& a, const AttrValue& b);

/// Name → value, sorted by name.
class Attrs {
 public:
  using Entry = std::pair<std::string, AttrValue>;
  Attrs() = default;
  Attrs(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) set(e.first, e.second);
  }

  void set(std::string_view name, AttrValue value);
  void erase(std::string_view name);
  const AttrValue* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }

  // Typed access with a default; Error(internal) if the attribute has another kind.
  std::int64_t i(std::string_view name, std::int64_t otherwise = 0) const;
  double f(std::string_view name, double otherwise = 0) const;
  const std::string& s(std::string_view name) const;  ///< "" when absent
  const Ints& ints(std::string_view name) const;      ///< empty when absent
  const Reals& reals(std::string_view name) const;    ///< empty when absent
  const Tensor& tensor(std::string_view name) const;  ///< undefined when absent

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  std::vector<Entry> entries_;
};

}  // namespace frit::ir
