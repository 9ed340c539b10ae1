// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/lower/memory.h"
#include "compiler/ops/schema.h"

namespace frit::lower {
namespace {

using ir::Node;
using ir::Value;
using tune::Ref;

// Only the dims change: the result is another view of the operand's bytes.
bool is_alias(const Node& node) {
  return node.is(ops::reshape) && node.operand(1) == nullptr;
}

std::uint64_t bytes_of(DType dtype, const ir::Ints& dims) {
  const auto bytes = storage_bytes(dtype, dims);
  if (!bytes.ok()) fail(Code::unsupported, "{}", bytes.status().message());
  return *bytes;
}

class Lowering {
 public:
  Lowering(const ir::Graph& graph, const backend::Backend& backend, const LowerOptions& options)
      : graph_(graph), backend_(backend), options_(options) {}

  Lowered run() {
    plan().name = graph_.name;
    plan().backend = backend_.name();
    plan().target = backend_.target();
    add_bindings();
    std::size_t done = 0;
    for (const Node* n = graph_.first(); n != graph_.terminator(); n = n->next()) {
      try {
        lower_node(*n);
      } catch (Error& error) {
        error.set_origin(ir::origin_text(*n));
        throw;
      }
      if (options_.progress && !options_.progress(++done, graph_.node_count()))
        fail(Code::cancelled, "the build was cancelled");
    }
    copy_outputs();
    assign_memory();
    for (const std::string& name : modules_) plan().modules.push_back(backend_.requirement(name));
    return std::move(lowered_);
  }

 private:
  plan::Plan& plan() { return lowered_.plan; }

  std::int32_t add_tensor(DType dtype, ir::Ints dims, plan::Location location, std::int32_t index) {
    plan::Tensor tensor;
    tensor.dtype = dtype;
    tensor.bytes = bytes_of(dtype, dims);
    tensor.dims = std::move(dims);
    tensor.location = location;
    tensor.index = index;
    plan().tensors.push_back(std::move(tensor));
    return static_cast<std::int32_t>(plan().tensors.size() - 1);
  }

  void add_bindings() {
    for (int i = 0; i < graph_.input_count(); ++i) {
      const Value& input = *graph_.input(i);
      tensor_of_[&input] = add_binding(input, true);
    }
    for (int o = 0; o < graph_.output_count(); ++o) {
      const Value* value = graph_.output(o);
      const std::int32_t tensor = add_binding(*value, false);
      outputs_.push_back(tensor);
      // The step that computes the value writes straight into the binding, unless the bytes belong
      // to an input, a constant or an earlier output.
      const Value* source = value;
      while (source->producer() != nullptr && is_alias(*source->producer()))
        source = source->producer()->operand(0);
      const bool computed = source->producer() != nullptr && !source->producer()->is(ops::constant);
      if (computed && claimed_.try_emplace(source, tensor).second)
        copied_.push_back(false);
      else
        copied_.push_back(true);
    }
  }

  std::int32_t add_binding(const Value& value, bool is_input) {
    if (!ir::is_static(value.dims()))
      fail(Code::unsupported,
           "{} '{}' has the dims {}; give fixed input shapes (--shapes=NAME:AxBxC)",
           is_input ? "input" : "output", value.name, ir::to_string(value.dims()));
    if (value.name.empty() || !binding_names_.insert(value.name).second)
      fail(Code::unsupported,
           "{} '{}' needs a name that no other input or output has; rename it, or put an Identity "
           "node between an input and the output of the same name",
           is_input ? "input" : "output", value.name);
    plan::Binding binding;
    binding.name = value.name;
    binding.dtype = value.dtype();
    binding.dims = ir::static_dims(value.dims());
    binding.is_input = is_input;
    const auto index = static_cast<std::int32_t>(plan().bindings.size());
    binding.tensor = add_tensor(value.dtype(), binding.dims, plan::Location::binding, index);
    plan().bindings.push_back(std::move(binding));
    return plan().bindings.back().tensor;
  }

