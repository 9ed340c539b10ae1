// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

// The dims a Reshape asks for: 0 copies (unless allowzero), one -1 takes what is left.
Shape reshape_dims(const NodeContext& c, const Shape& from, const Shape& target, bool allowzero) {
  Shape dims;
  Dim rest = 1;
  int open = -1;
  for (std::size_t i = 0; i < target.size(); ++i) {
    Dim d = target[i];
    if (d == Dim(0) && !allowzero) {
      if (i >= from.size())
        c.invalid("the shape copies dim {} of an operand of rank {}", i, from.size());
      d = from[i];
    }
    if (d.is_const() && d.value() < 0) {
      if (d.value() != -1 || open >= 0)
        c.invalid("the shape {} is malformed; expected at most one -1 and no other negative dim",
                  ir::to_string(target));
      open = static_cast<int>(i);
      d = 1;
    }
    rest = rest * d;
    dims.push_back(d);
  }
  if (open < 0) return dims;
  const Dim count = ir::element_count(from);
  if (rest == Dim(0)) c.invalid("the shape {} leaves -1 undetermined", ir::to_string(target));
  if (count.is_const() && rest.is_const() && count.value() % rest.value() != 0)
    c.invalid("{} elements do not divide into the shape {}", count.value(), ir::to_string(target));
  dims[static_cast<std::size_t>(open)] = ir::floor_div(count, rest);
  return dims;
}

Shape broadcast_dims(const NodeContext& c, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape dims(rank, Dim(1));
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim x = i + a.size() < rank ? Dim(1) : a[i + a.size() - rank];
    const Dim y = i + b.size() < rank ? Dim(1) : b[i + b.size() - rank];
    if (x != Dim(1) && y != Dim(1) && x.never_equals(y))
      c.invalid("the shapes {} and {} do not broadcast", ir::to_string(a), ir::to_string(b));
    dims[i] = x == Dim(1) ? y : y == Dim(1) ? x : x.is_const() ? x : y;
  }
  return dims;
}

// Axes of Squeeze and Unsqueeze: attribute before opset 13, operand since. Nothing if not known.
std::optional<Ints> squeeze_axes(NodeContext& c) {
  if (c.opset() < 13) return c.ints("axes");
  return c.static_ints(c.optional(1));
}

// Where axes are known at run time only, the model's own shape hint says the result.
void reshape_to_hint(NodeContext& c) {
  const std::optional<TensorType> hint = c.hint(0);
  if (!hint) c.unsupported("its axes are known at run time only and the model has no shape for it");
  c.set(c.reshape(c.input(0), hint->dims));
}

}  // namespace

void import_reshape(NodeContext& c) {
  Value* x = c.input(0);
  Value* shape = c.input(1);
  const bool allowzero = c.flag("allowzero", false);
  if (const std::optional<Shape> target = c.static_shape(shape))
    c.set(c.reshape(x, reshape_dims(c, x->dims(), *target, allowzero)));
  else
    c.set(c.emit_hinted(ops::reshape, {x, shape}, {{"allowzero", std::int64_t{allowzero}}}));
}

void import_flatten(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t rank = x->rank();
  std::int64_t axis = c.integer("axis", 1);
  if (axis < -rank || axis > rank)
    c.invalid("the axis {} is outside [-{}, {}] of an operand of rank {}", axis, rank, rank, rank);
  if (axis < 0) axis += rank;
  const auto middle = x->dims().begin() + axis;
  c.set(c.reshape(x, {ir::element_count(Shape(x->dims().begin(), middle)),
                      ir::element_count(Shape(middle, x->dims().end()))}));
}

void import_squeeze(NodeContext& c) {
  Value* x = c.input(0);
  const bool all = c.opset() < 13 ? !c.has_attr("axes") : !c.has(1);
  Shape dims;
  if (all) {
    for (const Dim& d : x->dims()) {
      if (!d.is_const())
        c.unsupported("it squeezes all axes of size 1, but {} is symbolic", ir::to_string(x->type));
      if (d.value() != 1) dims.push_back(d);
    }
    c.set(c.reshape(x, std::move(dims)));
    return;
  }
  const std::optional<Ints> given = squeeze_axes(c);
  if (!given) return reshape_to_hint(c);
  const Ints axes = c.axes(*given, x->rank());
  for (int i = 0; i < x->rank(); ++i) {
    const Dim& d = x->dims()[static_cast<std::size_t>(i)];
    if (!std::binary_search(axes.begin(), axes.end(), i))
      dims.push_back(d);
    else if (d.never_equals(1))
      c.invalid("axis {} has the size {}; only axes of size 1 can be squeezed", i, d.to_string());
  }
  c.set(c.reshape(x, std::move(dims)));
}

