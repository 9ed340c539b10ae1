// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/tensor.h"

#include <cstring>
#include <new>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "kernels/common/scalar.h"

namespace frit::ir {
namespace {

// Count and storage of dims; refuses what no address space holds.
void measure(DType dtype, const std::vector<std::int64_t>& dims, std::int64_t& count,
             std::size_t& bytes) {
  count = 1;
  for (std::int64_t d : dims) {
    if (d < 0) fail(Code::invalid_model, "a tensor has the negative size {}", d);
    if (__builtin_mul_overflow(count, d, &count))
      fail(Code::invalid_model, "a tensor of {} elements per row and more exceeds 64 bits", d);
  }
  const auto bits = static_cast<std::uint64_t>(dtype_bits(dtype));
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), bits, &total))
    fail(Code::invalid_model, "a tensor of {} elements exceeds the address space", count);
  bytes = (total + 7) / 8;
}

}  // namespace

Tensor::Tensor(DType dtype, std::vector<std::int64_t> dims)
    : dtype_(dtype), dims_(std::move(dims)) {
  measure(dtype_, dims_, count_, bytes_);
  auto* storage =
      static_cast<std::byte*>(::operator new (bytes_ + 64, std::align_val_t{64}, std::nothrow));
  if (storage == nullptr) fail(Code::out_of_memory, "no memory for a tensor of {} bytes", bytes_);
  std::memset(storage, 0, bytes_);
  owner_ = std::shared_ptr<const void>(storage, [](const void* p) {
    ::operator delete (const_cast<void*>(p), std::align_val_t{64});
  });
  data_ = storage;
}

Tensor::Tensor(DType dtype, std::vector<std::int64_t> dims, const void* data,
               std::shared_ptr<const void> owner)
    : dtype_(dtype), dims_(std::move(dims)), data_(data), owner_(std::move(owner)) {
  measure(dtype_, dims_, count_, bytes_);
}

Tensor Tensor::scalar(DType dtype, double value) {
  Tensor t(dtype, {});
  kernels::store_f64(dtype, t.mutable_data(), 0, value);
  return t;
}

Tensor Tensor::from_i64(const std::vector<std::int64_t>& values) {
  Tensor t(DType::i64, {static_cast<std::int64_t>(values.size())});
  if (!values.empty()) std::memcpy(t.mutable_data(), values.data(), t.bytes());
  return t;
}

Tensor Tensor::from_f32(std::vector<std::int64_t> dims, const std::vector<float>& values) {
  Tensor t(DType::f32, std::move(dims));
  check(t.count() == static_cast<std::int64_t>(values.size()), "{} values for {} elements",
        values.size(), t.count());
  if (!values.empty()) std::memcpy(t.mutable_data(), values.data(), t.bytes());
  return t;
}

double Tensor::f64_at(std::int64_t i) const {
  if (dtype_ == DType::i64 || dtype_ == DType::u64) return static_cast<double>(i64_at(i));
  return kernels::load_f64(dtype_, data_, i);
}

std::int64_t Tensor::i64_at(std::int64_t i) const {
  return kernels::load_i64(dtype_, data_, i);
}

std::vector<std::int64_t> Tensor::to_i64() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count_));
  for (std::int64_t i = 0; i < count_; ++i) values[static_cast<std::size_t>(i)] = i64_at(i);
  return values;
}

std::vector<double> Tensor::to_f64() const {
  std::vector<double> values(static_cast<std::size_t>(count_));
  for (std::int64_t i = 0; i < count_; ++i) values[static_cast<std::size_t>(i)] = f64_at(i);
  return values;
}

Tensor Tensor::reshaped(std::vector<std::int64_t> dims) const {
  Tensor view(dtype_, std::move(dims), data_, owner_);
  check(view.count_ == count_, "reshape from {} to {} elements", count_, view.count_);
  return view;
}

bool Tensor::same(const Tensor& other) const {
  return dtype_ == other.dtype_ && dims_ == other.dims_ &&
         (data_ == other.data_ || bytes_ == 0 || std::memcmp(data_, other.data_, bytes_) == 0);
}

}  // namespace frit::ir
