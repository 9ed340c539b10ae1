// SPDX-License-Identifier: Apache-2.0
// ONNX models into the IR. No protobuf type shows here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace frit::importer {

/// What the caller fixes or changes while a model is read.
struct ImportOptions {
  /// Dims that replace those of a graph input, by input name. An initializer of that name becomes a
  /// real input.
  std::map<std::string, std::vector<std::int64_t>> input_dims;
  /// Numbers for the model's named dims (`dim_param`).
  std::map<std::string, std::int64_t> symbols;
  /// Dims of inputs that stay unknown become 1 and are reported, instead of symbols.
  bool default_symbols_to_one = false;
  /// Receives each warning as it arises; may be empty. Warnings are in the report as well.
  std::function<void(const std::string& message)> warn;
};

/// A graph input or output: its name in the model and its type.
struct ImportedBinding {
  std::string name;
  ir::TensorType type;
};

/// What was read.
struct ImportReport {
  std::string producer;  ///< "pytorch 2.5.1"; may be empty
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  ///< by domain; "" is the default domain
  std::vector<ImportedBinding> inputs;
  std::vector<ImportedBinding> outputs;
  std::vector<std::string> warnings;
  std::size_t nodes = 0;  ///< ONNX nodes read, those of inlined functions and branches included
  /// Dims that became 1 for want of a number: "input[0] (batch)".
  std::vector<std::string> defaulted_dims;
};

/// Reads a model file into the empty root graph `out`; external data are looked up in the file's
/// folder. Throws Error: not_found and io_error for files, invalid_model for broken models,
/// unsupported with one list of everything that is not covered. `out` is unusable after an error.
void import_file(const std::string& path, const ImportOptions& options, ir::Graph& out,
                 ImportReport& report);

/// The same for a model in memory; the bytes may go away afterwards. `folder` holds external data;
/// if it is empty, a model that has any is refused.
void import_memory(std::span<const std::byte> bytes, const std::string& folder,
                   const ImportOptions& options, ir::Graph& out, ImportReport& report);

}  // namespace frit::importer
