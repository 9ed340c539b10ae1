// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/tensor_file.h"

#include <cstring>

#include "base/mapped_file.h"
#include "compiler/error.h"
#include "compiler/onnx/tensors.h"

namespace frit::importer {

NamedTensor read_tensor_file(const std::string& path) {
  auto file = MappedFile::open(path.c_str());
  if (!file.ok()) fail(file.status().code(), "{}", file.status().message());
  auto model = std::make_shared<Model>();
  pb::TensorProto proto;
  const std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() > std::size_t{1} << 31 ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    fail(Code::invalid_model, "'{}' is not a tensor file (a serialized TensorProto below 2 GiB)",
         path);
  const ir::Tensor view = read_tensor(proto, model, "'" + path + "'");
  // The view may point into the message, which ends with this function.
  NamedTensor named{proto.name(), ir::Tensor(view.dtype(), view.dims())};
  if (view.bytes() > 0) std::memcpy(named.tensor.mutable_data(), view.data(), view.bytes());
  return named;
}

void write_tensor_file(const std::string& path, const NamedTensor& named) {
  pb::TensorProto proto;
  proto.set_name(named.name);
  proto.set_data_type(static_cast<std::int32_t>(named.tensor.dtype()));
  for (std::int64_t d : named.tensor.dims()) proto.add_dims(d);
  proto.set_raw_data(named.tensor.data(), named.tensor.bytes());
  std::string bytes;
  if (!proto.SerializeToString(&bytes))
    fail(Code::unsupported, "'{}': a tensor of {} bytes does not fit a tensor file", path,
         named.tensor.bytes());
  const Status status = write_file(path.c_str(), std::as_bytes(std::span(bytes)));
  if (!status.ok()) fail(status.code(), "{}", status.message());
}

}  // namespace frit::importer
