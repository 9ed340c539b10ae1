// SPDX-License-Identifier: Apache-2.0
// Expressions are polynomials with integer coefficients over atoms (symbols, divisions, maxima).
#include "compiler/ir/dim.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "compiler/error.h"

namespace frit::ir {
namespace {

enum class AtomKind : std::uint8_t { symbol, floor_div, max, min };

struct Atom {
  AtomKind kind = AtomKind::symbol;
  int id = 0;
  std::string name = {};  // symbols only
  Bounds bounds = {};     // symbols only
  Dim a = 0, b = 0;       // the other kinds
};

struct Term {
  std::int64_t coef = 0;
  std::vector<const Atom*> atoms;  // sorted by id; empty for the constant term
};

using Terms = std::vector<Term>;

constexpr std::size_t kMaxTerms = 1024;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) fail(Code::invalid_model, "a size exceeds 64 bits");
  return r;
}

std::int64_t checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) fail(Code::invalid_model, "a size exceeds 64 bits");
  return r;
}

std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  if (b == 0) fail(Code::invalid_model, "division of a size by zero");
  if (b == -1) return checked_mul(a, -1);
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r)) return a > 0 ? kMax : kMin;
  return r;
}

std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r)) return (a < 0) == (b < 0) ? kMax : kMin;
  return r;
}

Bounds times(Bounds x, Bounds y) {
  const std::int64_t p[] = {saturating_mul(x.lo, y.lo), saturating_mul(x.lo, y.hi),
                            saturating_mul(x.hi, y.lo), saturating_mul(x.hi, y.hi)};
  return {*std::ranges::min_element(p), *std::ranges::max_element(p)};
}

bool atoms_less(const std::vector<const Atom*>& x, const std::vector<const Atom*>& y) {
  return std::ranges::lexicographical_compare(
      x, y, [](const Atom* p, const Atom* q) { return p->id < q->id; });
}

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  if (name == "floor_div" || name == "max" || name == "min") return false;
  return std::ranges::all_of(name,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string quoted(const std::string& name) {
  if (is_identifier(name)) return name;
  std::string text = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

std::string atom_text(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::symbol:
      return quoted(atom.name);
    case AtomKind::floor_div:
      return "floor_div(" + atom.a.to_string() + ", " + atom.b.to_string() + ")";
    case AtomKind::max:
      return "max(" + atom.a.to_string() + ", " + atom.b.to_string() + ")";
    case AtomKind::min:
      return "min(" + atom.a.to_string() + ", " + atom.b.to_string() + ")";
  }
  return {};
}

std::string terms_text(const Terms& terms) {
  std::string text;
  for (const Term& t : terms) {
    const bool negative = t.coef < 0;
    const std::uint64_t size =
        negative ? 0 - static_cast<std::uint64_t>(t.coef) : static_cast<std::uint64_t>(t.coef);
    if (text.empty())
      text += negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    bool first = true;
    if (size != 1 || t.atoms.empty()) {
      text += std::to_string(size);
      first = false;
    }
    for (const Atom* a : t.atoms) {
      text += first ? "" : "*";
      text += atom_text(*a);
      first = false;
    }
  }
  return text.empty() ? "0" : text;
}

}  // namespace

struct DimExpr {
  Symbols::Impl* owner = nullptr;
  Terms terms;
  std::string text;
  Bounds bounds;
};

struct Symbols::Impl {
  std::vector<std::unique_ptr<Atom>> atoms;
  std::unordered_map<std::string, const Atom*> by_text;
  std::unordered_map<std::string, std::unique_ptr<DimExpr>> exprs;
  std::vector<const Atom*> symbols;
  std::int64_t fresh = 0;

  const Atom* atom(Atom made) {
    const std::string key = atom_text(made);
    if (auto it = by_text.find(key); it != by_text.end()) return it->second;
    made.id = static_cast<int>(atoms.size());
    atoms.push_back(std::make_unique<Atom>(std::move(made)));
    const Atom* kept = atoms.back().get();
    by_text.emplace(key, kept);
    if (kept->kind == AtomKind::symbol) symbols.push_back(kept);
    return kept;
  }
};

