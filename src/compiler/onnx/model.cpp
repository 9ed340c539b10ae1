// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

#include "compiler/error.h"

namespace frit::importer {
namespace {

void read_functions(Model& model) {
  for (const pb::FunctionProto& f : model.proto.functions()) {
    const std::string key = function_key(f.domain(), f.name(), f.overload());
    if (f.name().empty()) fail(Code::invalid_model, "the model has a function without a name");
    if (!model.functions.emplace(key, &f).second)
      fail(Code::invalid_model, "the model defines the function \"{}\" of domain \"{}\" twice",
           f.name(), f.domain());
  }
}

void check_header(const pb::ModelProto& proto, const std::string& what) {
  if (!proto.has_graph())
    fail(Code::invalid_model, "{} holds no graph; expected an ONNX model with one", what);
  if (!proto.has_ir_version())
    fail(Code::invalid_model, "{} does not say its IR version; is it an ONNX model?", what);
  if (proto.ir_version() < 3)
    fail(Code::unsupported,
         "{} has IR version {}; expected 3 or newer (convert it with onnx.version_converter)", what,
         proto.ir_version());
  if (proto.opset_import().empty())
    fail(Code::invalid_model,
         "{} imports no opset; an ONNX model of IR version 3 or newer has to (export it again)",
         what);
}

}  // namespace

std::string canonical_domain(const std::string& domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

std::string function_key(const std::string& domain, const std::string& name,
                         const std::string& overload) {
  return canonical_domain(domain) + '\n' + name + '\n' + overload;
}

template <class List>
Opsets read_opsets(const List& imports, const std::string& where) {
  Opsets opsets;
  for (const pb::OperatorSetIdProto& import : imports) {
    const std::string domain = canonical_domain(import.domain());
    const auto [known, added] = opsets.emplace(domain, import.version());
    if (!added && known->second != import.version())
      fail(Code::invalid_model, "{} imports domain \"{}\" as opset {} and as opset {}", where,
           domain, known->second, import.version());
    if (domain.empty() && (import.version() < kMinOpset || import.version() > kMaxOpset))
      fail(Code::unsupported,
           "{} uses opset {} of the default domain; Frit reads opsets {} to {} (convert it with "
           "onnx.version_converter)",
           where, import.version(), kMinOpset, kMaxOpset);
  }
  return opsets;
}

template Opsets read_opsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>&,
                            const std::string&);

std::shared_ptr<Model> parse_model(std::span<const std::byte> bytes, const std::string& folder,
                                   const std::string& what) {
  constexpr std::size_t kLimit = std::numeric_limits<int>::max();
  if (bytes.empty()) fail(Code::invalid_model, "{} is empty; expected an ONNX model", what);
  if (bytes.size() > kLimit)
    fail(Code::unsupported,
         "{} has {} bytes; an ONNX message cannot exceed 2 GiB (save the model with external data)",
         what, bytes.size());
  auto model = std::make_shared<Model>();
  model->externals = ExternalFiles(folder);
  const int size = static_cast<int>(bytes.size());
  google::protobuf::io::ArrayInputStream array(bytes.data(), size);
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetTotalBytesLimit(size);
  if (!model->proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    fail(Code::invalid_model,
         "{} is not a readable ONNX model ({} bytes): the file is truncated, damaged, nested too "
         "deeply or of another format",
         what, bytes.size());
  check_header(model->proto, what);
  model->opsets = read_opsets(model->proto.opset_import(), "the model");
  read_functions(*model);
  return model;
}

}  // namespace frit::importer
