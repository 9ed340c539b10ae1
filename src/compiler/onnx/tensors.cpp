// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/tensors.h"

#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "base/dtypes.h"
#include "compiler/error.h"

namespace frit::importer {
namespace {

using ir::Tensor;

constexpr std::uint64_t kMaxDenseBytes = std::uint64_t{2} << 30;

std::vector<std::int64_t> read_dims(const pb::TensorProto& proto, DType dtype,
                                    const std::string& what) {
  std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
  const Result<std::uint64_t> bytes = storage_bytes(dtype, dims);
  if (!bytes.ok())
    fail(Code::invalid_model, "{} has impossible dims: {}", what, bytes.status().message());
  return dims;
}

[[noreturn]] void wrong_count(const std::string& what, std::uint64_t expected, const char* unit,
                              std::uint64_t found, const char* field) {
  fail(Code::invalid_model, "{} needs {} {} for its type and dims, but its {} has {}", what,
       expected, unit, field, found);
}

// A view of `bytes`, or a copy if they are not aligned for the element type.
Tensor view_or_copy(DType dtype, std::vector<std::int64_t> dims, std::span<const std::byte> bytes,
                    std::shared_ptr<const void> owner, const std::string& what, const char* field) {
  const std::uint64_t needed = *storage_bytes(dtype, dims);
  if (bytes.size() != needed) wrong_count(what, needed, "bytes", bytes.size(), field);
  const auto alignment = static_cast<std::uintptr_t>(std::max(1, dtype_bits(dtype) / 8));
  if (needed != 0 && reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0)
    return Tensor(dtype, std::move(dims), bytes.data(), std::move(owner));
  Tensor copy(dtype, std::move(dims));
  if (needed != 0) std::memcpy(copy.mutable_data(), bytes.data(), needed);
  return copy;
}

std::uint64_t read_number(const std::string& text, const std::string& what, const char* key) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end)
    fail(Code::invalid_model, "{} has the external {} \"{}\"; expected a number of bytes", what,
         key, text);
  return value;
}

Tensor read_external(const pb::TensorProto& proto, DType dtype, std::vector<std::int64_t> dims,
                     Model& model, const std::string& what) {
  const std::uint64_t needed = *storage_bytes(dtype, dims);
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = needed;
  for (const pb::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = read_number(entry.value(), what, "offset");
    if (entry.key() == "length") length = read_number(entry.value(), what, "length");
  }
  if (length != needed) wrong_count(what, needed, "bytes", length, "external length");
  ExternalBytes found = model.externals.read(location, offset, length, proto.name());
  return view_or_copy(dtype, std::move(dims), found.bytes, std::move(found.owner), what,
                      "external data");
}

// A field that already has the storage's layout.
template <class Field>
Tensor view_field(const Field& field, DType dtype, std::vector<std::int64_t> dims,
                  const std::shared_ptr<Model>& model, const std::string& what, const char* name) {
  const auto bytes = std::as_bytes(std::span(field.data(), static_cast<std::size_t>(field.size())));
  return view_or_copy(dtype, std::move(dims), bytes, model, what, name);
}

// A field whose elements are wider than the storage's units: each one is cut to `Unit`.
template <class Unit, class Field>
Tensor narrow_field(const Field& field, DType dtype, std::vector<std::int64_t> dims,
                    const std::string& what, const char* name) {
  const std::uint64_t units = *storage_bytes(dtype, dims) / sizeof(Unit);
  if (static_cast<std::uint64_t>(field.size()) != units)
    wrong_count(what, units, "entries", static_cast<std::uint64_t>(field.size()), name);
  Tensor tensor(dtype, std::move(dims));
  auto* out = static_cast<Unit*>(tensor.mutable_data());
  for (const auto value : field) *out++ = static_cast<Unit>(value);
  return tensor;
}

Tensor read_typed(const pb::TensorProto& proto, DType dtype, std::vector<std::int64_t> dims,
                  const std::shared_ptr<Model>& model, const std::string& what) {
  switch (dtype) {
    case DType::f32:
      return view_field(proto.float_data(), dtype, std::move(dims), model, what, "float_data");
    case DType::f64:
      return view_field(proto.double_data(), dtype, std::move(dims), model, what, "double_data");
    case DType::i64:
      return view_field(proto.int64_data(), dtype, std::move(dims), model, what, "int64_data");
    case DType::u64:
      return view_field(proto.uint64_data(), dtype, std::move(dims), model, what, "uint64_data");
    case DType::u32:
      return narrow_field<std::uint32_t>(proto.uint64_data(), dtype, std::move(dims), what,
                                         "uint64_data");
    case DType::i32:
      return view_field(proto.int32_data(), dtype, std::move(dims), model, what, "int32_data");
    default:
      break;
  }
  // Types of 16 bits keep one element in each int32, smaller ones one byte (packed below 8 bits).
  if (dtype_bits(dtype) == 16)
    return narrow_field<std::uint16_t>(proto.int32_data(), dtype, std::move(dims), what,
                                       "int32_data");
  return narrow_field<std::uint8_t>(proto.int32_data(), dtype, std::move(dims), what, "int32_data");
}