namespace {

Bounds atom_bounds(const Atom& atom) {
  if (atom.kind == AtomKind::symbol) return atom.bounds;
  const Bounds a = atom.a.bounds(), b = atom.b.bounds();
  if (atom.kind == AtomKind::max) return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
  if (atom.kind == AtomKind::min) return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  if (b.lo <= 0) return {kMin, kMax};
  const std::int64_t low_by = a.lo < 0 ? b.lo : b.hi, high_by = a.hi < 0 ? b.hi : b.lo;
  return {a.lo == kMin ? kMin : floor_quotient(a.lo, low_by),
          a.hi == kMax ? kMax : floor_quotient(a.hi, high_by)};
}

Bounds terms_bounds(const Terms& terms) {
  Bounds sum{0, 0};
  for (const Term& t : terms) {
    Bounds product{t.coef, t.coef};
    for (const Atom* a : t.atoms) product = times(product, atom_bounds(*a));
    sum = {saturating_add(sum.lo, product.lo), saturating_add(sum.hi, product.hi)};
  }
  return sum;
}

Terms terms_of(const Dim& dim) {
  if (!dim.is_const()) return dim.expr()->terms;
  if (dim.value() == 0) return {};
  return {{dim.value(), {}}};
}

// Sorts, merges equal monomials and drops zeros.
void normalize(Terms& terms) {
  std::ranges::sort(terms, [](const Term& x, const Term& y) {
    if (x.atoms.empty() != y.atoms.empty()) return y.atoms.empty();  // the constant goes last
    return atoms_less(x.atoms, y.atoms);
  });
  Terms merged;
  for (Term& t : terms) {
    if (!merged.empty() && merged.back().atoms == t.atoms)
      merged.back().coef = checked_add(merged.back().coef, t.coef);
    else
      merged.push_back(std::move(t));
  }
  std::erase_if(merged, [](const Term& t) { return t.coef == 0; });
  terms = std::move(merged);
}

const DimExpr* intern(Symbols::Impl& pool, Terms terms) {
  std::string text = terms_text(terms);
  auto [it, added] = pool.exprs.try_emplace(text);
  if (added) {
    it->second = std::make_unique<DimExpr>();
    it->second->owner = &pool;
    it->second->bounds = terms_bounds(terms);
    it->second->terms = std::move(terms);
    it->second->text = std::move(text);
  }
  return it->second.get();
}

Symbols::Impl* pool_of(const Dim& a, const Dim& b) {
  if (!a.is_const()) return a.expr()->owner;
  return b.is_const() ? nullptr : b.expr()->owner;
}

}  // namespace

// Access to Dim's private constructor.
struct DimMaker {
  static Dim make(Symbols::Impl* pool, Terms terms);
};

namespace {

Dim make(Symbols::Impl* pool, Terms terms) {
  return DimMaker::make(pool, std::move(terms));
}

Dim of_atom(Symbols::Impl& pool, Atom atom) {
  return make(&pool, {{1, {pool.atom(std::move(atom))}}});
}

// Atoms of `whole` left when those of `part` are taken out; false if some are missing.
bool divide_atoms(const std::vector<const Atom*>& whole, const std::vector<const Atom*>& part,
                  std::vector<const Atom*>& rest) {
  rest.clear();
  std::size_t k = 0;
  for (const Atom* a : whole) {
    if (k < part.size() && part[k] == a)
      ++k;
    else
      rest.push_back(a);
  }
  return k == part.size();
}

}  // namespace

Dim DimMaker::make(Symbols::Impl* pool, Terms terms) {
  normalize(terms);
  if (terms.empty()) return Dim(0);
  if (terms.size() == 1 && terms[0].atoms.empty()) return Dim(terms[0].coef);
  return Dim(*intern(*pool, std::move(terms)));
}

Bounds Dim::bounds() const {
  return is_const() ? Bounds{value_, value_} : expr_->bounds;
}

bool Dim::never_equals(const Dim& other) const {
  if (is_const() && other.is_const()) return value_ != other.value_;
  const Bounds d = (*this - other).bounds();
  return d.lo > 0 || d.hi < 0;
}

std::string Dim::to_string() const {
  return is_const() ? std::to_string(value_) : expr_->text;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return checked_add(a.value(), b.value());
  Terms sum = terms_of(a);
  for (Term& t : terms_of(b)) sum.push_back(std::move(t));
  return make(pool_of(a, b), std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) {
  return a + b * Dim(-1);
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) return checked_mul(a.value(), b.value());
  Terms product;
  const Terms left = terms_of(a), right = terms_of(b);
  // A short text can ask for a product of sums whose expansion no memory holds.
  if (left.size() * right.size() > kMaxTerms)
    fail(Code::invalid_model, "a product of sizes has more than {} terms", kMaxTerms);
  for (const Term& x : left) {
    for (const Term& y : right) {
      Term t{checked_mul(x.coef, y.coef), x.atoms};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      std::ranges::sort(t.atoms, [](const Atom* p, const Atom* q) { return p->id < q->id; });
      product.push_back(std::move(t));
    }
  }
  return make(pool_of(a, b), std::move(product));
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (b.is_const() && b.value() == 0) fail(Code::invalid_model, "division of a size by zero");
  if (a.is_const() && b.is_const()) return floor_quotient(a.value(), b.value());
  if (b == Dim(1)) return a;
  if (a == b) return 1;
  // a = q*b + r, taking into q every term that b's only monomial divides: floor(a/b) = q +
  // floor(r/b).
  const Terms divisor = terms_of(b);
  Terms quotient, rest;
  std::vector<const Atom*> left;
  for (const Term& t : terms_of(a)) {
    if (divisor.size() == 1 && t.coef % divisor[0].coef == 0 &&
        divide_atoms(t.atoms, divisor[0].atoms, left))
      quotient.push_back({t.coef / divisor[0].coef, left});
    else
      rest.push_back(t);
  }
  Symbols::Impl* pool = pool_of(a, b);
  const Dim q = make(pool, std::move(quotient)), r = make(pool, std::move(rest));
  if (r == Dim(0)) return q;
  if (r.is_const() && b.is_const()) return q + floor_quotient(r.value(), b.value());
  const Bounds range = r.bounds();
  if (range.lo >= 0 && b.bounds().lo > range.hi) return q;
  return q + of_atom(*pool, {.kind = AtomKind::floor_div, .a = r, .b = b});
}

