// SPDX-License-Identifier: Apache-2.0
// Pointwise ops: one schema for each row of kernels/common/pointwise.def, plus cast and region.
#include <algorithm>
#include <array>

#include "base/dtypes.h"
#include "compiler/ops/subgraph.h"

namespace frit::ir {
namespace {

// ---- contents of shape arithmetic ----

using Fold = std::optional<Dim> (*)(const Dim*);

std::optional<Dim> fold_div(const Dim* x) {
  if (x[1].bounds().lo <= 0) return std::nullopt;
  if (x[0].is_const() && x[1].is_const()) return x[0].value() / x[1].value();  // toward zero
  if (x[0].bounds().lo < 0) return std::nullopt;
  return floor_div(x[0], x[1]);
}

std::optional<Dim> fold_mod(const Dim* x) {
  if (x[0].bounds().lo < 0 || x[1].bounds().lo <= 0) return std::nullopt;
  return x[0] - floor_div(x[0], x[1]) * x[1];
}

std::optional<Dim> fold_abs(const Dim* x) {
  return max(x[0], x[0] * Dim(-1));
}

std::optional<Dim> truth(bool yes, bool no) {
  if (yes) return Dim(1);
  if (no) return Dim(0);
  return std::nullopt;
}

std::optional<Dim> fold_equal(const Dim* x) {
  return truth(x[0] == x[1], x[0].never_equals(x[1]));
}

std::optional<Dim> fold_less(const Dim* x) {
  const Bounds d = (x[1] - x[0]).bounds();
  return truth(d.lo > 0, d.hi <= 0);
}

std::optional<Dim> fold_less_equal(const Dim* x) {
  const Bounds d = (x[1] - x[0]).bounds();
  return truth(d.lo >= 0, d.hi < 0);
}

std::optional<Dim> fold_where(const Dim* x) {
  if (x[1] == x[2]) return x[1];
  if (!x[0].is_const()) return std::nullopt;
  return x[0].value() != 0 ? x[1] : x[2];
}

struct FoldRow {
  const Schema* schema;
  Fold fold;
};

// What shape arithmetic uses; other rows keep no contents.
constexpr FoldRow kFolds[] = {
    {&ops::add, [](const Dim* x) -> std::optional<Dim> { return x[0] + x[1]; }},
    {&ops::sub, [](const Dim* x) -> std::optional<Dim> { return x[0] - x[1]; }},
    {&ops::mul, [](const Dim* x) -> std::optional<Dim> { return x[0] * x[1]; }},
    {&ops::div, fold_div},
    {&ops::mod, fold_mod},
    {&ops::neg, [](const Dim* x) -> std::optional<Dim> { return x[0] * Dim(-1); }},
    {&ops::abs, fold_abs},
    {&ops::relu, [](const Dim* x) -> std::optional<Dim> { return max(x[0], 0); }},
    {&ops::min, [](const Dim* x) -> std::optional<Dim> { return min(x[0], x[1]); }},
    {&ops::max, [](const Dim* x) -> std::optional<Dim> { return max(x[0], x[1]); }},
    {&ops::equal, fold_equal},
    {&ops::less, fold_less},
    {&ops::less_equal, fold_less_equal},
    {&ops::greater,
     [](const Dim* x) {
       const std::array<Dim, 2> swapped{x[1], x[0]};
       return fold_less(swapped.data());
     }},
    {&ops::greater_equal,
     [](const Dim* x) {
       const std::array<Dim, 2> swapped{x[1], x[0]};
       return fold_less_equal(swapped.data());
     }},
    {&ops::logical_not, [](const Dim* x) -> std::optional<Dim> { return Dim(1) - x[0]; }},
    {&ops::where, fold_where},
};

void fold_elements(Inference& in, Fold fold) {
  const int arity = in.operand_count();
  std::array<Shape, 3> contents;
  std::size_t count = 1;
  for (int i = 0; i < arity; ++i) {
    std::optional<Shape> known = in.elements(i);
    if (!known || known->empty() || known->size() > static_cast<std::size_t>(kMaxElements)) return;
    contents[static_cast<std::size_t>(i)] = std::move(*known);
    count = std::max(count, contents[static_cast<std::size_t>(i)].size());
  }
  Shape out;
  for (std::size_t e = 0; e < count; ++e) {
    std::array<Dim, 3> x;
    for (std::size_t i = 0; i < static_cast<std::size_t>(arity); ++i)
      x[i] = contents[i][contents[i].size() == 1 ? 0 : e];
    const std::optional<Dim> value = fold(x.data());
    if (!value) return;
    out.push_back(*value);
  }
  in.set_elements(0, std::move(out));
}

void infer_elements(Inference& in) {
  const DType result = in.node().result()->dtype();
  if (in.node().result()->rank() > 1 || (!is_int(result) && result != DType::boolean)) return;
  const auto* row = std::ranges::find(kFolds, &in.node().schema(), &FoldRow::schema);
  if (row == std::end(kFolds)) return;
  try {
    fold_elements(in, row->fold);
  } catch (const Error&) {
    // The values left 64 bits: they wrap at run time, so nothing is known about them.
    in.node().result()->elements.reset();
  }
}

// ---- types ----

bool is_pw_bool(DType t) {
  return t == DType::boolean;
}

template <char kClass>
void check_operand(Inference& in, int i) {
  if constexpr (kClass == 'F' || kClass == 'P') {
    in.expect_float(i);
  } else if constexpr (kClass == 'A') {
    in.expect_numeric(i);
  } else if constexpr (kClass == 'I') {
    in.expect_int(i);
  } else if constexpr (kClass == 'L') {
    in.expect_dtype(i, DType::boolean);
  } else if constexpr (kClass == 'C') {
    const bool plain_equal = in.node().is(ops::equal) && is_pw_bool(in.dtype(i));
    if (!plain_equal) in.expect_numeric(i);
  } else if (i == 0) {
    in.expect_dtype(i, DType::boolean);
  } else if (!is_storable(in.dtype(i))) {
    in.refuse("operand {} must have elements of fixed size, found {}", i, dtype_name(in.dtype(i)));
  }
}

template <char kClass>
void infer_row(Inference& in) {
  constexpr int kFirst = kClass == 'W' ? 1 : 0;
  Shape dims = in.dims(0);
  for (int i = 0; i < in.operand_count(); ++i) {
    check_operand<kClass>(in, i);
    if (i > kFirst && in.dtype(i) != in.dtype(kFirst))
      in.refuse("operands {} and {} must have one type, found {} and {}", kFirst, i,
                dtype_name(in.dtype(kFirst)), dtype_name(in.dtype(i)));
    if (i > 0) dims = in.broadcast(dims, in.dims(i));
  }
  constexpr bool kToBool = kClass == 'C' || kClass == 'P' || kClass == 'L';
  in.set(0, kToBool ? DType::boolean : in.dtype(kFirst), std::move(dims));
  infer_elements(in);
}

void infer_cast(Inference& in) {
  const DType to = in.dtype_attr("to");
  if (!is_storable(in.dtype(0)))
    in.refuse("operand 0 must have elements of fixed size, found {}", dtype_name(in.dtype(0)));
  if (in.attrs().has("round_up")) in.integer("round_up", 0, 2);
  in.set(0, to, in.dims(0));
  if (in.rank(0) > 1 || !(is_int(in.dtype(0)) || is_pw_bool(in.dtype(0)))) return;
  std::optional<Shape> contents = in.elements(0);
  if (contents && is_int(to)) in.set_elements(0, std::move(*contents));
}

void infer_region(Inference& in) {
  Node& node = in.node();
  if (node.subgraph_count() != 1) in.refuse("one subgraph expected, found none");
  std::vector<TensorType> inputs;
  Shape space;
  for (int i = 0; i < in.operand_count(); ++i) {
    inputs.push_back(in.type(i));
    space = in.broadcast(space, in.dims(i));
  }
  Graph& body = *node.subgraph(0);
  infer_pointwise_subgraph(in, body, inputs);
  if (body.output_count() != node.result_count())
    in.refuse("{} results, but the subgraph has {} outputs", node.result_count(),
              body.output_count());
  // One loop over `space` computes every result.
  for (int r = 0; r < node.result_count(); ++r) {
    const TensorType& out = body.output(r)->type;
    bool whole = out.dims.size() == space.size();
    for (std::size_t i = 0; whole && i < space.size(); ++i)
      whole = !out.dims[i].never_equals(space[i]);
    if (!whole)
      in.refuse("result {} has dims {}, but the operands broadcast to {}", r, to_string(out.dims),
                to_string(space));
    in.set(r, out.dtype, out.dims);
  }
}

// ---- tables ----

constexpr bool is_commutative(std::string_view name) {
  constexpr std::string_view kNames[] = {"add",         "mul",        "min",        "max",
                                         "bit_and",     "bit_or",     "bit_xor",    "equal",
                                         "logical_and", "logical_or", "logical_xor"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// Row numbers in the order of the table.
namespace row {
enum : int {
#define FRIT_PW(name, arity, kind, attr0, attr1, expression) name,
#include "kernels/common/pointwise.def"
#undef FRIT_PW
};
}  // namespace row

namespace row_attrs {
#define FRIT_PW(name, arity, kind, attr0, attr1, expression) \
  constexpr AttrDef name[] = {{attr0, AttrKind::real}, {attr1, AttrKind::real}};
#include "kernels/common/pointwise.def"
#undef FRIT_PW
}  // namespace row_attrs

constexpr char kClassOf[] = {
#define FRIT_PW(name, arity, kind, attr0, attr1, expression) #kind[0],
#include "kernels/common/pointwise.def"
#undef FRIT_PW
};

constexpr AttrDef kCastAttrs[] = {{"to", AttrKind::integer},
                                  {"saturate", AttrKind::integer, false},
                                  {"round_up", AttrKind::integer, false}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the table below names ir's types on every line

#define FRIT_PW(NAME, ARITY, KIND, ATTR0, ATTR1, EXPRESSION)                               \
  constinit const Schema NAME = {                                                          \
      .name = #NAME,                                                                       \
      .min_operands = ARITY,                                                               \
      .max_operands = ARITY,                                                               \
      .traits = kPointwise | (is_commutative(#NAME) ? kCommutative : 0u),                  \
      .attrs = std::span<const AttrDef>(                                                   \
          row_attrs::NAME, (sizeof(ATTR0) > 1 ? 1u : 0u) + (sizeof(ATTR1) > 1 ? 1u : 0u)), \
      .infer = infer_row<kClassOf[row::NAME]>,                                             \
      .pointwise_row = row::NAME};
#include "kernels/common/pointwise.def"
#undef FRIT_PW

constinit const Schema cast = {.name = "cast",
                               .min_operands = 1,
                               .max_operands = 1,
                               .traits = kPointwise,
                               .attrs = kCastAttrs,
                               .infer = infer_cast};
constinit const Schema region = {.name = "region",
                                 .min_operands = 0,
                                 .max_operands = -1,
                                 .min_results = 1,
                                 .max_results = -1,
                                 .max_subgraphs = 1,
                                 .infer = infer_region};

}  // namespace frit::ops