// Row-major position of entry `i` of a sparse tensor; throws if it lies outside.
std::int64_t sparse_position(const Tensor& indices, const std::vector<std::int64_t>& dims,
                             std::int64_t count, std::int64_t i, const std::string& what) {
  std::int64_t position = 0;
  if (indices.dims().size() == 1) {
    position = indices.i64_at(i);
  } else {
    const auto rank = static_cast<std::int64_t>(dims.size());
    for (std::int64_t d = 0; d < rank; ++d) {
      const std::int64_t index = indices.i64_at(i * rank + d);
      const std::int64_t size = dims[static_cast<std::size_t>(d)];
      if (index < 0 || index >= size)
        fail(Code::invalid_model, "{} has the index {} on axis {} of size {}", what, index, d,
             size);
      position = position * size + index;
    }
  }
  if (position < 0 || position >= count)
    fail(Code::invalid_model, "{} has the index {}, but only {} elements", what, position, count);
  return position;
}

}  // namespace

DType read_dtype(std::int64_t data_type, const std::string& what) {
  if (data_type == pb::TensorProto::FLOAT6E2M3 || data_type == pb::TensorProto::FLOAT6E3M2)
    fail(Code::unsupported, "{} has elements of 6-bit floats, which Frit does not support", what);
  if (data_type <= 0 || data_type >= kDTypeCount)
    fail(Code::invalid_model, "{} has the element type {}, which ONNX does not define", what,
         data_type);
  const auto dtype = static_cast<DType>(data_type);
  if (dtype == DType::string)
    fail(Code::unsupported, "{} holds strings, which Frit does not support", what);
  if (dtype == DType::c64 || dtype == DType::c128)
    fail(Code::unsupported, "{} holds complex numbers, which Frit does not support", what);
  return dtype;
}

ir::Tensor read_tensor(const pb::TensorProto& proto, const std::shared_ptr<Model>& model,
                       const std::string& what) {
  const DType dtype = read_dtype(proto.data_type(), what);
  if (proto.has_segment())
    fail(Code::unsupported, "{} is split into segments, which Frit does not read", what);
  std::vector<std::int64_t> dims = read_dims(proto, dtype, what);
  if (proto.data_location() == pb::TensorProto::EXTERNAL)
    return read_external(proto, dtype, std::move(dims), *model, what);
  if (proto.has_raw_data())
    return view_or_copy(dtype, std::move(dims), std::as_bytes(std::span(proto.raw_data())), model,
                        what, "raw_data");
  return read_typed(proto, dtype, std::move(dims), model, what);
}

ir::Tensor read_sparse_tensor(const pb::SparseTensorProto& proto,
                              const std::shared_ptr<Model>& model, const std::string& what) {
  const Tensor values = read_tensor(proto.values(), model, what);
  const Tensor indices = read_tensor(proto.indices(), model, "the indices of " + what);
  std::vector<std::int64_t> dims(proto.dims().begin(), proto.dims().end());
  const Result<std::uint64_t> bytes = storage_bytes(values.dtype(), dims);
  if (!bytes.ok())
    fail(Code::invalid_model, "{} has impossible dims: {}", what, bytes.status().message());
  if (*bytes > kMaxDenseBytes)
    fail(Code::unsupported, "{} takes {} bytes when dense; Frit accepts sparse tensors up to {}",
         what, *bytes, kMaxDenseBytes);
  const bool linear = indices.dims().size() == 1 && indices.count() == values.count();
  const bool full = indices.dims().size() == 2 && indices.dims()[0] == values.count() &&
                    indices.dims()[1] == static_cast<std::int64_t>(dims.size());
  if (values.dims().size() != 1 || indices.dtype() != DType::i64 || !(linear || full))
    fail(Code::invalid_model,
         "{} is malformed: expected 1-D values and int64 indices, one or one per axis for each "
         "value",
         what);
  if (dtype_bits(values.dtype()) < 8)
    fail(Code::unsupported, "{} is sparse with elements below 8 bits, which Frit does not read",
         what);
  Tensor dense(values.dtype(), dims);
  const auto size = static_cast<std::size_t>(dtype_bits(values.dtype()) / 8);
  auto* out = static_cast<std::byte*>(dense.mutable_data());
  const auto* in = static_cast<const std::byte*>(values.data());
  for (std::int64_t i = 0; i < values.count(); ++i) {
    const std::int64_t at = sparse_position(indices, dims, dense.count(), i, what);
    std::memcpy(out + static_cast<std::size_t>(at) * size, in + static_cast<std::size_t>(i) * size,
                size);
  }
  return dense;
}

}  // namespace frit::importer
