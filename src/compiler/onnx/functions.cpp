// SPDX-License-Identifier: Apache-2.0
// Model-local functions and branches, emitted in place of the node that calls them.
#include <utility>

#include "compiler/error.h"
#include "compiler/onnx/context.h"
#include "compiler/onnx/tensors.h"

namespace frit::importer {
namespace {

// Deepest chain of calls; more is a model gone wrong.
constexpr int kMaxCalls = 64;

// The call's attributes over the function's defaults; references of an outer function resolved.
void bind_attributes(const pb::FunctionProto& function, const NodeContext& call, Frame& frame) {
  for (const pb::AttributeProto& attr : function.attribute_proto())
    frame.attributes.emplace(attr.name(), &attr);
  for (const pb::AttributeProto& attr : call.proto().attribute()) {
    const pb::AttributeProto* bound = &attr;
    if (!attr.ref_attr_name().empty()) {
      const auto outer = call.frame().attributes.find(attr.ref_attr_name());
      if (outer == call.frame().attributes.end()) continue;
      bound = outer->second;
    }
    frame.attributes[attr.name()] = bound;
  }
  for (const std::string& name : function.attribute())
    if (!frame.attributes.contains(name))
      call.invalid("the function {} requires the attribute \"{}\"", function.name(), name);
}

void check_call(const pb::FunctionProto& function, const NodeContext& call) {
  int depth = 0;
  for (const Frame* f = &call.frame(); f != nullptr; f = f->caller, ++depth)
    if (f->function == &function)
      call.invalid("the function {} calls itself; ONNX functions must not recurse",
                   function.name());
  if (depth > kMaxCalls) call.unsupported("functions are nested more than {} deep", kMaxCalls);
  if (call.input_count() > function.input_size() || call.output_count() > function.output_size())
    call.invalid("the function {} has {} inputs and {} outputs; the call has {} and {}",
                 function.name(), function.input_size(), function.output_size(), call.input_count(),
                 call.output_count());
}

}  // namespace

void Translation::call_function(const pb::FunctionProto& function, NodeContext& call) {
  check_call(function, call);
  const Opsets opsets =
      read_opsets(function.opset_import(), fmt::format("the function {}", function.name()));
  Frame frame;
  frame.caller = &call.frame();
  frame.function = &function;
  frame.opsets = &opsets;
  frame.prefix = call.label() + "/";
  bind_attributes(function, call, frame);

  Scope scope;
  for (int i = 0; i < function.input_size(); ++i) {
    if (ir::Value* value = call.optional(i))
      define(scope, function.input(i), value, "a function input");
    else
      scope.absent.insert(function.input(i));
  }
  for (const pb::ValueInfoProto& info : function.value_info())
    scope.hints.emplace(info.name(), &info.type());
  translate_nodes(function.node(), scope, frame);
  for (int i = 0; i < call.output_count(); ++i) {
    if (!call.wants(i)) continue;
    const std::optional<ir::Value*> found = scope.find(function.output(i));
    if (!found)
      call.invalid("the function {} does not define its output \"{}\"", function.name(),
                   function.output(i));
    if (*found == nullptr)
      call.scope().values[call.proto().output(i)] = nullptr;
    else
      call.set(i, *found);
  }
}

std::vector<ir::Value*> Translation::inline_graph(const pb::GraphProto& branch, const Scope& outer,
                                                  const Frame& frame) {
  Scope scope;
  scope.outer = &outer;
  read_initializers(branch, scope);
  for (const pb::ValueInfoProto& info : branch.value_info())
    scope.hints.emplace(info.name(), &info.type());
  translate_nodes(branch.node(), scope, frame);
  std::vector<ir::Value*> results;
  for (const pb::ValueInfoProto& output : branch.output()) {
    const std::optional<ir::Value*> found = scope.find(output.name());
    if (!found)
      fail(Code::invalid_model, "the branch \"{}\" does not define its output \"{}\"",
           branch.name(), output.name());
    results.push_back(*found);
  }
  return results;
}

}  // namespace frit::importer
