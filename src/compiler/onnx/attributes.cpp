// SPDX-License-Identifier: Apache-2.0
// Typed access to a node's attributes, references of function bodies resolved.
#include <algorithm>

#include "compiler/onnx/context.h"
#include "compiler/onnx/tensors.h"

namespace frit::importer {
namespace {

using Type = pb::AttributeProto;

const char* type_name(int type) {
  static constexpr const char* kNames[] = {
      "undefined",      "float",      "int",        "string",  "tensor", "graph",
      "floats",         "ints",       "strings",    "tensors", "graphs", "sparse_tensor",
      "sparse_tensors", "type_proto", "type_protos"};
  return type >= 0 && type < 15 ? kNames[type] : "unknown";
}

}  // namespace

const pb::AttributeProto* NodeContext::find_attr(std::string_view name) const {
  for (const pb::AttributeProto& attr : node_.attribute()) {
    if (attr.name() != name) continue;
    if (attr.ref_attr_name().empty()) return &attr;
    const auto given = frame_.attributes.find(attr.ref_attr_name());
    return given == frame_.attributes.end() ? nullptr : given->second;
  }
  return nullptr;
}

const pb::AttributeProto& NodeContext::need_attr(std::string_view name) const {
  const pb::AttributeProto* attr = find_attr(name);
  if (attr == nullptr) invalid("the attribute \"{}\" is missing; {} requires it", name, op());
  return *attr;
}

const pb::AttributeProto* NodeContext::typed_attr(std::string_view name,
                                                  pb::AttributeProto::AttributeType type) const {
  const pb::AttributeProto* attr = find_attr(name);
  if (attr != nullptr && attr->type() != type)
    invalid("the attribute \"{}\" has the type {}; expected {}", name, type_name(attr->type()),
            type_name(type));
  return attr;
}

std::int64_t NodeContext::integer(std::string_view name) const {
  need_attr(name);
  return integer(name, 0);
}

std::int64_t NodeContext::integer(std::string_view name, std::int64_t otherwise) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::INT);
  return attr != nullptr ? attr->i() : otherwise;
}

double NodeContext::real(std::string_view name) const {
  need_attr(name);
  return real(name, 0);
}

double NodeContext::real(std::string_view name, double otherwise) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::FLOAT);
  return attr != nullptr ? static_cast<double>(attr->f()) : otherwise;
}

std::string NodeContext::text(std::string_view name) const {
  need_attr(name);
  return text(name, "");
}

std::string NodeContext::text(std::string_view name, std::string_view otherwise) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::STRING);
  return attr != nullptr ? attr->s() : std::string(otherwise);
}

Ints NodeContext::ints(std::string_view name) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::INTS);
  return attr != nullptr ? Ints(attr->ints().begin(), attr->ints().end()) : Ints();
}

Reals NodeContext::reals(std::string_view name) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::FLOATS);
  return attr != nullptr ? Reals(attr->floats().begin(), attr->floats().end()) : Reals();
}

std::vector<std::string> NodeContext::texts(std::string_view name) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::STRINGS);
  if (attr == nullptr) return {};
  return {attr->strings().begin(), attr->strings().end()};
}

Tensor NodeContext::tensor(std::string_view name) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::TENSOR);
  if (attr == nullptr) return {};
  return read_tensor(attr->t(), translation_.model(),
                     fmt::format("the tensor of attribute \"{}\"", name));
}

Tensor NodeContext::sparse_tensor(std::string_view name) const {
  const pb::AttributeProto* attr = typed_attr(name, Type::SPARSE_TENSOR);
  if (attr == nullptr) return {};
  return read_sparse_tensor(attr->sparse_tensor(), translation_.model(),
                            fmt::format("the sparse tensor of attribute \"{}\"", name));
}

const pb::GraphProto& NodeContext::graph(std::string_view name) const {
  need_attr(name);
  return typed_attr(name, Type::GRAPH)->g();
}

DType NodeContext::dtype(std::string_view name) const {
  return read_dtype(integer(name), fmt::format("the attribute \"{}\"", name));
}

std::string NodeContext::choice(std::string_view name, std::string_view otherwise,
                                std::initializer_list<std::string_view> allowed) const {
  std::string value = text(name, otherwise);
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    invalid("the attribute \"{}\" is \"{}\"; expected one of: {}", name, value,
            fmt::join(allowed, ", "));
  return value;
}

}  // namespace frit::importer
