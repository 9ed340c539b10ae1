// SPDX-License-Identifier: Apache-2.0
// Control flow: types of subgraphs that run zero or more times.
#include <algorithm>

#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

constexpr int kMaxRounds = 3;  // inferences of a body after the first
constexpr int kMaxDepth = 8;

// Types input i of a body from outside: sets it if new, else checks that both can agree.
void bind_input(const Inference& in, Graph& body, int i, const TensorType& type) {
  TensorType& inner = body.input(i)->type;
  if (!inner.known()) {
    inner = type;
    return;
  }
  if (inner.dtype != type.dtype || inner.rank() != type.rank())
    in.refuse("subgraph input {} is {}, but its operand is {}", i, to_string(inner),
              to_string(type));
}

// Captures may be operands with an input each, or be named directly by the subgraph's nodes.
void bind_captures(const Inference& in, Graph& body) {
  const int captures = in.operand_count() - 1;
  if (body.input_count() != 0 && body.input_count() != captures)
    in.refuse("a subgraph must have no inputs or one for each of {} captures, found {}", captures,
              body.input_count());
  for (int i = 0; i < body.input_count(); ++i) bind_input(in, body, i, in.type(i + 1));
}

const TensorType& output_type(const Inference& in, const Graph& body, int o) {
  const Value* value = body.output(o);
  if (value == nullptr || !value->type.known())
    in.refuse("output {} of the subgraph has no type", o);
  return value->type;
}

void infer_if(Inference& in) {
  in.expect_scalar(0);
  in.expect_dtype(0, DType::boolean);
  Node& node = in.node();
  if (node.subgraph_count() != 2)
    in.refuse("two subgraphs expected, found {}", node.subgraph_count());
  for (int s = 0; s < 2; ++s) {
    Graph& body = *node.subgraph(s);
    bind_captures(in, body);
    infer_types(body);
    if (body.output_count() != in.result_count())
      in.refuse("both subgraphs must have {} outputs, found {}", in.result_count(),
                body.output_count());
  }
  for (int r = 0; r < in.result_count(); ++r) {
    const TensorType& yes = output_type(in, *node.subgraph(0), r);
    const TensorType& no = output_type(in, *node.subgraph(1), r);
    if (yes.dtype != no.dtype)
      in.refuse("result {} is {} in one branch and {} in the other", r, to_string(yes),
                to_string(no));
    if (yes.rank() != no.rank())
      throw Error(Code::unsupported,
                  fmt::format("if: result {} has rank {} in one branch and {} in the other; the "
                              "rank must be known before the model runs",
                              r, yes.rank(), no.rank()));
    Shape dims = yes.dims;
    for (int a = 0; a < yes.rank(); ++a) {
      const Dim &x = yes.dims[static_cast<std::size_t>(a)],
                &y = no.dims[static_cast<std::size_t>(a)];
      if (x == y) continue;
      const Bounds p = x.bounds(), q = y.bounds();
      dims[static_cast<std::size_t>(a)] =
          in.unknown_dim(r, a, yes.rank(), {std::min(p.lo, q.lo), std::max(p.hi, q.hi)});
    }
    in.set(r, yes.dtype, std::move(dims));
  }
}

// Sizes of loop states that an iteration changes become symbols of their own in the body. Returns
// whether one did, in which case the body must be inferred again.
bool widen_states(const Inference& in, Graph& body, int states) {
  bool changed = false;
  for (int s = 0; s < states; ++s) {
    TensorType& before = body.input(s + 2)->type;
    const TensorType& after = output_type(in, body, s + 1);
    const Shape& entry = in.dims(s + 2);
    if (after.dtype != before.dtype)
      in.refuse("state {} enters an iteration as {} and leaves it as {}", s, to_string(before),
                to_string(after));
    if (after.rank() != before.rank())
      throw Error(Code::unsupported,
                  fmt::format("loop: state {} enters an iteration with rank {} and leaves it with "
                              "rank {}; the rank must not change",
                              s, before.rank(), after.rank()));
    for (std::size_t a = 0; a < entry.size(); ++a) {
      Dim& size = before.dims[a];
      const bool widened = size != entry[a];
      // A symbol may differ from one iteration to the next; a number may not.
      const bool fixed = size.is_const() && size.never_equals(after.dims[a]);
      if (widened && (size.never_equals(entry[a]) || fixed))
        in.refuse("state {} is declared as {}, but starts as {} and leaves an iteration as {}", s,
                  to_string(before), to_string(in.type(s + 2)), to_string(after));
      if (widened || size == after.dims[a]) continue;
      size = body.symbols().fresh("u");
      changed = true;
    }
  }
  return changed;
}

