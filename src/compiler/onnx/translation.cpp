// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/translation.h"

#include <algorithm>
#include <utility>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"
#include "compiler/onnx/tensors.h"

namespace frit::importer {
namespace {

// Most ONNX nodes of one import: functions may call functions, which multiplies.
constexpr std::size_t kMaxNodes = 500'000;

std::string describe(const pb::NodeProto& node, const std::string& label, std::int64_t opset) {
  std::string domain = canonical_domain(node.domain());
  return fmt::format("node \"{}\" ({}{}, opset {})", label, domain.empty() ? domain : domain + ".",
                     node.op_type(), opset);
}

}  // namespace

std::optional<ir::Value*> Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer)
    if (const auto found = scope->values.find(name); found != scope->values.end())
      return found->second;
  return std::nullopt;
}

bool Scope::is_absent(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    if (scope->values.contains(name)) return false;
    if (scope->absent.contains(name)) return true;
  }
  return false;
}

Translation::Translation(std::shared_ptr<Model> model, const ImportOptions& options,
                         ir::Graph& graph, ImportReport& report)
    : model_(std::move(model)),
      options_(options),
      graph_(graph),
      report_(report),
      symbols_(options.symbols) {}

void Translation::run() {
  const pb::ModelProto& proto = model_->proto;
  report_ = {};
  report_.producer = proto.producer_name();
  if (!proto.producer_version().empty()) report_.producer += " " + proto.producer_version();
  report_.ir_version = proto.ir_version();
  report_.opsets = model_->opsets;
  graph_.name = proto.graph().name();

  Scope scope;
  Frame frame;
  frame.opsets = &model_->opsets;
  read_inputs(scope);
  read_initializers(proto.graph(), scope);
  for (const pb::ValueInfoProto& info : proto.graph().value_info())
    scope.hints.emplace(info.name(), &info.type());
  for (const pb::ValueInfoProto& info : proto.graph().output())
    scope.hints.emplace(info.name(), &info.type());
  translate_nodes(proto.graph().node(), scope, frame);
  throw_refusals();
  finish_outputs(scope);
  if (stale_hints_ > 5)
    warn(fmt::format("{} more values have other dims than the model's shape hints say",
                     stale_hints_ - 5));
}

void Translation::warn(std::string message) {
  if (options_.warn) options_.warn(message);
  report_.warnings.push_back(std::move(message));
}

void Translation::define(Scope& scope, const std::string& name, ir::Value* value,
                         const char* what) {
  if (name.empty()) fail(Code::invalid_model, "the model has {} without a name", what);
  if (!scope.values.emplace(name, value).second)
    fail(
        Code::invalid_model,
        "the model has {} \"{}\", but that name is defined already; every name may be defined once",
        what, name);
}

void Translation::read_initializers(const pb::GraphProto& graph, Scope& scope) {
  ir::Emitter emitter(graph_);
  const auto add = [&](const std::string& name, const char* kind, const auto& read) {
    if (options_.input_dims.contains(name)) return;  // the caller makes it a real input
    ir::Value* value = nullptr;
    try {
      value = emitter.constant(read(fmt::format("{} \"{}\"", kind, name)));
      value->name = name;
    } catch (const Error& error) {
      if (error.code() != Code::unsupported) throw;
      refusals_.push_back(error.message());
    }
    define(scope, name, value, "an initializer");
  };
  for (const pb::TensorProto& tensor : graph.initializer())
    add(tensor.name(), "initializer",
        [&](const std::string& what) { return read_tensor(tensor, model_, what); });
  for (const pb::SparseTensorProto& sparse : graph.sparse_initializer())
    add(sparse.values().name(), "sparse initializer",
        [&](const std::string& what) { return read_sparse_tensor(sparse, model_, what); });
}

void Translation::translate_nodes(const NodeList& nodes, Scope& scope, const Frame& frame) {
  for (int i : sorted_order(nodes, scope, frame)) translate_node(nodes[i], i, scope, frame);
}

