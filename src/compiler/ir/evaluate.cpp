// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/evaluate.h"

#include <cstring>
#include <unordered_map>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/ir/binding.h"
#include "compiler/ir/kernel_call.h"
#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

// Operands of conv, conv_transpose and matmul before the extra operands of an epilogue.
constexpr std::size_t kMainOperands = 3;
// Iterations of a loop without a trip count, after which it counts as endless.
constexpr std::int64_t kMaxIterations = std::int64_t{1} << 20;

// Values of one graph under evaluation; captures are looked up in the graphs around it.
struct Frame {
  const Frame* outer = nullptr;
  std::unordered_map<const Value*, Tensor> values = {};

  const Tensor* find(const Value* value) const {
    for (const Frame* f = this; f != nullptr; f = f->outer)
      if (auto it = f->values.find(value); it != f->values.end()) return &it->second;
    return nullptr;
  }
};

// Values of a graph whose last reader is a node; captures count for the node that owns the
// subgraph.
using LastUses = std::unordered_map<const Node*, std::vector<const Value*>>;

void note_reads(const Graph& body, const Graph& of, const Node* reader,
                std::unordered_map<const Value*, const Node*>& last) {
  for (const Node* n = body.first(); n != nullptr; n = n->next()) {
    const Node* by = &body == &of ? n : reader;
    for (const Value* value : n->operands())
      if (value != nullptr && &value->graph() == &of) last[value] = by;
    for (int r = 0; r < n->result_count() && &body == &of; ++r) last.emplace(n->result(r), n);
    for (int s = 0; s < n->subgraph_count(); ++s) note_reads(*n->subgraph(s), of, by, last);
  }
}

LastUses last_uses(const Graph& graph) {
  std::unordered_map<const Value*, const Node*> last;
  note_reads(graph, graph, nullptr, last);
  LastUses by_node;
  for (const auto& [value, node] : last)
    if (node != graph.terminator()) by_node[node].push_back(value);
  return by_node;
}

std::int64_t integer_of(const Tensor& tensor, const char* what) {
  if (!tensor.defined() || tensor.count() != 1 || is_float(tensor.dtype()))
    fail(Code::invalid_model, "{} must be one integer or truth value", what);
  return tensor.i64_at(0);
}

class Evaluator {
 public:
  Evaluator(Symbols& symbols, const EvaluateOptions& options)
      : options_(options), binding_(symbols) {}

  std::vector<Tensor> graph(const Graph& g, std::span<const Tensor> inputs, const Frame* outer) {
    if (static_cast<int>(inputs.size()) != g.input_count())
      fail(Code::invalid_argument, "graph '{}' has {} inputs, {} tensors were given", g.name,
           g.input_count(), inputs.size());
    Frame frame{outer};
    for (int i = 0; i < g.input_count(); ++i) {
      const Tensor& tensor = inputs[static_cast<std::size_t>(i)];
      binding_.learn(g.input(i)->type, tensor, fmt::format("input '{}'", g.input(i)->name));
      frame.values.emplace(g.input(i), tensor);
    }
    const LastUses& dead = last_uses_of(g);
    const std::uint64_t live_before = live_;
    for (const Node* n = g.first(); n != g.terminator(); n = n->next()) {
      if (options_.cancelled && options_.cancelled())
        fail(Code::cancelled, "the evaluation was cancelled");
      std::vector<Tensor> operands;
      for (const Value* value : n->operands()) operands.push_back(read(value, frame));
      std::vector<Tensor> results = checked(*n, operands, &frame);
      keep(*n, results, frame);
      if (const auto it = dead.find(n); it != dead.end())
        for (const Value* value : it->second) drop(value, frame);
    }
    std::vector<Tensor> outputs;
    for (const Value* value : g.terminator()->operands()) outputs.push_back(read(value, frame));
    live_ = live_before;
    return outputs;
  }

  // One node, with the node's origin on whatever goes wrong.
  std::vector<Tensor> checked(const Node& n, std::span<const Tensor> operands, const Frame* frame) {
    try {
      std::vector<Tensor> results = node(n, operands, frame);
      for (int r = 0; r < n.result_count(); ++r)
        binding_.learn(n.result(r)->type, results[static_cast<std::size_t>(r)],
                       fmt::format("result {} of {}", r, n.op()));
      if (options_.observe) options_.observe(n, results);
      return results;
    } catch (Error& error) {
      if (!n.origin.empty()) error.set_origin(origin_text(n));
      throw;
    }
  }