// Inner control flow joined sizes that the narrower states had made equal: those joins must not
// stand as declarations when the body is inferred again.
void forget_joins(Graph& body) {
  for (Node* node = body.first(); node != body.terminator(); node = node->next()) {
    if (!node->schema().has(kControlFlow)) continue;
    for (int r = 0; r < node->result_count(); ++r) node->result(r)->type = {};
    for (int s = 0; s < node->subgraph_count(); ++s) {
      Graph& inner = *node->subgraph(s);
      for (int i = 0; i < inner.input_count(); ++i) inner.input(i)->type = {};
      forget_joins(inner);
    }
  }
}

bool is_true(const Value* value) {
  double number = 0;
  return scalar_constant(value, number) && number != 0;
}

// The number of iterations where no condition can end the loop early; nothing if unknown.
std::optional<Dim> trip_count(const Inference& in, const Graph& body) {
  const Value* again = body.output(0);
  const bool starts = !in.has(1) || is_true(in.node().operand(1));
  const bool goes_on = is_true(again) || (again == body.input(1) && starts);
  const auto trips = in.element(0);
  if (!starts || !goes_on || !trips) return std::nullopt;
  return max(*trips, 0);
}

void set_results(Inference& in, const Graph& body, int states) {
  bool any_widened = false;
  for (int s = 0; s < states; ++s) {
    // A symbol of the body stands for the size of one iteration, not for the final one.
    Shape dims = in.dims(s + 2);
    const Shape& inner = body.input(s + 2)->dims();
    const int rank = static_cast<int>(dims.size());
    for (int a = 0; a < rank; ++a) {
      const auto i = static_cast<std::size_t>(a);
      if (dims[i] == inner[i]) continue;
      dims[i] = in.unknown_dim(s, a, rank);
      any_widened = true;
    }
    in.set(s, in.dtype(s + 2), std::move(dims));
  }
  const auto trips = trip_count(in, body);
  for (int r = states; r < in.result_count(); ++r) {
    const TensorType& one = output_type(in, body, r + 1);
    const int rank = one.rank() + 1;
    Shape dims{trips ? *trips : in.unknown_dim(r, 0, rank)};
    for (int a = 1; a < rank; ++a) {
      const Dim& d = one.dims[static_cast<std::size_t>(a - 1)];
      dims.push_back(any_widened && !d.is_const() ? in.unknown_dim(r, a, rank) : d);
    }
    in.set(r, one.dtype, std::move(dims));
  }
}

// Each level of nesting may infer its body several times, so depth is bounded.
void check_depth(const Node& node) {
  int depth = 0;
  for (const Node* outer = &node; outer != nullptr; outer = outer->graph().owner()) ++depth;
  if (depth > kMaxDepth)
    throw Error(
        Code::unsupported,
        fmt::format("loop: nested {} deep in control flow; {} is the limit", depth, kMaxDepth));
}

void infer_loop(Inference& in) {
  Node& node = in.node();
  check_depth(node);
  if (node.subgraph_count() != 1)
    in.refuse("one subgraph expected, found {}", node.subgraph_count());
  Graph& body = *node.subgraph(0);
  const int states = in.operand_count() - 2;
  const int scans = in.result_count() - states;
  if (scans < 0) in.refuse("{} states need as many results, found {}", states, in.result_count());
  if (body.input_count() != states + 2 || body.output_count() != states + scans + 1)
    in.refuse("the subgraph must have {} inputs and {} outputs, found {} and {}", states + 2,
              states + scans + 1, body.input_count(), body.output_count());
  if (in.has(0)) {
    in.expect_scalar(0);
    in.expect_dtype(0, DType::i64);
  }
  if (in.has(1)) {
    in.expect_scalar(1);
    in.expect_dtype(1, DType::boolean);
  }
  bind_input(in, body, 0, {DType::i64, {}});
  bind_input(in, body, 1, {DType::boolean, {}});
  for (int s = 0; s < states; ++s) bind_input(in, body, s + 2, in.type(s + 2));
  infer_types(body);
  for (int round = 0; widen_states(in, body, states); ++round) {
    if (round == kMaxRounds) in.refuse("the sizes of the states do not settle");
    forget_joins(body);
    infer_types(body);
  }
  if (output_type(in, body, 0).dtype != DType::boolean)
    in.refuse("output 0 of the subgraph must be the condition, found {}",
              to_string(output_type(in, body, 0)));
  set_results(in, body, states);
}

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema if_ = {.name = "if",
                              .min_operands = 1,
                              .max_operands = -1,
                              .min_results = 0,
                              .max_results = -1,
                              .traits = kControlFlow,
                              .max_subgraphs = 2,
                              .infer = infer_if};
constinit const Schema loop = {.name = "loop",
                               .min_operands = 2,
                               .max_operands = -1,
                               .min_results = 0,
                               .max_results = -1,
                               .traits = kControlFlow,
                               .max_subgraphs = 1,
                               .infer = infer_loop};

}  // namespace frit::ops
