// SPDX-License-Identifier: Apache-2.0
// Makes small ONNX models in memory and imports them, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "compiler/error.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/onnx/importer.h"
#include "onnx.pb.h"

namespace frit::test {

using Names = std::vector<std::string>;
using Dims = std::vector<std::int64_t>;

/// Attributes of one node, added by calls.
class NodeMaker {
 public:
  explicit NodeMaker(::onnx::NodeProto& node) : proto(node) {}

  NodeMaker& i(const char* name, std::int64_t v) {
    add(name, ::onnx::AttributeProto::INT).set_i(v);
    return *this;
  }
  NodeMaker& f(const char* name, float v) {
    add(name, ::onnx::AttributeProto::FLOAT).set_f(v);
    return *this;
  }
  NodeMaker& s(const char* name, const char* v) {
    add(name, ::onnx::AttributeProto::STRING).set_s(v);
    return *this;
  }
  NodeMaker& ints(const char* name, const Dims& v) {
    ::onnx::AttributeProto& a = add(name, ::onnx::AttributeProto::INTS);
    for (std::int64_t n : v) a.add_ints(n);
    return *this;
  }
  NodeMaker& floats(const char* name, const std::vector<float>& v) {
    ::onnx::AttributeProto& a = add(name, ::onnx::AttributeProto::FLOATS);
    for (float n : v) a.add_floats(n);
    return *this;
  }
  /// An attribute whose value is that of the enclosing function's attribute.
  NodeMaker& ref(const char* name, const char* outer, ::onnx::AttributeProto::AttributeType type) {
    add(name, type).set_ref_attr_name(outer);
    return *this;
  }
  ::onnx::AttributeProto& add(const char* name, ::onnx::AttributeProto::AttributeType type) {
    ::onnx::AttributeProto& a = *proto.add_attribute();
    a.set_name(name);
    a.set_type(type);
    return a;
  }

  ::onnx::NodeProto& proto;
};

/// Adds a node to a graph or function.
template <class Owner>
NodeMaker add_node(Owner& owner, const char* op, const Names& inputs, const Names& outputs) {
  ::onnx::NodeProto& node = *owner.add_node();
  node.set_op_type(op);
  for (const std::string& n : inputs) node.add_input(n);
  for (const std::string& n : outputs) node.add_output(n);
  return NodeMaker(node);
}

/// A model under construction.
class ModelMaker {
 public:
  explicit ModelMaker(std::int64_t opset) {
    proto.set_ir_version(8);
    ::onnx::OperatorSetIdProto& import = *proto.add_opset_import();
    import.set_version(opset);
    graph().set_name("g");
  }

  ::onnx::GraphProto& graph() { return *proto.mutable_graph(); }

  static void set_type(::onnx::ValueInfoProto& info, const std::string& name, int type,
                       const Dims& dims) {
    info.set_name(name);
    ::onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (std::int64_t d : dims) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (d >= 0) dim.set_dim_value(d);
    }
  }
  ModelMaker& input(const std::string& name, const Dims& dims, int type = 1) {
    set_type(*graph().add_input(), name, type, dims);
    return *this;
  }
  ModelMaker& output(const std::string& name) {
    graph().add_output()->set_name(name);
    return *this;
  }
  ModelMaker& output(const std::string& name, const Dims& dims, int type = 1) {
    set_type(*graph().add_output(), name, type, dims);
    return *this;
  }
  NodeMaker node(const char* op, const Names& inputs, const Names& outputs) {
    return add_node(graph(), op, inputs, outputs);
  }
  ::onnx::TensorProto& initializer(const std::string& name, int type, const Dims& dims) {
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (std::int64_t d : dims) tensor.add_dims(d);
    return tensor;
  }
  ModelMaker& constant(const std::string& name, const Dims& values) {
    ::onnx::TensorProto& t = initializer(name, 7, {static_cast<std::int64_t>(values.size())});
    for (std::int64_t v : values) t.add_int64_data(v);
    return *this;
  }
  ModelMaker& constant_f32(const std::string& name, const Dims& dims,
                           const std::vector<float>& values) {
    ::onnx::TensorProto& t = initializer(name, 1, dims);
    for (float v : values) t.add_float_data(v);
    return *this;
  }
  std::string bytes() const { return proto.SerializeAsString(); }

  ::onnx::ModelProto proto;
};

/// The nodes of the imported graph as text, one line each, without origins.
inline std::string imported(const std::string& bytes, const importer::ImportOptions& options = {},
                            importer::ImportReport* report = nullptr,
                            const std::string& folder = "") {
  ir::Graph graph;
  importer::ImportReport own;
  importer::import_memory(std::as_bytes(std::span(bytes)), folder, options, graph,
                          report != nullptr ? *report : own);
  ir::verify(graph);
  ir::PrintOptions print;
  print.origins = false;
  const std::string text = ir::print(graph, print);
  // Between the header's "{" and the closing "}", without the indentation.
  std::string body;
  std::size_t at = text.find("{\n") + 2;
  while (at < text.size() && text[at] != '}') {
    const std::size_t end = text.find('\n', at);
    body += text.substr(at + 2, end - at - 1);
    at = end + 1;
  }
  return body;
}

inline std::string imported(const ModelMaker& model, const importer::ImportOptions& options = {}) {
  return imported(model.bytes(), options);
}

/// Code and message of the refusal; code ok if the model imports.
inline std::pair<Code, std::string> refused(const std::string& bytes,
                                            const std::string& folder = "") {
  try {
    imported(bytes, {}, nullptr, folder);
  } catch (const Error& error) {
    return {error.code(), error.message()};
  }
  return {Code::ok, ""};
}

inline std::pair<Code, std::string> refused(const ModelMaker& model) {
  return refused(model.bytes());
}

}  // namespace frit::test

/// Checks that a model is refused with `code` and that the message contains each of the texts.
#define EXPECT_REFUSED(refusal, expected_code, ...)                             \
  do {                                                                          \
    const auto frit_refusal = (refusal);                                        \
    EXPECT_EQ(frit_refusal.first, expected_code) << frit_refusal.second;        \
    for (const char* frit_part : {__VA_ARGS__})                                 \
      EXPECT_NE(frit_refusal.second.find(frit_part), std::string::npos)         \
          << "\"" << frit_part << "\" is not part of: " << frit_refusal.second; \
  } while (false)
