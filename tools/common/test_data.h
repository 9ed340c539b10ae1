// SPDX-License-Identifier: Apache-2.0
// Test data in the layout of ONNX's backend tests: test_data_set_N/{input,output}_K.pb.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/onnx/tensor_file.h"

namespace frit::tools {

/// One numbered set. Tensors are in the order of the model's inputs and outputs.
struct TestSet {
  std::filesystem::path folder;
  std::vector<importer::NamedTensor> inputs;
  std::vector<importer::NamedTensor> outputs;
};

/// The test_data_set_N folders of `folder`, by number. Throws Error(not_found) if there are none.
std::vector<std::filesystem::path> find_test_sets(const std::filesystem::path& folder);
/// Reads a set. Throws Error naming the file.
TestSet read_test_set(const std::filesystem::path& folder);
/// Writes `folder`/output_K.pb.
void write_outputs(const std::filesystem::path& folder,
                   const std::vector<importer::NamedTensor>& outputs);

}  // namespace frit::tools