  // Tensor of a value that some step reads or writes.
  std::int32_t tensor_for(const Value* value) {
    if (value == nullptr) return plan::kNone;
    if (auto it = tensor_of_.find(value); it != tensor_of_.end()) return it->second;
    std::int32_t id = plan::kNone;
    if (const ir::Tensor* constant = ir::constant_of(value)) {
      id = add_constant(value->name, constant->dtype(), constant->dims(),
                        {static_cast<const std::byte*>(constant->data()), constant->bytes()});
    } else if (auto it = claimed_.find(value); it != claimed_.end()) {
      id = it->second;
      // Same bytes as the output binding, under the dims of this value.
      const ir::Ints dims = ir::static_dims(value->dims());
      if (plan().tensors[static_cast<std::size_t>(id)].dims != dims) {
        const std::int32_t root = id;
        id = add_tensor(value->dtype(), dims, plan::Location::binding,
                        plan().tensors[static_cast<std::size_t>(root)].index);
        plan().tensors[static_cast<std::size_t>(id)].alias_of = root;
      }
    } else {
      id = add_tensor(value->dtype(), ir::static_dims(value->dims()), plan::Location::arena,
                      plan::kNone);
    }
    tensor_of_[value] = id;
    return id;
  }

  std::int32_t add_constant(const std::string& name, DType dtype, ir::Ints dims, plan::Blob bytes) {
    plan::Constant constant;
    constant.name = name;
    constant.dtype = dtype;
    constant.bytes = bytes.size();
    const auto index = static_cast<std::int32_t>(plan().constants.size());
    plan().constants.push_back(std::move(constant));
    lowered_.constants.push_back(bytes);
    return add_tensor(dtype, std::move(dims), plan::Location::constant, index);
  }

  void lower_node(const Node& node) {
    if (node.is(ops::constant)) return;
    if (is_alias(node)) {
      lower_alias(node);
      return;
    }
    tune::Choice choice = backend::choose_default(backend_, node, options_.threads);
    tune::Draft draft = choice.tactic->emit(node, choice.config, options_.threads);
    std::vector<std::int32_t> temporaries, constants;
    for (const tune::ProblemTensor& t : draft.temporaries)
      temporaries.push_back(add_tensor(t.dtype, t.dims, plan::Location::arena, plan::kNone));
    for (tune::DraftConstant& c : draft.constants) {
      lowered_.owned.push_back(std::move(c.bytes));
      constants.push_back(add_constant(c.name, c.dtype, c.dims, lowered_.owned.back()));
    }
    const auto id = [&](const Ref& ref) -> std::int32_t {
      const auto i = static_cast<std::size_t>(ref.index);
      switch (ref.kind) {
        case Ref::Kind::none:
          return plan::kNone;
        case Ref::Kind::operand:
          return tensor_for(node.operand(ref.index));
        case Ref::Kind::result:
          return tensor_for(node.result(ref.index));
        case Ref::Kind::temporary:
          return temporaries[i];
        case Ref::Kind::constant:
          return constants[i];
      }
      return plan::kNone;
    };
    for (tune::DraftStep& draft_step : draft.steps) {
      plan::Step step;
      step.kind = draft_step.kind;
      step.module = std::move(draft_step.module);
      step.kernel = std::move(draft_step.kernel);
      step.attrs = std::move(draft_step.attrs);
      step.origin = node.origin;
      step.name = step_name(node);
      for (const Ref& ref : draft_step.in) step.inputs.push_back(id(ref));
      for (const Ref& ref : draft_step.out) step.outputs.push_back(id(ref));
      if (!step.module.empty()) modules_.insert(step.module);
      plan().steps.push_back(std::move(step));
      lowered_.choices.push_back(choice);
    }
  }

