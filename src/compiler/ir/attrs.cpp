// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/attrs.h"

#include <algorithm>
#include <bit>

#include "compiler/error.h"

namespace frit::ir {
namespace {

bool same_real(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

template <class T>
const T* typed(const Attrs& attrs, std::string_view name) {
  const AttrValue* value = attrs.find(name);
  if (value == nullptr) return nullptr;
  const T* held = std::get_if<T>(value);
  check(held != nullptr, "attribute '{}' has another kind than the code reading it expects", name);
  return held;
}

}  // namespace

bool same(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const double* x = std::get_if<double>(&a)) return same_real(*x, std::get<double>(b));
  if (const Reals* x = std::get_if<Reals>(&a))
    return std::ranges::equal(*x, std::get<Reals>(b), same_real);
  if (const Tensor* x = std::get_if<Tensor>(&a)) return x->same(std::get<Tensor>(b));
  if (const Ints* x = std::get_if<Ints>(&a)) return *x == std::get<Ints>(b);
  if (const std::string* x = std::get_if<std::string>(&a)) return *x == std::get<std::string>(b);
  return std::get<std::int64_t>(a) == std::get<std::int64_t>(b);
}

void Attrs::set(std::string_view name, AttrValue value) {
  auto it = std::ranges::lower_bound(entries_, name, {},
                                     [](const Entry& e) -> std::string_view { return e.first; });
  if (it != entries_.end() && it->first == name)
    it->second = std::move(value);
  else
    entries_.insert(it, {std::string(name), std::move(value)});
}

void Attrs::erase(std::string_view name) {
  std::erase_if(entries_, [&](const Entry& e) { return e.first == name; });
}

const AttrValue* Attrs::find(std::string_view name) const {
  for (const Entry& e : entries_)
    if (e.first == name) return &e.second;
  return nullptr;
}

std::int64_t Attrs::i(std::string_view name, std::int64_t otherwise) const {
  const auto* v = typed<std::int64_t>(*this, name);
  return v != nullptr ? *v : otherwise;
}

double Attrs::f(std::string_view name, double otherwise) const {
  const auto* v = typed<double>(*this, name);
  return v != nullptr ? *v : otherwise;
}

const std::string& Attrs::s(std::string_view name) const {
  static const std::string kNone;
  const auto* v = typed<std::string>(*this, name);
  return v != nullptr ? *v : kNone;
}

const Ints& Attrs::ints(std::string_view name) const {
  static const Ints kNone;
  const auto* v = typed<Ints>(*this, name);
  return v != nullptr ? *v : kNone;
}

const Reals& Attrs::reals(std::string_view name) const {
  static const Reals kNone;
  const auto* v = typed<Reals>(*this, name);
  return v != nullptr ? *v : kNone;
}

const Tensor& Attrs::tensor(std::string_view name) const {
  static const Tensor kNone;
  const auto* v = typed<Tensor>(*this, name);
  return v != nullptr ? *v : kNone;
}

bool operator==(const Attrs& a, const Attrs& b) {
  return std::ranges::equal(a, b, [](const Attrs::Entry& x, const Attrs::Entry& y) {
    return x.first == y.first && same(x.second, y.second);
  });
}

}  // namespace frit::ir
