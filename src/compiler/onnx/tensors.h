// SPDX-License-Identifier: Apache-2.0
// Contents and types of ONNX messages as those of the IR.
#pragma once

#include <memory>
#include <string>

#include "compiler/ir/tensor.h"
#include "compiler/onnx/model.h"

namespace frit::importer {

/// The IR's type for a TensorProto.DataType. Throws Error: unsupported for strings, complex numbers
/// and float6, invalid_model for numbers that are no type. `what` names the owner in messages.
DType read_dtype(std::int64_t data_type, const std::string& what);

/// Contents of a tensor; shares the model's bytes where their layout allows. `what` names the
/// tensor in messages. Throws Error if type, dims and data disagree or external data cannot be
/// read.
ir::Tensor read_tensor(const pb::TensorProto& proto, const std::shared_ptr<Model>& model,
                       const std::string& what);

/// A sparse tensor written out densely. Throws Error as read_tensor, and if that exceeds 2 GiB.
ir::Tensor read_sparse_tensor(const pb::SparseTensorProto& proto,
                              const std::shared_ptr<Model>& model, const std::string& what);

}  // namespace frit::importer
