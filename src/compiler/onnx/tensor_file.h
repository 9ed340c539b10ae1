// SPDX-License-Identifier: Apache-2.0
// Single tensors in files, as ONNX's backend tests store them (a serialized TensorProto).
#pragma once

#include <string>

#include "compiler/ir/tensor.h"

namespace frit::importer {

struct NamedTensor {
  std::string name;
  ir::Tensor tensor;
};

/// Reads a TensorProto. Throws Error: not_found, io_error, invalid_model (damaged, or not a
/// tensor), unsupported (strings, sequences).
NamedTensor read_tensor_file(const std::string& path);

/// Writes a TensorProto with raw data; the file appears complete or not at all. Throws Error.
void write_tensor_file(const std::string& path, const NamedTensor& tensor);

}  // namespace frit::importer