  void lower_alias(const Node& node) {
    const std::int32_t source = tensor_for(node.operand(0));
    const plan::Tensor root = plan().tensors[static_cast<std::size_t>(source)];
    const std::int32_t id = add_tensor(
        node.result()->dtype(), ir::static_dims(node.result()->dims()), root.location, root.index);
    plan().tensors[static_cast<std::size_t>(id)].alias_of =
        root.alias_of != plan::kNone ? root.alias_of : source;
    tensor_of_[node.result()] = id;
  }

  std::string step_name(const Node& node) {
    std::string name = node.origin.empty() ? std::string(node.op()) : node.origin.front();
    const int seen = names_[name]++;
    if (seen > 0) name += "#" + std::to_string(seen);
    return name;
  }

  void copy_outputs() {
    for (int o = 0; o < graph_.output_count(); ++o) {
      const auto i = static_cast<std::size_t>(o);
      if (!copied_[i]) continue;
      plan::Step step;
      step.kind = plan::StepKind::copy;
      step.name = "copy to " + graph_.output(o)->name;
      step.inputs = {tensor_for(graph_.output(o))};
      step.outputs = {outputs_[i]};
      if (const Node* producer = graph_.output(o)->producer()) step.origin = producer->origin;
      plan().steps.push_back(std::move(step));
      lowered_.choices.emplace_back();
    }
  }

  std::size_t root_of(std::int32_t id) const {
    const plan::Tensor& t = lowered_.plan.tensors[static_cast<std::size_t>(id)];
    return static_cast<std::size_t>(t.alias_of != plan::kNone ? t.alias_of : id);
  }

  void assign_memory() {
    std::vector<plan::Tensor>& tensors = plan().tensors;
    std::vector<std::int32_t> first(tensors.size(), -1), last(tensors.size(), -1);
    for (std::size_t s = 0; s < plan().steps.size(); ++s) {
      const auto touch = [&](std::int32_t id) {
        if (id == plan::kNone) return;
        const std::size_t root = root_of(id);
        if (first[root] < 0) first[root] = static_cast<std::int32_t>(s);
        last[root] = static_cast<std::int32_t>(s);
      };
      for (std::int32_t id : plan().steps[s].inputs) touch(id);
      for (std::int32_t id : plan().steps[s].outputs) touch(id);
    }
    std::vector<Lifetime> pieces;
    std::vector<std::size_t> owners;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (tensors[t].location != plan::Location::arena || tensors[t].alias_of != plan::kNone)
        continue;
      if (first[t] < 0) first[t] = last[t] = 0;
      pieces.push_back({tensors[t].bytes, first[t], last[t]});
      owners.push_back(t);
    }
    const MemoryPlan memory = plan_memory(pieces, plan::kTensorAlignment);
    for (std::size_t k = 0; k < owners.size(); ++k) tensors[owners[k]].offset = memory.offsets[k];
    for (plan::Tensor& t : tensors) {
      if (t.alias_of == plan::kNone) continue;
      const plan::Tensor& root = tensors[static_cast<std::size_t>(t.alias_of)];
      t.location = root.location;
      t.index = root.index;
      t.offset = root.offset;
    }
    plan().arena_bytes = memory.bytes;
    plan().arena_lower_bound = memory.lower_bound;
  }

  const ir::Graph& graph_;
  const backend::Backend& backend_;
  const LowerOptions& options_;
  Lowered lowered_;
  std::unordered_map<const Value*, std::int32_t> tensor_of_;
  std::unordered_map<const Value*, std::int32_t> claimed_;  // value → tensor of an output binding
  std::vector<std::int32_t> outputs_;
  std::vector<bool> copied_;
  std::set<std::string> binding_names_;
  std::unordered_map<std::string, int> names_;
  std::set<std::string> modules_;
};

}  // namespace

Lowered lower(const ir::Graph& graph, const backend::Backend& backend,
              const LowerOptions& options) {
  return Lowering(graph, backend, options).run();
}

}  // namespace frit::lower
