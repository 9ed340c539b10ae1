// SPDX-License-Identifier: Apache-2.0
// How reference kernels examine what they are asked to do. Every desc may come from a hostile
// engine file, so a kernel trusts nothing that did not pass through here.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/common/kernel.h"

namespace frit::kernels::ref {

/// Bits of one element; 0 for types that kernels do not handle (undefined, string, unknown codes).
int dtype_bits(DType t) noexcept;
/// Lower-case name of a type for messages.
const char* dtype_name(DType t) noexcept;
/// f16, bf16, f32, f64 and the 8-bit floats.
bool is_float(DType t) noexcept;
/// Integers of 2 to 64 bits; not bool.
bool is_integer(DType t) noexcept;
bool is_signed_integer(DType t) noexcept;

/// Dims of a tensor that outlive prepare.
struct Dims {
  int rank = 0;
  std::int64_t d[kMaxRank] = {};

  std::int64_t operator[](int axis) const { return d[axis]; }
  std::int64_t& operator[](int axis) { return d[axis]; }
  /// Product of the dims in [begin, end); cannot overflow once a Checker has accepted the tensor.
  std::int64_t product(int begin, int end) const {
    std::int64_t v = 1;
    for (int a = begin; a < end; ++a) v *= d[a];
    return v;
  }
  std::int64_t volume() const { return product(0, rank); }
  /// Elements between neighbours along `axis`.
  std::int64_t stride(int axis) const { return product(axis + 1, rank); }
  bool operator==(const Dims& other) const;
};

/// Examines a step and keeps the first thing that is wrong with it. Readers return a harmless value
/// after a failure, so a prepare function reads all it needs and then looks at `error` once, before
/// it uses a number as a bound.
class Checker {
 public:
  /// `op` is the name that messages start with.
  Checker(PrepareArgs& args, const char* op) : args_(args), op_(op) {}

  /// Operand and result counts; the first `required_in` operands and `required_out` results must be
  /// present, every present tensor must be dense with a known type, sane dims and enough bytes.
  bool tensors(int required_in, int max_in, int required_out, int max_out);

  const TensorDesc& in(int i) const {
    return i < in_count() ? args_.in[static_cast<std::size_t>(i)] : kAbsent;
  }
  const TensorDesc& out(int i) const {
    return i < out_count() ? args_.out[static_cast<std::size_t>(i)] : kAbsent;
  }
  int in_count() const { return static_cast<int>(args_.in.size()); }
  int out_count() const { return static_cast<int>(args_.out.size()); }
  Dims dims_in(int i) const { return dims_of(in(i)); }
  Dims dims_out(int i) const { return dims_of(out(i)); }
  static Dims dims_of(const TensorDesc& t);

  /// Records a failure unless `ok`; returns whether all is well so far.
  [[gnu::format(printf, 3, 4)]] bool require(bool ok, const char* format, ...);
  /// Requires that operand i / result i has the type `t`.
  bool dtype_in(int i, DType t);
  bool dtype_out(int i, DType t);
  /// Requires that operand i / result i has exactly these dims.
  bool shape_in(int i, std::initializer_list<std::int64_t> dims);
  bool shape_out(int i, const Dims& dims);

  bool has(const char* name) const { return args_.find(name) != nullptr; }
  std::int64_t integer(const char* name, std::int64_t low, std::int64_t high);
  std::int64_t integer_or(const char* name, std::int64_t low, std::int64_t high,
                          std::int64_t fallback);
  double real(const char* name);
  double real_or(const char* name, double fallback);
  /// Index of the attribute's text among `words`.
  int choice(const char* name, std::initializer_list<const char*> words);
  int choice_or(const char* name, std::initializer_list<const char*> words, int fallback);
  /// Exactly `count` integers within [low, high] into `to`.
  bool integers(const char* name, int count, std::int64_t low, std::int64_t high, std::int64_t* to);
  bool integers_or(const char* name, int count, std::int64_t low, std::int64_t high,
                   std::int64_t fallback, std::int64_t* to);
  /// The text of an attribute, "" if it is missing.
  const char* text(const char* name);
  /// Exactly `count` reals into `to`.
  bool reals(const char* name, int count, double* to);

  /// Reserves scratch and returns its offset from RunArgs::workspace, 64-byte aligned.
  std::uint64_t scratch(std::uint64_t bytes);

  int threads() const { return args_.threads < 1 ? 1 : args_.threads; }
  bool ok() const { return error_ == nullptr; }
  const char* error() const { return error_; }
  PrepareArgs& args() { return args_; }

 private:
  bool tensor(const char* what, int index, const TensorDesc& t);
  const Attr* attr(const char* name, Attr::Kind kind, bool required);

  static const TensorDesc kAbsent;
  PrepareArgs& args_;
  const char* op_;
  const char* error_ = nullptr;
};

}  // namespace frit::kernels::ref
