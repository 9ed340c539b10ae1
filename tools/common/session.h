// SPDX-License-Identifier: Apache-2.0
// An engine with one context and host tensors for its bindings.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/tensor.h"
#include "frit/runtime.h"

namespace frit::tools {

/// One binding and the memory that this session gave it.
struct Bound {
  std::string name;
  bool is_input = false;
  ir::Tensor tensor;
};

/// Runs an engine with inputs and outputs held here. One thread at a time. Throws Error.
class Session {
 public:
  /// Makes a context and memory for all bindings; outputs are poisoned with a byte pattern.
  explicit Session(const RuntimeEngine& engine, bool profile_steps = false);

  const std::vector<Bound>& bindings() const { return bindings_; }
  RuntimeContext& context() { return context_; }
  /// Copies data into the input of that name. Throws Error(shape_mismatch) naming the input, the
  /// expected and the found type and dims; Error(not_found) if there is no such input.
  void set_input(const std::string& name, const ir::Tensor& data);
  /// Copies raw bytes into the input of that name.
  void set_input_bytes(const std::string& name, std::span<const std::byte> bytes);
  void run();

 private:
  Bound& input(const std::string& name);

  RuntimeContext context_;
  std::vector<Bound> bindings_;
};

/// "f32[1,3,224,224]"
std::string type_text(const ir::Tensor& tensor);

/// Turns a failed status into an Error with `doing` in front.
void require(const RuntimeStatus& status, const std::string& doing);

}  // namespace frit::tools