Dim ceil_div(const Dim& a, const Dim& b) {
  return floor_div(a + b - Dim(1), b);
}

Dim max(const Dim& a, const Dim& b) {
  const Bounds difference = (a - b).bounds();
  if (difference.lo >= 0) return a;
  if (difference.hi <= 0) return b;
  const bool ordered = a.to_string() < b.to_string();
  return of_atom(*pool_of(a, b),
                 {.kind = AtomKind::max, .a = ordered ? a : b, .b = ordered ? b : a});
}

Dim min(const Dim& a, const Dim& b) {
  const Bounds difference = (a - b).bounds();
  if (difference.lo >= 0) return b;
  if (difference.hi <= 0) return a;
  const bool ordered = a.to_string() < b.to_string();
  return of_atom(*pool_of(a, b),
                 {.kind = AtomKind::min, .a = ordered ? a : b, .b = ordered ? b : a});
}

Dim element_count(const Shape& shape) {
  // A zero anywhere makes the product zero, even where the other factors would overflow.
  for (const Dim& d : shape)
    if (d == Dim(0)) return 0;
  Dim product = 1;
  for (const Dim& d : shape) product = product * d;
  return product;
}

bool is_static(const Shape& shape) {
  return std::ranges::all_of(shape, [](const Dim& d) { return d.is_const(); });
}

std::vector<std::int64_t> static_dims(const Shape& shape) {
  std::vector<std::int64_t> dims;
  dims.reserve(shape.size());
  for (const Dim& d : shape) {
    check(d.is_const(), "static dims expected, found {}", to_string(shape));
    dims.push_back(d.value());
  }
  return dims;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Dim& d : shape) text += (text.size() > 1 ? "," : "") + d.to_string();
  return text + "]";
}

Shape make_shape(const std::vector<std::int64_t>& dims) {
  return {dims.begin(), dims.end()};
}

// ---- Symbols ----

Symbols::Symbols() : impl_(std::make_unique<Impl>()) {}
Symbols::~Symbols() = default;

Dim Symbols::symbol(std::string_view name, Bounds bounds) {
  return of_atom(*impl_, {.kind = AtomKind::symbol, .name = std::string(name), .bounds = bounds});
}

Dim Symbols::fresh(std::string_view prefix, Bounds bounds) {
  for (;;) {
    const std::string name = std::string(prefix) + std::to_string(impl_->fresh++);
    if (!impl_->by_text.contains(quoted(name))) return symbol(name, bounds);
  }
}

Dim Symbols::bind(const Dim& dim, const std::map<std::string, std::int64_t>& values) const {
  if (dim.is_const()) return dim;
  Dim sum = 0;
  for (const Term& t : dim.expr()->terms) {
    Dim product = t.coef;
    for (const Atom* a : t.atoms) {
      Dim factor;
      if (a->kind == AtomKind::symbol) {
        auto it = values.find(a->name);
        factor = it != values.end() ? Dim(it->second) : make(impl_.get(), {{1, {a}}});
      } else {
        const Dim x = bind(a->a, values), y = bind(a->b, values);
        factor = a->kind == AtomKind::floor_div ? floor_div(x, y)
                 : a->kind == AtomKind::max     ? max(x, y)
                                                : min(x, y);
      }
      product = product * factor;
    }
    sum = sum + product;
  }
  return sum;
}

std::vector<std::pair<std::string, Bounds>> Symbols::list() const {
  std::vector<std::pair<std::string, Bounds>> out;
  for (const Atom* s : impl_->symbols) out.emplace_back(s->name, s->bounds);
  return out;
}

}  // namespace frit::ir
