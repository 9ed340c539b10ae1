// SPDX-License-Identifier: Apache-2.0
#include "tools/common/session.h"

#include <algorithm>
#include <cstring>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/ir/dim.h"

namespace frit::tools {

void require(const RuntimeStatus& status, const std::string& doing) {
  if (!status.ok()) fail(status.code(), "{}: {}", doing, status.message());
}

std::string type_text(const ir::Tensor& tensor) {
  return std::string(dtype_name(tensor.dtype())) + ir::to_string(ir::make_shape(tensor.dims()));
}

Session::Session(const RuntimeEngine& engine, bool profile_steps) {
  require(context_.create(engine, profile_steps), "making a context");
  const int count = engine.binding_count();
  bindings_.reserve(static_cast<std::size_t>(count));
  for (int b = 0; b < count; ++b) {
    const BindingInfo info = engine.binding(b);
    Bound bound{info.name, info.is_input,
                ir::Tensor(info.dtype, {info.dims.begin(), info.dims.end()})};
    if (!info.is_input && bound.tensor.bytes() > 0)
      std::memset(bound.tensor.mutable_data(), 0xA5, bound.tensor.bytes());
    require(context_.set_address(b, bound.tensor.mutable_data(), bound.tensor.bytes()),
            "binding '" + bound.name + "'");
    bindings_.push_back(std::move(bound));
  }
}

Bound& Session::input(const std::string& name) {
  const auto it =
      std::ranges::find_if(bindings_, [&](const Bound& b) { return b.is_input && b.name == name; });
  if (it != bindings_.end()) return *it;
  std::string known;
  for (const Bound& b : bindings_)
    if (b.is_input) known += (known.empty() ? "'" : ", '") + b.name + "'";
  fail(Code::not_found, "the engine has no input '{}'; its inputs: {}", name, known);
}

void Session::set_input(const std::string& name, const ir::Tensor& data) {
  Bound& bound = input(name);
  if (bound.tensor.dtype() != data.dtype() || bound.tensor.dims() != data.dims())
    fail(Code::shape_mismatch, "input '{}': the engine expects {}, the data is {}", name,
         type_text(bound.tensor), type_text(data));
  if (data.bytes() > 0) std::memcpy(bound.tensor.mutable_data(), data.data(), data.bytes());
}

void Session::set_input_bytes(const std::string& name, std::span<const std::byte> bytes) {
  Bound& bound = input(name);
  if (bytes.size() != bound.tensor.bytes())
    fail(Code::shape_mismatch, "input '{}': {} takes {} bytes, the file has {}", name,
         type_text(bound.tensor), bound.tensor.bytes(), bytes.size());
  if (!bytes.empty()) std::memcpy(bound.tensor.mutable_data(), bytes.data(), bytes.size());
}

void Session::run() {
  require(context_.enqueue(), "running the engine");
}

}  // namespace frit::tools
