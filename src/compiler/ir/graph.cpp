// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/graph.h"

#include <algorithm>
#include <unordered_map>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

std::string to_string(const TensorType& type) {
  return std::string(dtype_name(type.dtype)) + to_string(type.dims);
}

// ---- Node ----

Node::~Node() = default;

std::string_view Node::op() const {
  return schema_->name;
}

Value* Node::operand(int i) const {
  return i >= 0 && i < operand_count() ? operands_[at(i)].value : nullptr;
}

std::vector<Value*> Node::operands() const {
  std::vector<Value*> list;
  list.reserve(operands_.size());
  for (const Operand& o : operands_) list.push_back(o.value);
  return list;
}

void Node::link(std::uint32_t i, Value* value) {
  operands_[i].value = value;
  if (value == nullptr) return;
  operands_[i].slot = static_cast<std::uint32_t>(value->uses_.size());
  value->uses_.push_back({this, i});
}

void Node::unlink(std::uint32_t i) {
  Value* value = operands_[i].value;
  if (value == nullptr) return;
  // The last use moves into the hole; its node learns the new position.
  const std::uint32_t slot = operands_[i].slot;
  const Use moved = value->uses_.back();
  value->uses_[slot] = moved;
  value->uses_.pop_back();
  moved.node->operands_[moved.operand].slot = slot;
  operands_[i] = {};
}

void Node::set_operand(int i, Value* value) {
  check(i >= 0 && i < operand_count(), "operand {} of {} does not exist", i, op());
  unlink(static_cast<std::uint32_t>(i));
  link(static_cast<std::uint32_t>(i), value);
}

void Node::add_operand(Value* value) {
  operands_.emplace_back();
  link(static_cast<std::uint32_t>(operands_.size() - 1), value);
}

void Node::truncate_operands(int count) {
  while (operand_count() > count) {
    unlink(static_cast<std::uint32_t>(operands_.size() - 1));
    operands_.pop_back();
  }
}

Graph* Node::add_subgraph() {
  subgraphs_.push_back(std::unique_ptr<Graph>(new Graph(this)));
  return subgraphs_.back().get();
}

void Node::clear_subgraphs() {
  subgraphs_.clear();
}

// ---- Graph ----

Graph::Graph() : own_symbols_(std::make_unique<Symbols>()), symbols_(own_symbols_.get()) {
  make_terminator();
}

Graph::Graph(Node* owner) : symbols_(owner->graph().symbols_), owner_(owner) {
  make_terminator();
}

Graph::~Graph() {
  // All reads end before any value goes, whatever the order of the nodes: a graph that the verifier
  // refused is destroyed too. Values of outer graphs outlive their captures.
  for (Node* node = last_; node != nullptr; node = node->prev_) {
    node->subgraphs_.clear();
    node->truncate_operands(0);
  }
  for (Node* node = last_; node != nullptr;) {
    Node* prev = node->prev_;
    delete node;
    node = prev;
  }
}

void Graph::make_terminator() {
  Node* node = new Node;
  node->schema_ = &ops::ret;
  node->graph_ = this;
  first_ = last_ = node;
}

Value* Graph::add_input(std::string input_name, TensorType type) {
  auto value = std::make_unique<Value>();
  value->graph_ = this;
  value->index_ = input_count();
  value->type = std::move(type);
  value->name = std::move(input_name);
  inputs_.push_back(std::move(value));
  return inputs_.back().get();
}

void Graph::erase_input(int i) {
  check(input(i)->uses_.empty(), "graph input '{}' still has readers", input(i)->name);
  inputs_.erase(inputs_.begin() + i);
  for (int k = i; k < input_count(); ++k) input(k)->index_ = k;
}

int Graph::output_count() const {
  return last_->operand_count();
}
Value* Graph::output(int i) const {
  return last_->operand(i);
}
void Graph::add_output(Value* value) {
  last_->add_operand(value);
}
void Graph::set_output(int i, Value* value) {
  last_->set_operand(i, value);
}

Node* Graph::add(const Schema& schema, std::span<Value* const> operands, Attrs attrs, int results,
                 Node* before) {
  Node* node = new Node;
  node->schema_ = &schema;
  node->graph_ = this;
  Graph* root = this;
  while (root->owner_ != nullptr) root = root->owner_->graph_;
  node->id_ = ++root->next_id_;
  node->attrs = std::move(attrs);
  node->operands_.reserve(operands.size());
  for (Value* value : operands) node->add_operand(value);
  for (int r = 0; r < results; ++r) {
    auto value = std::make_unique<Value>();
    value->graph_ = this;
    value->producer_ = node;
    value->index_ = r;
    node->results_.push_back(std::move(value));
  }
  chain_before(node, before != nullptr ? before : last_);
  ++count_;
  return node;
}

void Graph::chain_before(Node* node, Node* before) {
  check(before->graph_ == this, "insertion point belongs to another graph");
  node->next_ = before;
  node->prev_ = before->prev_;
  if (before->prev_ != nullptr)
    before->prev_->next_ = node;
  else
    first_ = node;
  before->prev_ = node;
}