  void learn_operands(const Node& n, std::span<const Tensor> operands) {
    for (int i = 0; i < n.operand_count() && static_cast<std::size_t>(i) < operands.size(); ++i) {
      const Tensor& tensor = operands[static_cast<std::size_t>(i)];
      if (n.operand(i) != nullptr && tensor.defined())
        binding_.learn(n.operand(i)->type, tensor, fmt::format("operand {} of {}", i, n.op()));
    }
  }

 private:
  static Tensor read(const Value* value, const Frame& frame) {
    if (value == nullptr) return {};
    const Tensor* tensor = frame.find(value);
    if (tensor == nullptr)
      fail(Code::internal, "value '{}' is read before it is computed", value->name);
    return *tensor;
  }

  void keep(const Node& n, std::vector<Tensor>& results, Frame& frame) {
    for (int r = 0; r < n.result_count(); ++r) {
      Tensor& tensor = results[static_cast<std::size_t>(r)];
      if (!n.is(ops::constant)) live_ += tensor.bytes();
      frame.values[n.result(r)] = std::move(tensor);
    }
  }

  void drop(const Value* value, Frame& frame) {
    const auto it = frame.values.find(value);
    if (it == frame.values.end()) return;
    if (value->producer() != nullptr && !value->producer()->is(ops::constant))
      live_ -= it->second.bytes();
    frame.values.erase(it);
  }

  const LastUses& last_uses_of(const Graph& g) {
    const auto it = last_uses_.find(&g);
    return it != last_uses_.end() ? it->second : last_uses_.emplace(&g, last_uses(g)).first->second;
  }

  // What is left of the memory limit; 0 = no limit.
  std::uint64_t memory() const {
    if (options_.memory_limit == 0) return 0;
    return live_ < options_.memory_limit ? options_.memory_limit - live_ : 1;
  }

  std::vector<Tensor> call(std::string_view kernel, std::span<const Tensor> operands,
                           std::span<const ResultDesc> results, Attrs attrs) {
    const KernelAttrs list(std::move(attrs));
    return call_kernel(kernel, operands, results, list, options_.parallel, memory());
  }

  std::vector<Tensor> program(Program p, std::span<const Tensor> operands,
                              std::span<const ResultDesc> results) {
    Attrs attrs{{"program", std::move(p.code)},
                {"params", std::move(p.params)},
                {"results", std::move(p.results)}};
    return call("ref.region", operands, results, std::move(attrs));
  }

  std::vector<Tensor> node(const Node& n, std::span<const Tensor> operands, const Frame* frame) {
    if (n.is(ops::constant)) return {n.attrs.tensor("value")};
    if (n.is(ops::if_)) return branch(n, operands, frame);
    if (n.is(ops::loop)) return loop(n, operands, frame);
    if (n.is(ops::shape)) return {shape_of(n, operands[0])};
    const std::vector<ResultDesc> results = settle_results(n, operands, binding_);
    if (n.is(ops::region)) return program(make_program(*n.subgraph()), operands, results);
    if (n.schema().has(kEpilogue) && n.subgraph_count() == 1)
      return with_epilogue(n, operands, results);
    return call(fmt::format("ref.{}", n.op()), operands, results, n.attrs);
  }

  static Tensor shape_of(const Node& n, const Tensor& x) {
    const auto& dims = x.dims();
    const auto start = n.attrs.i("start"), end = n.attrs.i("end");
    if (start < 0 || start > end || end > static_cast<std::int64_t>(dims.size()))
      fail(Code::internal, "shape: dims {} to {} of rank {}", start, end, dims.size());
    return Tensor::from_i64({dims.begin() + start, dims.begin() + end});
  }

  std::vector<Tensor> with_epilogue(const Node& n, std::span<const Tensor> operands,
                                    std::span<const ResultDesc> results) {
    const ResultDesc inner{n.subgraph()->input(0)->dtype(), results[0].dims};
    const std::span<const Tensor> own =
        operands.first(std::min<std::size_t>(kMainOperands, operands.size()));
    std::vector<Tensor> values = call(fmt::format("ref.{}", n.op()), own, {&inner, 1}, n.attrs);
    for (const Tensor& extra : operands.subspan(own.size())) values.push_back(extra);
    return program(make_program(*n.subgraph()), values, results);
  }

  std::vector<Tensor> branch(const Node& n, std::span<const Tensor> operands, const Frame* frame) {
    if (n.subgraph_count() != 2) fail(Code::internal, "if: two subgraphs expected");
    const bool taken = integer_of(operands[0], "the condition of if") != 0;
    const Graph& body = *n.subgraph(taken ? 0 : 1);
    const Binding before = binding_;
    std::vector<Tensor> results = graph(body, operands.subspan(1), frame);
    binding_ = before;
    return results;
  }