bool Translation::is_available(const pb::NodeProto& node, const Scope& scope) const {
  return std::all_of(node.input().begin(), node.input().end(), [&](const std::string& name) {
    if (name.empty() || scope.is_absent(name)) return true;
    const std::optional<ir::Value*> found = scope.find(name);
    return found && *found != nullptr;
  });
}

void Translation::translate_node(const pb::NodeProto& node, int index, Scope& scope,
                                 const Frame& frame) {
  const std::string label = node_label(node, index, frame);
  const std::string domain = canonical_domain(node.domain());
  if (++report_.nodes > kMaxNodes)
    fail(Code::unsupported,
         "the model has more than {} nodes once its functions are expanded; Frit stops there",
         kMaxNodes);
  const auto opset = frame.opsets->find(domain);
  const std::int64_t version = opset == frame.opsets->end() ? 0 : opset->second;
  const auto local = model_->functions.find(function_key(domain, node.op_type(), node.overload()));
  const bool is_call = local != model_->functions.end();
  if (version == 0 && !is_call)
    throw Error(Code::invalid_model,
                fmt::format("{} belongs to the domain \"{}\", which the opset_import list does not "
                            "have",
                            describe(node, label, version), domain),
                label);
  const OpEntry* entry = domain.empty() && !is_call ? find_op(node.op_type()) : nullptr;
  std::string reason;
  if (!is_call) {
    if (entry == nullptr)
      reason = domain.empty()
                   ? "Frit does not know this op"
                   : "Frit imports the default domain and the model's own functions only";
    else if (version < entry->since)
      reason = fmt::format("this op exists from opset {} on", entry->since);
    else if (entry->until != 0 && version > entry->until)
      reason = fmt::format("this op was removed after opset {}", entry->until);
    else if (entry->import == nullptr)
      reason = entry->refusal;
  }
  try {
    if (reason.empty() && is_available(node, scope)) {
      NodeContext context(*this, node, scope, frame, version, label);
      if (is_call)
        call_function(*local->second, context);
      else
        entry->import(context);
      for (const std::string& name : node.output())
        if (!name.empty() && !scope.values.contains(name))
          fail(Code::unsupported, "its output \"{}\" is not covered", name);
      return;
    }
  } catch (Error& error) {
    if (error.code() != Code::unsupported) {
      error.set_origin(label);
      error.add_context(describe(node, label, version));
      throw;
    }
    reason = error.message();
  }
  if (!reason.empty()) refuse(node, label, version, reason);
  for (const std::string& name : node.output())
    if (!name.empty()) scope.values[name] = nullptr;
}

void Translation::refuse(const pb::NodeProto& node, const std::string& label, std::int64_t opset,
                         const std::string& reason) {
  refusals_.push_back(describe(node, label, opset) + ": " + reason);
}

void Translation::throw_refusals() const {
  if (refusals_.empty()) return;
  fail(Code::unsupported, "the model cannot be imported; not covered {} {}:\n  {}",
       refusals_.size() == 1 ? "is" : "are", refusals_.size(), fmt::join(refusals_, "\n  "));
}

void Translation::finish_outputs(const Scope& scope) {
  std::unordered_set<const ir::Value*> taken;
  for (const pb::ValueInfoProto& output : model_->proto.graph().output()) {
    const std::optional<ir::Value*> found = scope.find(output.name());
    if (!found || *found == nullptr)
      fail(Code::invalid_model,
           "the graph's output \"{}\" is not defined by any node, input or initializer",
           output.name());
    ir::Value* value = *found;
    // An output has a value of its own: inputs, constants and values that already are an output
    // under another name are passed on through a reshape to the same dims.
    if (!taken.insert(value).second || value->producer() == nullptr ||
        value->producer()->is(ops::constant)) {
      ir::Emitter emitter(graph_);
      emitter.origin = {output.name()};
      value = emitter.emit_as(ops::reshape, {value}, {}, value->type);
    }
    value->name = output.name();
    graph_.add_output(value);
    report_.outputs.push_back({output.name(), value->type});
  }
  if (report_.outputs.empty())
    fail(Code::invalid_model, "the graph has no outputs; there is nothing to compute");
}

}  // namespace frit::importer
