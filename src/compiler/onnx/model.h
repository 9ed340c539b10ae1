// SPDX-License-Identifier: Apache-2.0
// A parsed model with everything its tensors point into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "compiler/onnx/external.h"
#include "onnx.pb.h"

namespace frit::importer {

namespace pb = ::onnx;

/// Opset version by domain; the default domain is "".
using Opsets = std::map<std::string, std::int64_t>;

/// Range of default-domain opsets that the op table knows.
inline constexpr std::int64_t kMinOpset = 7;
inline constexpr std::int64_t kMaxOpset = 28;

/// "ai.onnx" is another spelling of the default domain "".
std::string canonical_domain(const std::string& domain);

/// One model in memory. Constants of the imported graph share ownership of it.
struct Model {
  pb::ModelProto proto;
  ExternalFiles externals;
  Opsets opsets;
  /// Model-local functions by function_key.
  std::unordered_map<std::string, const pb::FunctionProto*> functions;
};

/// Key of Model::functions.
std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload);

/// Opsets of an opset_import list. Throws if the default domain is outside the supported range or
/// a domain appears twice with different versions. `where` names the owner in messages.
template <class List>
Opsets read_opsets(const List& imports, const std::string& where);

/// Parses and checks the header. Throws Error.
std::shared_ptr<Model> parse_model(std::span<const std::byte> bytes, const std::string& folder,
                                   const std::string& what);

}  // namespace frit::importer