  std::vector<Tensor> loop(const Node& n, std::span<const Tensor> operands, const Frame* frame);

  const EvaluateOptions& options_;
  Binding binding_;
  std::uint64_t live_ = 0;
  std::unordered_map<const Graph*, LastUses> last_uses_;
};

// Slices of equal type, stacked along a new first axis; `type` decides when there are none.
Tensor stack(const std::vector<Tensor>& slices, const TensorType& type, const Binding& binding) {
  std::vector<std::int64_t> dims;
  if (slices.empty()) {
    for (const Dim& d : type.dims) {
      const Dim known = binding.resolve(d);
      dims.push_back(dims.empty() || !known.is_const() ? 0 : known.value());
    }
    return Tensor(type.dtype, dims);
  }
  dims = slices[0].dims();
  dims.insert(dims.begin(), static_cast<std::int64_t>(slices.size()));
  Tensor all(type.dtype, dims);
  if (dtype_bits(type.dtype) < 8)
    fail(Code::unsupported, "loop: stacked results of type {} are not covered",
         dtype_name(type.dtype));
  auto* out = static_cast<std::byte*>(all.mutable_data());
  for (const Tensor& slice : slices) {
    if (slice.dims() != slices[0].dims() || slice.dtype() != type.dtype)
      fail(Code::invalid_model, "loop: a stacked result changes its dims between iterations");
    if (slice.bytes() != 0) std::memcpy(out, slice.data(), slice.bytes());
    out += slice.bytes();
  }
  return all;
}

std::vector<Tensor> Evaluator::loop(const Node& n, std::span<const Tensor> operands,
                                    const Frame* frame) {
  if (n.subgraph_count() != 1 || operands.size() < 2)
    fail(Code::internal, "loop: one subgraph and two operands or more expected");
  const Graph& body = *n.subgraph();
  const std::size_t states = operands.size() - 2;
  const auto outputs = static_cast<std::size_t>(body.output_count());
  if (outputs < 1 + states || outputs - 1 != static_cast<std::size_t>(n.result_count()))
    fail(Code::internal, "loop: {} outputs for {} states and {} results", outputs, states,
         n.result_count());
  const bool counted = operands[0].defined();
  const std::int64_t trips = counted ? integer_of(operands[0], "the trip count of loop") : 0;
  bool go = !operands[1].defined() || integer_of(operands[1], "the condition of loop") != 0;
  std::vector<Tensor> state(operands.begin() + 2, operands.end());
  std::vector<std::vector<Tensor>> scans(outputs - 1 - states);
  const Binding before = binding_;
  std::uint64_t stacked = 0;
  for (std::int64_t i = 0; go && (!counted || i < trips); ++i) {
    if (!counted && i == kMaxIterations)
      fail(Code::execution_failed, "loop: no end after {} iterations; give it a trip count", i);
    binding_ = before;  // sizes inside the body may differ from one iteration to the next
    std::vector<Tensor> inputs{Tensor::scalar(DType::i64, static_cast<double>(i)),
                               Tensor::scalar(DType::boolean, 1)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Tensor> results = graph(body, inputs, frame);
    go = integer_of(results[0], "the condition of loop") != 0;
    for (std::size_t s = 0; s < states; ++s) state[s] = std::move(results[1 + s]);
    for (std::size_t s = 0; s < scans.size(); ++s) {
      stacked += results[1 + states + s].bytes();
      scans[s].push_back(std::move(results[1 + states + s]));
    }
    if (memory() != 0 && stacked > memory())
      fail(Code::out_of_memory, "loop: stacked results take {} bytes, {} are allowed", stacked,
           memory());
  }
  binding_ = before;
  for (std::size_t s = 0; s < scans.size(); ++s)
    state.push_back(stack(scans[s], n.result(static_cast<int>(states + s))->type, binding_));
  return state;
}

}  // namespace

std::vector<Tensor> evaluate(const Node& node, std::span<const Tensor> operands,
                             const EvaluateOptions& options) {
  Evaluator evaluator(node.graph().symbols(), options);
  if (static_cast<int>(operands.size()) != node.operand_count())
    fail(Code::invalid_argument, "{} has {} operands, {} tensors were given", node.op(),
         node.operand_count(), operands.size());
  evaluator.learn_operands(node, operands);
  return evaluator.checked(node, operands, nullptr);
}

std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs,
                             const EvaluateOptions& options) {
  return Evaluator(graph.symbols(), options).graph(graph, inputs, nullptr);
}

}  // namespace frit::ir
