// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/dtypes.h"
#include "base/printable.h"
#include "base/status.h"
#include "compiler/builder/network_impl.h"
#include "compiler/ir/text.h"
#include "compiler/onnx/importer.h"
#include "compiler/ops/infer.h"

namespace frit {
namespace {

constexpr int kMaxResults = 1 << 16;

importer::ImportOptions import_options(const ParseOptions& options) {
  importer::ImportOptions converted;
  converted.input_dims = {options.shapes.begin(), options.shapes.end()};
  converted.default_symbols_to_one = options.default_dims_to_one;
  if (options.log) {
    converted.warn = [sink = options.log](const std::string& message) {
      sink(LogLevel::warning, message);
    };
  }
  return converted;
}

template <class Import>
Expected<Network> parse(const ParseOptions& options, const Import& import) {
  try {
    Network network;
    importer::ImportReport report;
    import(network.impl().graph, report);
    if (!report.defaulted_dims.empty()) {
      report.warnings.push_back(
          fmt::format("sizes that the model leaves open became 1: {}; pass shapes to choose others",
                      fmt::join(report.defaulted_dims, ", ")));
      if (options.log) options.log(LogLevel::warning, report.warnings.back());
    }
    network.impl().warnings = std::move(report.warnings);
    return network;
  } catch (...) {
    return current_error();
  }
}

std::vector<std::int64_t> numbers(const ir::Shape& shape) {
  std::vector<std::int64_t> dims;
  for (const ir::Dim& d : shape) dims.push_back(d.is_const() ? d.value() : -1);
  return dims;
}

IoDesc describe(const ir::Value& value) {
  return {value.name, value.dtype(), numbers(value.dims())};
}

ir::Attrs convert(const NetAttrs& attrs) {
  ir::Attrs converted;
  for (const auto& [name, value] : attrs)
    std::visit([&, key = name](const auto& v) { converted.set(key, v); }, value);
  return converted;
}

}  // namespace

BuildError current_error() {
  try {
    throw;
  } catch (const Error& error) {
    BuildError result{error.code(), error.message(), error.origin()};
    make_printable(result.message.data(), result.message.size());
    make_printable(result.node.data(), result.node.size());
    return result;
  } catch (const std::bad_alloc&) {
    return {Code::out_of_memory, "not enough memory", ""};
  } catch (const std::exception& error) {
    return {Code::internal, error.what(), ""};
  } catch (...) {
    return {Code::internal, "a callback threw something that is no std::exception", ""};
  }
}

ir::Value* owned_value(const Network::Impl& impl, void* value, const char* what) {
  if (value == nullptr) fail(Code::invalid_argument, "{} is not a tensor", what);
  auto* owned = static_cast<ir::Value*>(value);
  if (&owned->graph() != &impl.graph)
    fail(Code::invalid_argument, "{} is a tensor of another network", what);
  return owned;
}

std::string BuildError::text() const {
  std::string line = std::string(code_name(code)) + ": " + message;
  if (!node.empty()) line += " (node '" + node + "')";
  return line;
}

DType NetTensor::dtype() const {
  return valid() ? static_cast<ir::Value*>(value_)->dtype() : DType::undefined;
}

std::vector<std::int64_t> NetTensor::dims() const {
  return valid() ? numbers(static_cast<ir::Value*>(value_)->dims()) : std::vector<std::int64_t>{};
}

Network::Network(std::string name) : impl_(std::make_unique<Impl>()) {
  impl_->graph.name = std::move(name);
}
Network::~Network() = default;
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;

Expected<Network> Network::parse_file(const std::string& path, const ParseOptions& options) {
  return parse(options, [&](ir::Graph& graph, importer::ImportReport& report) {
    importer::import_file(path, import_options(options), graph, report);
  });
}

Expected<Network> Network::parse_memory(std::span<const std::byte> model,
                                        const ParseOptions& options, const std::string& folder) {
  return parse(options, [&](ir::Graph& graph, importer::ImportReport& report) {
    importer::import_memory(model, folder, import_options(options), graph, report);
  });
}

NetTensor Network::add_input(const std::string& name, DType dtype,
                             const std::vector<std::int64_t>& dims) {
  return guarded(*impl_, [&]() -> NetTensor {
    if (name.empty()) fail(Code::invalid_argument, "an input needs a name");
    if (!is_storable(dtype))
      fail(Code::invalid_argument, "input '{}' has a type without a fixed size", name);
    for (int i = 0; i < impl_->graph.input_count(); ++i)
      if (impl_->graph.input(i)->name == name)
        fail(Code::invalid_argument, "there is an input '{}' already", name);
    const auto bytes = storage_bytes(dtype, dims);
    if (!bytes.ok()) fail(Code::invalid_argument, "input '{}': {}", name, bytes.status().message());
    return NetTensor(impl_->graph.add_input(name, {dtype, ir::make_shape(dims)}));
  });
}

NetTensor Network::add_constant(DType dtype, const std::vector<std::int64_t>& dims,
                                const void* data, std::size_t bytes) {
  return guarded(*impl_, [&]() -> NetTensor {
    if (!is_storable(dtype)) fail(Code::invalid_argument, "a constant has a type without a size");
    const auto needed = storage_bytes(dtype, dims);
    if (!needed.ok()) fail(Code::invalid_argument, "a constant: {}", needed.status().message());
    if (*needed != bytes)
      fail(Code::invalid_argument, "a constant {}{} takes {} bytes, but {} were given",
           dtype_name(dtype), ir::to_string(ir::make_shape(dims)), *needed, bytes);
    if (bytes > 0 && data == nullptr) fail(Code::invalid_argument, "a constant has no data");
    ir::Tensor tensor(dtype, dims);
    if (bytes > 0) std::memcpy(tensor.mutable_data(), data, bytes);
    return NetTensor(ir::Emitter(impl_->graph).constant(std::move(tensor)));
  });
}

NetTensor Network::add_constant(const std::vector<std::int64_t>& dims,
                                const std::vector<float>& data) {
  return add_constant(DType::f32, dims, data.data(), data.size() * sizeof(float));
}

void Network::mark_output(NetTensor tensor, const std::string& name) {
  guarded(*impl_, [&]() -> NetTensor {
    if (name.empty()) fail(Code::invalid_argument, "an output needs a name");
    ir::Value* value = owned_value(*impl_, tensor.value_, ("output '" + name + "'").c_str());
    for (const IoDesc& output : outputs())
      if (output.name == name)
        fail(Code::invalid_argument, "there is an output '{}' already", name);
    if (value->producer() == nullptr || !value->name.empty()) {
      // An input or a value that is an output already keeps its name; the new output gets its own
      // value.
      ir::Emitter emitter(impl_->graph);
      value = emitter.emit_as(ops::reshape, {value}, {}, value->type);
    }
    value->name = name;
    impl_->graph.add_output(value);
    return {};
  });
}

std::vector<NetTensor> Network::add_multi(std::string_view op,
                                          const std::vector<NetTensor>& operands,
                                          const NetAttrs& attrs, int results) {
  std::vector<NetTensor> made = guarded(*impl_, [&]() -> std::vector<NetTensor> {
    const ir::Schema* schema = ir::find_schema(op);
    if (schema == nullptr || schema->has(ir::kTerminator) || schema->has(ir::kControlFlow))
      fail(Code::invalid_argument, "there is no op '{}' to add; docs/ir-ops.md lists all", op);
    std::vector<ir::Value*> values;
    for (const NetTensor& t : operands)
      values.push_back(t.valid() ? owned_value(*impl_, t.value_, "an operand") : nullptr);
    if (results < schema->min_results || results > kMaxResults ||
        (schema->max_results >= 0 && results > schema->max_results))
      fail(Code::invalid_argument, "op '{}' cannot have {} results", op, results);
    ir::Emitter emitter(impl_->graph);
    ir::Node* node = emitter.emit_node(*schema, values, convert(attrs), results);
    node->origin = {std::string(op) + "_" + std::to_string(node->id())};
    std::vector<NetTensor> out;
    for (int r = 0; r < results; ++r) out.push_back(NetTensor(node->result(r)));
    return out;
  });
  // After an error there are still as many tensors as were asked for, all invalid.
  made.resize(static_cast<std::size_t>(std::clamp(results, 1, kMaxResults)));
  return made;
}

NetTensor Network::add(std::string_view op, const std::vector<NetTensor>& operands,
                       const NetAttrs& attrs) {
  return add_multi(op, operands, attrs, 1).front();
}

const std::optional<BuildError>& Network::status() const {
  return impl_->error;
}

std::vector<IoDesc> Network::inputs() const {
  std::vector<IoDesc> list;
  for (int i = 0; i < impl_->graph.input_count(); ++i)
    list.push_back(describe(*impl_->graph.input(i)));
  return list;
}

std::vector<IoDesc> Network::outputs() const {
  std::vector<IoDesc> list;
  for (int o = 0; o < impl_->graph.output_count(); ++o)
    list.push_back(describe(*impl_->graph.output(o)));
  return list;
}

std::string Network::text() const {
  return ir::print(impl_->graph, {.max_elements = 64});
}

}  // namespace frit
