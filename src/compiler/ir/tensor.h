// SPDX-License-Identifier: Apache-2.0
// Immutable contents of a constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frit/types.h"

namespace frit::ir {

/// Typed, dense, row-major data on the host. Copies share the bytes; types below 8 bits are packed.
class Tensor {
 public:
  Tensor() = default;
  /// Zero-filled storage of its own. Throws Error(out_of_memory) beyond the address space.
  Tensor(DType dtype, std::vector<std::int64_t> dims);
  /// A view of bytes that `owner` keeps alive (a mapped file, a protobuf message).
  Tensor(DType dtype, std::vector<std::int64_t> dims, const void* data,
         std::shared_ptr<const void> owner);

  static Tensor scalar(DType dtype, double value);
  static Tensor from_i64(const std::vector<std::int64_t>& values);
  static Tensor from_f32(std::vector<std::int64_t> dims, const std::vector<float>& values);

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& dims() const { return dims_; }
  std::int64_t count() const { return count_; }
  std::size_t bytes() const { return bytes_; }
  const void* data() const { return data_; }
  /// Writable bytes; only on a tensor made by the first constructor and not yet shared.
  void* mutable_data() { return const_cast<void*>(data_); }
  template <class T>
  std::span<const T> as() const {
    return {static_cast<const T*>(data_), static_cast<std::size_t>(count_)};
  }
  /// Element i converted; any numeric type.
  double f64_at(std::int64_t i) const;
  std::int64_t i64_at(std::int64_t i) const;
  /// All elements as integers or reals (small tensors: shapes, axes, scales).
  std::vector<std::int64_t> to_i64() const;
  std::vector<double> to_f64() const;
  /// Same bytes under other dims of the same count.
  Tensor reshaped(std::vector<std::int64_t> dims) const;
  /// Type, dims and bytes all equal.
  bool same(const Tensor& other) const;
  bool defined() const { return dtype_ != DType::undefined; }

 private:
  DType dtype_ = DType::undefined;
  std::vector<std::int64_t> dims_;
  std::int64_t count_ = 0;
  std::size_t bytes_ = 0;
  const void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

}  // namespace frit::ir