void import_unsqueeze(NodeContext& c) {
  Value* x = c.input(0);
  if (c.opset() < 13)
    c.has_attr("axes") ? void() : c.invalid("the attribute \"axes\" is missing");
  else
    c.input(1);
  const std::optional<Ints> given = squeeze_axes(c);
  if (!given) return reshape_to_hint(c);
  Shape dims = x->dims();
  for (std::int64_t a : c.axes(*given, x->rank() + static_cast<int>(given->size())))
    dims.insert(dims.begin() + a, Dim(1));
  c.set(c.reshape(x, std::move(dims)));
}

void import_transpose(NodeContext& c) {
  Value* x = c.input(0);
  Ints perm = c.ints("perm");
  if (!c.has_attr("perm"))
    for (std::int64_t i = x->rank() - 1; i >= 0; --i) perm.push_back(i);
  for (std::int64_t& p : perm) p = c.axis(p, x->rank());
  c.set(c.transpose(x, std::move(perm)));
}

void import_concat(NodeContext& c) {
  std::vector<Value*> values = c.inputs();
  const std::int64_t axis = c.axis(c.integer("axis"), values.front()->rank());
  c.set(values.size() == 1 ? values.front()
                           : c.emit(ops::concat, std::move(values), {{"axis", axis}}));
}

void import_expand(NodeContext& c) {
  Value* x = c.input(0);
  Value* shape = c.input(1);
  if (const std::optional<Shape> target = c.static_shape(shape))
    c.set(c.expand(x, broadcast_dims(c, x->dims(), *target)));
  else
    c.set(c.emit_hinted(ops::expand, {x, shape}));
}

void import_tile(NodeContext& c) {
  Value* x = c.input(0);
  Value* repeats = c.input(1);
  const std::optional<Ints> known = c.static_ints(repeats);
  if (!known) {
    c.set(c.emit_hinted(ops::tile, {x, repeats}));
    return;
  }
  const bool once = std::all_of(known->begin(), known->end(), [](auto r) { return r == 1; });
  if (known->size() != static_cast<std::size_t>(x->rank()))
    c.invalid("{} repeats are given for an operand of rank {}", known->size(), x->rank());
  c.set(once ? x : c.emit(ops::tile, {x}, {{"repeats", *known}}));
}

void import_depth_to_space(NodeContext& c) {
  c.set(c.emit(
      ops::depth_to_space, {c.input(0)},
      {{"block", c.integer("blocksize")}, {"mode", c.choice("mode", "DCR", {"DCR", "CRD"})}}));
}

void import_space_to_depth(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t block = c.integer("blocksize");
  if (c.choice("mode", "DCR", {"DCR", "CRD"}) == "DCR") {
    c.set(c.emit(ops::space_to_depth, {x}, {{"block", block}}));
    return;
  }
  // Column-row-depth order keeps the channel outermost, which a transpose of the blocks says.
  if (x->rank() != 4 || block <= 0)
    c.invalid("the operand is {} and the block size {}; expected rank 4 and a positive size",
              ir::to_string(x->type), block);
  const Shape& d = x->dims();
  const Dim rows = ir::floor_div(d[2], block);
  const Dim columns = ir::floor_div(d[3], block);
  Value* blocks = c.reshape(x, {d[0], d[1], rows, block, columns, block});
  c.set(c.reshape(c.transpose(blocks, {0, 1, 3, 5, 2, 4}),
                  {d[0], d[1] * Dim(block * block), rows, columns}));
}

void import_reverse_sequence(NodeContext& c) {
  c.set(c.emit(
      ops::reverse_sequence, {c.input(0), c.input(1)},
      {{"batch_axis", c.integer("batch_axis", 1)}, {"time_axis", c.integer("time_axis", 0)}}));
}

void import_trilu(NodeContext& c) {
  Value* x = c.input(0);
  Value* k = c.optional(1);
  Attrs attrs{{"upper", c.integer("upper", 1)}};
  if (k == nullptr) attrs.set("k", std::int64_t{0});
  if (const std::optional<Ints> known = c.static_ints(k); known && known->size() == 1) {
    attrs.set("k", known->front());
    k = nullptr;
  }
  if (k != nullptr)
    c.set(c.emit(ops::trilu, {x, k}, std::move(attrs)));
  else
    c.set(c.emit(ops::trilu, {x}, std::move(attrs)));
}

}  // namespace frit::importer
