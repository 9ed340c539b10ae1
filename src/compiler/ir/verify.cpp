// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/verify.h"

#include <unordered_set>

#include "compiler/error.h"
#include "compiler/ir/text.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

[[noreturn]] void refuse(const Node& node, const std::string& message) {
  throw Error(Code::internal, message + ", in: " + print(node),
              node.origin.empty() ? std::string() : origin_text(node));
}

class Verifier {
 public:
  void graph(const Graph& g) {
    for (int i = 0; i < g.input_count(); ++i) {
      const Value& input = *g.input(i);
      check(&input.graph() == &g && input.producer() == nullptr && input.index() == i,
            "graph input {} '{}' records another graph, producer or position", i, input.name);
      check(input.type.known(), "graph input {} '{}' has no type", i, input.name);
      define(input);
    }
    std::size_t count = 0;
    for (const Node* n = g.first(); n != g.terminator(); n = n->next(), ++count) {
      if (n == nullptr) fail(Code::internal, "the list of nodes ends before 'return'");
      node(*n, g);
    }
    check(count == g.node_count(), "graph '{}' counts {} nodes, its list has {}", g.name,
          g.node_count(), count);
    check(g.terminator()->next() == nullptr, "a node follows 'return'");
    operands(*g.terminator());
    for (int o = 0; o < g.output_count(); ++o)
      check(g.output(o) != nullptr, "output {} of graph '{}' is absent", o, g.name);
    leave(g);
  }

  // Every operand slot was found in its value's list, so equal totals leave no stale entry.
  void totals() const {
    check(slots_ == uses_, "{} operand slots but {} recorded uses", slots_, uses_);
  }

 private:
  void define(const Value& value) {
    visible_.insert(&value);
    uses_ += value.uses().size();
    for (const Use& use : value.uses())
      check(use.node != nullptr && use.node->operand(static_cast<int>(use.operand)) == &value,
            "a use of value '{}' names an operand that reads another value", value.name);
  }

  void leave(const Graph& g) {
    for (int i = 0; i < g.input_count(); ++i) visible_.erase(g.input(i));
    for (const Node* n = g.first(); n != g.terminator(); n = n->next())
      for (int r = 0; r < n->result_count(); ++r) visible_.erase(n->result(r));
  }

  void operands(const Node& n) {
    for (int i = 0; i < n.operand_count(); ++i) {
      const Value* value = n.operand(i);
      if (value == nullptr) continue;
      ++slots_;
      if (!visible_.contains(value))
        refuse(n, fmt::format("operand {} is defined later or in a graph that is not around this "
                              "one",
                              i));
    }
  }

  void node(const Node& n, const Graph& g) {
    if (&n.graph() != &g) refuse(n, "a node records another graph");
    if (n.schema().has(kTerminator)) refuse(n, "'return' before the end of the graph");
    operands(n);
    subgraphs(n);
    types(n);
    for (int r = 0; r < n.result_count(); ++r) {
      const Value& result = *n.result(r);
      if (&result.graph() != &g || result.producer() != &n || result.index() != r)
        refuse(n, fmt::format("result {} records another graph, producer or position", r));
      define(result);
    }
  }

  void subgraphs(const Node& n) {
    for (int i = 0; i < n.subgraph_count(); ++i) {
      if (n.subgraph(i)->owner() != &n) refuse(n, "a subgraph records another owner");
      graph(*n.subgraph(i));
    }
    if (n.is(ops::region)) body_inputs(n);
  }

  // Inference types the body's inputs anew, so what they said before is compared here.
  static void body_inputs(const Node& n) {
    if (n.subgraph_count() != 1) refuse(n, "a region owns exactly one subgraph");
    const Graph& body = *n.subgraph();
    if (body.input_count() != n.operand_count())
      refuse(n, fmt::format("the body has {} inputs for {} operands", body.input_count(),
                            n.operand_count()));
    for (int i = 0; i < n.operand_count(); ++i)
      if (n.operand(i) != nullptr && n.operand(i)->type != body.input(i)->type)
        refuse(n, fmt::format("input {} of the body is {}, its operand {}", i,
                              to_string(body.input(i)->type), to_string(n.operand(i)->type)));
  }

  // Inference runs with the recorded types as hints: it refuses contradictions, and whatever it
  // would change was not up to date. The node is left as it was.
  static void types(const Node& n) {
    Node& node = const_cast<Node&>(n);
    std::vector<TensorType> recorded;
    std::vector<std::unique_ptr<Shape>> elements;
    for (int r = 0; r < n.result_count(); ++r) {
      if (!n.result(r)->type.known()) refuse(n, fmt::format("result {} has no type", r));
      recorded.push_back(n.result(r)->type);
      const auto& known = n.result(r)->elements;
      elements.push_back(known != nullptr ? std::make_unique<Shape>(*known) : nullptr);
    }
    std::string problem;
    try {
      infer_types(node);
    } catch (const Error& error) {
      problem = error.message();
    }
    for (int r = 0; r < n.result_count(); ++r) {
      Value& result = *node.result(r);
      const TensorType& before = recorded[static_cast<std::size_t>(r)];
      if (problem.empty() && result.type != before)
        problem = fmt::format("result {} is recorded as {}, inference says {}", r,
                              to_string(before), to_string(result.type));
      result.type = before;
      result.elements = std::move(elements[static_cast<std::size_t>(r)]);
    }
    if (!problem.empty()) refuse(n, problem);
  }

  std::unordered_set<const Value*> visible_;
  std::size_t slots_ = 0;
  std::size_t uses_ = 0;
};

}  // namespace

void verify(const Graph& graph) {
  Verifier verifier;
  check(graph.owner() == nullptr,
        "only root graphs are verified; a subgraph may read values "
        "around it");
  verifier.graph(graph);
  verifier.totals();
}

}  // namespace frit::ir
