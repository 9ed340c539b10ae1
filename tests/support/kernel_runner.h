// SPDX-License-Identifier: Apache-2.0
// Runs one kernel on literal operands, the way the runtime would, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kernels/common/kernel.h"

namespace frit::test {

/// The element type that a C++ type stands for unless the call says otherwise.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::u16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::u64;
  return DType::undefined;
}

/// One call of a kernel: describe operands, results and attributes, then `run`.
class KernelCall {
 public:
  using Dims = std::vector<std::int64_t>;

  explicit KernelCall(std::string_view kernel) : name_(kernel) {}

  /// Adds an operand; `constant` also shows its contents to prepare.
  template <class T>
  KernelCall& in(Dims dims, const std::vector<T>& values, DType dtype = dtype_of<T>(),
                 bool constant = false) {
    Slot& s = slot(in_, dtype, std::move(dims), values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(s.data(), values.data(), values.size() * sizeof(T));
    s.constant = constant;
    return *this;
  }
  KernelCall& in_absent() { return in_.emplace_back(), *this; }
  /// Adds a result with room for its dims; `bytes` overrides the storage it claims.
  KernelCall& out(DType dtype, Dims dims);
  template <class T>
  KernelCall& out(Dims dims) {
    return out(dtype_of<T>(), std::move(dims));
  }
  KernelCall& out_absent() { return out_.emplace_back(), *this; }

  KernelCall& attr(const char* name, std::int64_t v);
  KernelCall& attr(const char* name, int v) { return attr(name, std::int64_t{v}); }
  KernelCall& attr(const char* name, double v);
  KernelCall& attr(const char* name, const char* v);
  KernelCall& ints(const char* name, std::vector<std::int64_t> v);
  KernelCall& reals(const char* name, std::vector<double> v);
  /// Threads that prepare is promised and run gets (played one after another).
  KernelCall& threads(int n) { return threads_ = n, *this; }

  /// Breaks or bends one random thing of the call: a dim, a type, an attribute, an operand's
  /// contents or presence. Storage follows the dims as long as they are small.
  KernelCall& scramble(std::mt19937& random);

  /// Prepares and runs; "" on success, else the message. Fails loudly on writes out of bounds.
  std::string run();

  template <class T>
  std::vector<T> result(std::size_t i) const {
    const Slot& s = out_[i];
    std::vector<T> v(s.bytes / sizeof(T));
    if (!v.empty()) std::memcpy(v.data(), s.data(), v.size() * sizeof(T));
    return v;
  }

 private:
  struct Slot {
    DType dtype = DType::undefined;
    Dims dims;
    std::vector<std::uint8_t> storage;  // guard bytes, contents, guard bytes
    std::size_t bytes = 0;
    bool constant = false;
    std::uint8_t* data() { return storage.data() + kGuard; }
    const std::uint8_t* data() const { return storage.data() + kGuard; }
  };
  struct Named {
    std::string name, text;
    std::vector<std::int64_t> ints;
    std::vector<double> reals;
    kernels::Attr attr;
  };
  static constexpr std::size_t kMaxScratch = std::size_t{1} << 28;
  static constexpr std::size_t kGuard = 64;
  static constexpr std::uint8_t kGuardByte = 0xA5;

  Slot& slot(std::deque<Slot>& list, DType dtype, Dims dims, std::size_t bytes);
  Named& named(const char* name, kernels::Attr::Kind kind);
  static bool guards_hold(const Slot& s);
  static void scramble_slot(Slot& s, std::mt19937& random);
  static void scramble_attr(Named& n, std::mt19937& random);

  std::string name_;
  std::deque<Slot> in_, out_;
  std::deque<Named> attrs_;
  int threads_ = 3;
};

}  // namespace frit::test
