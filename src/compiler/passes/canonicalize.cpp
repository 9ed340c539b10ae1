// SPDX-License-Identifier: Apache-2.0
// One form for things that can be written in several ways, and the removal of what does nothing.
#include <algorithm>
#include <cmath>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"
#include "compiler/passes/pass.h"
#include "compiler/rewrite/rule.h"

namespace frit::passes {
namespace {

using ir::Emitter;
using ir::Node;
using ir::Value;

bool is_constant(const Value* value) {
  return ir::constant_of(value) != nullptr;
}

// The other operand, if replacing the node by it keeps the type.
Value* keep(Node& node, int operand) {
  Value* x = node.operand(operand);
  return x->type == node.result()->type ? x : nullptr;
}

bool is_number(const Node& node, int operand, double number) {
  double value = 0;
  return ir::scalar_constant(node.operand(operand), value) && value == number;
}

// op(constant, x) => op(x, constant) for commutative ops
Value* constant_second(Node& node, Emitter&) {
  if (!node.schema().has(ir::kCommutative) || !is_constant(node.operand(0)) ||
      is_constant(node.operand(1)))
    return nullptr;
  Value* constant = node.operand(0);
  node.set_operand(0, node.operand(1));
  node.set_operand(1, constant);
  return node.result();
}

// x + 0, x - 0 => x  (x + -0 too; x + 0 turns -0 into 0, which compares equal)
Value* neutral_zero(Node& node, Emitter&) {
  return is_number(node, 1, 0) ? keep(node, 0) : nullptr;
}

// x * 1, x / 1, pow(x, 1) => x
Value* neutral_one(Node& node, Emitter&) {
  return is_number(node, 1, 1) ? keep(node, 0) : nullptr;
}

// x / c => x * (1/c) where 1/c is exact: c a power of two
Value* divide_by_power_of_two(Node& node, Emitter& emit) {
  double c = 0;
  int exponent = 0;
  if (!is_float(node.result()->dtype()) || !ir::scalar_constant(node.operand(1), c) || c == 0 ||
      !std::isfinite(c) || std::abs(std::frexp(c, &exponent)) != 0.5 || std::abs(exponent) > 100)
    return nullptr;
  const ir::Tensor& old = *ir::constant_of(node.operand(1));
  ir::Tensor inverse = ir::Tensor::scalar(old.dtype(), 1 / c).reshaped(old.dims());
  return emit.emit(ops::mul, {node.operand(0), emit.constant(std::move(inverse))});
}

// pow(x, 2) => x * x;  pow(x, 0.5) => sqrt(x)
Value* small_power(Node& node, Emitter& emit) {
  Value* x = node.operand(0);
  if (x->type != node.result()->type || !is_float(x->dtype())) return nullptr;
  if (is_number(node, 1, 2)) return emit.emit(ops::mul, {x, x});
  if (is_number(node, 1, 0.5)) return emit.emit(ops::sqrt, {x});
  return nullptr;
}

// cast(x) to x's type => x
Value* same_type_cast(Node& node, Emitter&) {
  return keep(node, 0);
}

// transpose with the identity permutation => x
Value* identity_transpose(Node& node, Emitter&) {
  const ir::Ints& perm = node.attrs.ints("perm");
  return std::ranges::is_sorted(perm) ? keep(node, 0) : nullptr;
}

// concat(x) => x
Value* single_concat(Node& node, Emitter&) {
  return node.operand_count() == 1 ? keep(node, 0) : nullptr;
}

// split into one part => x
Value* single_split(Node& node, Emitter&) {
  return node.result_count() == 1 ? keep(node, 0) : nullptr;
}

// slice that keeps everything => x
Value* whole_slice(Node& node, Emitter&) {
  if (node.operand_count() != 1) return nullptr;
  const ir::Ints& steps = node.attrs.ints("steps");
  return std::ranges::all_of(steps, [](std::int64_t s) { return s == 1; }) ? keep(node, 0)
                                                                           : nullptr;
}

// pad by nothing => x
Value* empty_pad(Node& node, Emitter&) {
  const ir::Ints& pads = node.attrs.ints("pads");
  return !pads.empty() && std::ranges::all_of(pads, [](std::int64_t p) { return p == 0; })
             ? keep(node, 0)
             : nullptr;
}

// transpose that moves only dims of size 1 => reshape
Value* transpose_of_ones(Node& node, Emitter& emit) {
  const ir::Shape& dims = node.operand(0)->dims();
  std::int64_t last = -1;
  for (std::int64_t p : node.attrs.ints("perm")) {
    if (dims[static_cast<std::size_t>(p)] == ir::Dim(1)) continue;
    if (p < last) return nullptr;
    last = p;
  }
  return emit.reshape(node.operand(0), node.result()->dims());
}

// op(expand(x), y) => op(x, y) where y alone gives the result its dims
Value* implicit_broadcast(Node& node, Emitter&) {
  if (!node.schema().has(ir::kPointwise) || node.operand_count() < 2) return nullptr;
  for (int i = 0; i < node.operand_count(); ++i) {
    Node* expand = node.operand(i) != nullptr ? node.operand(i)->producer() : nullptr;
    if (expand == nullptr || !expand->is(ops::expand) || expand->operand(1) != nullptr) continue;
    for (int k = 0; k < node.operand_count(); ++k) {
      if (k == i || node.operand(k)->dims() != node.result()->dims()) continue;
      node.set_operand(i, expand->operand(0));
      return node.result();
    }
  }
  return nullptr;
}

// batch_norm(x, s, b, m, v) => x * k + (b - m*k) with k = s / sqrt(v + epsilon), per channel
Value* expand_batch_norm(Node& node, Emitter& emit) {
  Value* x = node.operand(0);
  if (x->rank() < 1 || x->dtype() != node.operand(1)->dtype()) return nullptr;
  for (int i = 1; i < 5; ++i)
    if (!is_constant(node.operand(i))) return nullptr;
  Value* epsilon = emit.constant_scalar(node.operand(4)->dtype(), node.attrs.f("epsilon"));
  Value* deviation = emit.emit(ops::sqrt, {emit.emit(ops::add, {node.operand(4), epsilon})});
  Value* scale = emit.emit(ops::div, {node.operand(1), deviation});
  Value* shift =
      emit.emit(ops::sub, {node.operand(2), emit.emit(ops::mul, {node.operand(3), scale})});
  ir::Shape dims(static_cast<std::size_t>(std::max(x->rank() - 1, 1)), ir::Dim(1));
  dims[0] = scale->dims()[0];
  Value* scaled = emit.emit(ops::mul, {x, emit.reshape(scale, dims)});
  return emit.emit(ops::add, {scaled, emit.reshape(shift, dims)});
}

// x * sigmoid(x) => silu(x);  x * hard_sigmoid(x; 1/6, 1/2) => hard_swish(x)
Value* gated_activation(Node& node, Emitter& emit) {
  for (int i = 0; i < 2; ++i) {
    Value* x = node.operand(i);
    const Node* gate = node.operand(1 - i)->producer();
    if (gate == nullptr || gate->operand(0) != x) continue;
    if (gate->is(ops::sigmoid)) return emit.emit(ops::silu, {x});
    // Exporters write 1/6 as the nearest float, or with fewer digits.
    if (gate->is(ops::hard_sigmoid) && std::abs(gate->attrs.f("alpha") - 1.0 / 6) < 1e-6 &&
        gate->attrs.f("beta") == 0.5)
      return emit.emit(ops::hard_swish, {x});
  }
  return nullptr;
}

const rewrite::Rule kRules[] = {
    {"constant_second", nullptr, constant_second},
    {"add_zero", &ops::add, neutral_zero},
    {"subtract_zero", &ops::sub, neutral_zero},
    {"multiply_one", &ops::mul, neutral_one},
    {"divide_one", &ops::div, neutral_one},
    {"power_one", &ops::pow, neutral_one},
    {"divide_by_power_of_two", &ops::div, divide_by_power_of_two},
    {"small_power", &ops::pow, small_power},
    {"gated_activation", &ops::mul, gated_activation},
    {"same_type_cast", &ops::cast, same_type_cast},
    {"identity_transpose", &ops::transpose, identity_transpose},
    {"transpose_of_ones", &ops::transpose, transpose_of_ones},
    {"single_concat", &ops::concat, single_concat},
    {"single_split", &ops::split, single_split},
    {"whole_slice", &ops::slice, whole_slice},
    {"empty_pad", &ops::pad, empty_pad},
    {"implicit_broadcast", nullptr, implicit_broadcast},
    {"expand_batch_norm", &ops::batch_norm, expand_batch_norm},
};

bool canonical(ir::Graph& graph, PassContext&) {
  return rewrite::apply_rules(graph, kRules);
}

}  // namespace

const Pass canonicalize{"canonicalize", "one form for equal things, none for what does nothing",
                        canonical};

}  // namespace frit::passes
