// SPDX-License-Identifier: Apache-2.0
// Types of the model: graph inputs with the caller's dims, and shape hints.
#include <algorithm>
#include <utility>

#include "compiler/error.h"
#include "compiler/onnx/tensors.h"
#include "compiler/onnx/translation.h"

namespace frit::importer {
namespace {

const char* kind_name(const pb::TypeProto& type) {
  switch (type.value_case()) {
    case pb::TypeProto::kSequenceType:
      return "a sequence";
    case pb::TypeProto::kMapType:
      return "a map";
    case pb::TypeProto::kOptionalType:
      return "an optional";
    case pb::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    case pb::TypeProto::kOpaqueType:
      return "an opaque value";
    default:
      return "without a type";
  }
}

}  // namespace

void Translation::read_inputs(Scope& scope) {
  const pb::GraphProto& graph = model_->proto.graph();
  std::unordered_map<std::string_view, bool> constants;
  for (const pb::TensorProto& t : graph.initializer()) constants.emplace(t.name(), true);
  for (const pb::SparseTensorProto& t : graph.sparse_initializer())
    constants.emplace(t.values().name(), true);
  std::vector<std::string_view> unknown;
  for (const auto& [name, dims] : options_.input_dims) unknown.push_back(name);
  for (const pb::ValueInfoProto& input : graph.input()) {
    std::erase(unknown, input.name());
    const bool overridden = options_.input_dims.contains(input.name());
    if (!overridden && constants.contains(input.name())) continue;
    add_graph_input(input, scope);
  }
  if (!unknown.empty())
    fail(Code::invalid_argument, "dims are given for \"{}\", but the model has no such input",
         fmt::join(unknown, "\", \""));
}

void Translation::add_graph_input(const pb::ValueInfoProto& input, Scope& scope) {
  const std::string& name = input.name();
  const pb::TypeProto::Tensor& tensor = input.type().tensor_type();
  ir::TensorType type;
  try {
    if (!input.type().has_tensor_type())
      fail(Code::unsupported, "it is {}; Frit takes dense tensors only", kind_name(input.type()));
    type.dtype = read_dtype(tensor.elem_type(), "it");
  } catch (const Error& error) {
    if (error.code() != Code::unsupported)
      fail(error.code(), "the graph's input \"{}\" is malformed: {}", name, error.message());
    refusals_.push_back(fmt::format("input \"{}\": {}", name, error.message()));
    define(scope, name, nullptr, "an input");
    return;
  }
  if (const auto given = options_.input_dims.find(name); given != options_.input_dims.end()) {
    const auto rank = static_cast<std::size_t>(tensor.shape().dim_size());
    if (tensor.has_shape() && rank != given->second.size())
      fail(Code::invalid_argument, "input \"{}\" has rank {}, but {} dims are given for it", name,
           rank, given->second.size());
    for (std::int64_t d : given->second)
      if (d < 0)
        fail(Code::invalid_argument, "input \"{}\" is given the dim {}; dims are 0 or more", name,
             d);
    for (std::size_t i = 0; tensor.has_shape() && i < rank; ++i) {
      const pb::TensorShapeProto::Dimension& dim = tensor.shape().dim(static_cast<int>(i));
      if (dim.has_dim_value() && dim.dim_value() >= 0 && dim.dim_value() != given->second[i])
        warn(fmt::format("the model fixes dim {} of input \"{}\" at {}; {} is used, as asked", i,
                         name, dim.dim_value(), given->second[i]));
    }
    type.dims = ir::make_shape(given->second);
  } else if (!tensor.has_shape()) {
    fail(Code::invalid_argument,
         "the model does not say the dims of input \"{}\"; give them when building", name);
  } else {
    for (int i = 0; i < tensor.shape().dim_size(); ++i)
      type.dims.push_back(input_dim(tensor.shape().dim(i), fmt::format("{}[{}]", name, i)));
  }
  report_.inputs.push_back({name, type});
  define(scope, name, graph_.add_input(name, std::move(type)), "an input");
}

ir::Dim Translation::input_dim(const pb::TensorShapeProto::Dimension& dim,
                               const std::string& where) {
  if (dim.has_dim_value()) {
    // Some exporters write -1 or 0 for an open dim; 0 is also a valid size, so only -1 is open.
    if (dim.dim_value() >= 0) return dim.dim_value();
  }
  const std::string& symbol = dim.dim_param();
  if (!symbol.empty()) {
    if (const auto bound = symbols_.find(symbol); bound != symbols_.end()) return bound->second;
  }
  if (options_.default_symbols_to_one) {
    report_.defaulted_dims.push_back(symbol.empty() ? where : where + " (" + symbol + ")");
    if (!symbol.empty()) symbols_[symbol] = 1;
    return 1;
  }
  return symbol.empty() ? graph_.symbols().fresh("d") : graph_.symbols().symbol(symbol);
}

std::optional<ir::TensorType> Translation::read_hint(const std::string& name, const Scope& scope) {
  const auto found = scope.hints.find(name);
  if (found == scope.hints.end() || !found->second->has_tensor_type()) return std::nullopt;
  const pb::TypeProto::Tensor& tensor = found->second->tensor_type();
  if (!tensor.has_shape() || tensor.elem_type() == 0) return std::nullopt;
  ir::TensorType type;
  type.dtype = read_dtype(tensor.elem_type(), fmt::format("the value \"{}\"", name));
  for (const pb::TensorShapeProto::Dimension& dim : tensor.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      type.dims.emplace_back(dim.dim_value());
    } else if (const auto bound = symbols_.find(dim.dim_param()); bound != symbols_.end()) {
      type.dims.emplace_back(bound->second);
    } else {
      type.dims.push_back(dim.dim_param().empty() ? graph_.symbols().fresh("h")
                                                  : graph_.symbols().symbol(dim.dim_param()));
    }
  }
  return type;
}

void Translation::check_hint(const ir::Value& value, const std::string& name, const Scope& scope) {
  const auto found = scope.hints.find(name);
  if (found == scope.hints.end() || !found->second->has_tensor_type()) return;
  const pb::TypeProto::Tensor& tensor = found->second->tensor_type();
  if (tensor.elem_type() != 0 && tensor.elem_type() != static_cast<int>(value.dtype()))
    fail(Code::invalid_model,
         "the model says that \"{}\" has the element type {}, but it has the type {}", name,
         tensor.elem_type(), ir::to_string(value.type));
  if (!tensor.has_shape() || !options_.input_dims.empty()) return;
  bool agrees = tensor.shape().dim_size() == value.rank();
  for (int i = 0; agrees && i < value.rank(); ++i) {
    const pb::TensorShapeProto::Dimension& dim = tensor.shape().dim(i);
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      agrees = !value.dims()[static_cast<std::size_t>(i)].never_equals(dim.dim_value());
  }
  if (!agrees && ++stale_hints_ <= 5)
    warn(fmt::format("\"{}\" has the type {}, unlike the model's shape hint; the hint is ignored",
                     name, ir::to_string(value.type)));
}

}  // namespace frit::importer