void Graph::unchain(Node* node) {
  if (node->prev_ != nullptr)
    node->prev_->next_ = node->next_;
  else
    first_ = node->next_;
  if (node->next_ != nullptr) node->next_->prev_ = node->prev_;
}

void Graph::move_before(Node* node, Node* before) {
  if (node == before || node->next_ == before) return;
  check(node != last_ && node->graph_ == this, "only nodes of this graph can move");
  unchain(node);
  chain_before(node, before);
}

void Graph::replace_all_uses(Value* from, Value* to) {
  if (from == to) return;
  if (to->name.empty()) to->name = from->name;
  while (!from->uses_.empty()) {
    const Use use = from->uses_.back();
    use.node->set_operand(static_cast<int>(use.operand), to);
  }
}

void Graph::erase(Node* node) {
  check(node != last_ && node->graph_ == this, "only nodes of this graph can be erased");
  for (const auto& result : node->results_)
    check(result->uses_.empty(), "erasing {} whose result still has readers", node->op());
  node->subgraphs_.clear();
  node->truncate_operands(0);
  unchain(node);
  --count_;
  delete node;
}

// ---- copies ----

namespace {

using ValueMap = std::unordered_map<const Value*, Value*>;

// Dims of a graph with other symbols are rebuilt from text, once per distinct expression.
struct DimMap {
  Symbols* into = nullptr;
  std::unordered_map<const DimExpr*, Dim> seen;

  Dim operator()(const Dim& dim) {
    if (dim.is_const() || into == nullptr) return dim;
    auto it = seen.find(dim.expr());
    if (it == seen.end()) it = seen.emplace(dim.expr(), into->parse(dim.to_string())).first;
    return it->second;
  }
  Shape operator()(const Shape& shape) {
    Shape copy;
    copy.reserve(shape.size());
    for (const Dim& d : shape) copy.push_back((*this)(d));
    return copy;
  }
};

void copy_value(const Value& from, Value& to, DimMap& dims) {
  to.type = {from.type.dtype, dims(from.type.dims)};
  to.name = from.name;
  if (from.elements != nullptr) to.elements = std::make_unique<Shape>(dims(*from.elements));
}

void copy_graph(const Graph& from, Graph& into, ValueMap& map, DimMap& dims) {
  into.name = from.name;
  for (int i = 0; i < from.input_count(); ++i) {
    Value* copy = into.add_input({}, {});
    copy_value(*from.input(i), *copy, dims);
    map[from.input(i)] = copy;
  }
  const auto mapped = [&](Value* v) -> Value* {
    if (v == nullptr) return nullptr;
    auto it = map.find(v);
    return it != map.end() ? it->second : v;  // captures of an enclosing graph stay
  };
  for (Node* n = from.first(); n != from.terminator(); n = n->next()) {
    std::vector<Value*> operands = n->operands();
    std::ranges::transform(operands, operands.begin(), mapped);
    Node* copy = into.add(n->schema(), operands, n->attrs, n->result_count());
    copy->origin = n->origin;
    for (int r = 0; r < n->result_count(); ++r) {
      copy_value(*n->result(r), *copy->result(r), dims);
      map[n->result(r)] = copy->result(r);
    }
    for (int s = 0; s < n->subgraph_count(); ++s)
      copy_graph(*n->subgraph(s), *copy->add_subgraph(), map, dims);
  }
  for (int o = 0; o < from.output_count(); ++o) into.add_output(mapped(from.output(o)));
}

}  // namespace

void Graph::clone_into(Graph& into) const {
  check(into.node_count() == 0 && into.input_count() == 0 && into.output_count() == 0,
        "clone_into needs an empty graph");
  ValueMap map;
  DimMap dims;
  if (into.symbols_ != symbols_) {
    dims.into = into.symbols_;
    for (const auto& [symbol, bounds] : symbols_->list()) into.symbols_->symbol(symbol, bounds);
  }
  copy_graph(*this, into, map, dims);
}

// ---- free functions ----

const Tensor* constant_of(const Value* value) {
  if (value == nullptr || value->producer() == nullptr || !value->producer()->is(ops::constant))
    return nullptr;
  return &value->producer()->attrs.tensor("value");
}

bool scalar_constant(const Value* value, double& number) {
  const Tensor* tensor = constant_of(value);
  if (tensor == nullptr || tensor->count() != 1 || tensor->dtype() == DType::string) return false;
  number = tensor->f64_at(0);
  return true;
}

std::string origin_text(const Node& node) {
  std::string text;
  for (const std::string& name : node.origin) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text.empty() ? std::string(node.op()) : text;
}

void merge_origin(Node& to, const Node& from) {
  for (const std::string& name : from.origin)
    if (std::ranges::find(to.origin, name) == to.origin.end()) to.origin.push_back(name);
}

}  // namespace frit::ir
