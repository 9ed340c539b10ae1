// SPDX-License-Identifier: Apache-2.0
// Ops that cut or grow axes: Slice, Split, Pad, CenterCropPad.
#include <algorithm>
#include <limits>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

// One axis of a static slice.
struct Range {
  std::int64_t start = 0;
  Dim size = 0;
};

// ONNX's clamping for an axis of known size.
Range slice_known(std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, dim);
    end = std::clamp<std::int64_t>(end, start, dim);
    return {start, (end - start) / step + ((end - start) % step != 0)};
  }
  if (dim == 0) return {0, 0};
  // The step may be the smallest integer, which has no positive counterpart.
  const std::int64_t stride = step == std::numeric_limits<std::int64_t>::min()
                                  ? std::numeric_limits<std::int64_t>::max()
                                  : -step;
  start = std::clamp<std::int64_t>(start, 0, dim - 1);
  end = std::clamp<std::int64_t>(end, -1, start);
  return {start, (start - end) / stride + ((start - end) % stride != 0)};
}

// The same for a symbolic size; nothing where the start would depend on it.
std::optional<Range> slice_symbolic(const Dim& dim, std::int64_t start, std::int64_t end,
                                    std::int64_t step) {
  if (start < 0 || step <= 0) return std::nullopt;
  const ir::Bounds bounds = dim.bounds();
  Dim last = end < 0 ? dim + end : Dim(end);
  if (end >= bounds.hi || end >= std::numeric_limits<std::int32_t>::max())
    last = dim;
  else if (end >= 0 && end > bounds.lo)
    last = ir::min(dim, end);
  Dim size = last - Dim(start);
  if (size.bounds().lo < 0) size = ir::max(size, 0);
  return Range{start, step == 1 ? size : ir::ceil_div(size, step)};
}

// The operands of a slice as numbers.
struct SliceArgs {
  Ints starts, ends, axes, steps;
};

std::optional<SliceArgs> slice_args(NodeContext& c, int rank) {
  SliceArgs args;
  if (c.opset() < 10) {
    args = {c.ints("starts"), c.ints("ends"), c.ints("axes"), {}};
  } else {
    const auto read = [&](int i, Ints& into) {
      if (!c.has(i)) return true;
      const std::optional<Ints> known = c.static_ints(c.input(i));
      if (known) into = *known;
      return known.has_value();
    };
    c.input(1);
    c.input(2);
    if (!read(1, args.starts) || !read(2, args.ends) || !read(3, args.axes) || !read(4, args.steps))
      return std::nullopt;
  }
  const std::size_t count = args.starts.size();
  if (args.axes.empty())
    for (std::size_t i = 0; i < count; ++i) args.axes.push_back(static_cast<std::int64_t>(i));
  if (args.steps.empty()) args.steps.assign(count, 1);
  if (args.ends.size() != count || args.axes.size() != count || args.steps.size() != count)
    c.invalid("starts, ends, axes and steps have {}, {}, {} and {} entries; expected equally many",
              count, args.ends.size(), args.axes.size(), args.steps.size());
  c.axes(args.axes, rank);  // refuses duplicates
  for (std::int64_t& a : args.axes) a = c.axis(a, rank);
  return args;
}

void slice_at_run_time(NodeContext& c) {
  if (c.opset() < 10)
    c.unsupported("its bounds are relative to an axis of unknown size; fix the input dims");
  std::vector<Value*> operands = c.operands(5);
  while (operands.back() == nullptr) operands.pop_back();
  c.set(c.emit_hinted(ops::slice, std::move(operands)));
}

// Sizes of the pieces along an axis; throws where they are not known.
Shape split_sizes(NodeContext& c, const Dim& dim, std::int64_t pieces) {
  Ints given = c.opset() < 13 ? c.ints("split") : Ints();
  if (c.opset() >= 13 && c.has(1)) {
    const std::optional<Ints> known = c.static_ints(c.input(1));
    if (!known) c.unsupported("the sizes of its pieces are known at run time only");
    given = *known;
  }
  if (!given.empty()) {
    if (static_cast<std::int64_t>(given.size()) != pieces)
      c.invalid("{} sizes are given for {} outputs", given.size(), pieces);
    std::int64_t total = 0;
    for (std::int64_t size : given)
      if (size < 0 || __builtin_add_overflow(total, size, &total))
        c.invalid("the sizes [{}] of the pieces are impossible", fmt::join(given, ", "));
    if (dim.never_equals(total))
      c.invalid("the pieces have {} entries together, but the axis has {}", total, dim.to_string());
    return ir::make_shape(given);
  }
  if (c.opset() >= 18 && c.integer("num_outputs", pieces) != pieces)
    c.invalid("num_outputs is {}, but the node has {} outputs", c.integer("num_outputs"), pieces);
  if (dim.is_const() && dim.value() % pieces != 0 && c.opset() < 18)
    c.invalid("an axis of {} does not split into {} equal pieces", dim.value(), pieces);
  // Pieces of equal size; since opset 18 the last may be smaller.
  const Dim piece = ir::ceil_div(dim, pieces);
  Shape sizes(static_cast<std::size_t>(pieces), piece);
  sizes.back() = dim - piece * Dim(pieces - 1);
  if (sizes.back().is_const() && sizes.back().value() < 0)
    c.invalid("an axis of {} does not split into {} pieces", dim.to_string(), pieces);
  return sizes;
}

// The fill value of Pad; null for zero.
Value* pad_value(NodeContext& c, Value* x) {
  if (c.opset() < 11) {
    const double value = c.real("value", 0);
    return value == 0 ? nullptr : c.scalar(x->dtype(), value);
  }
  Value* value = c.optional(2);
  const std::optional<Reals> known = c.static_reals(value);
  if (known && known->size() == 1 && known->front() == 0) return nullptr;
  return value != nullptr ? c.reshape(value, {}) : nullptr;
}

Value* emit_pad(NodeContext& c, Value* x, Value* value, const std::string& mode, Ints pads) {
  if (std::all_of(pads.begin(), pads.end(), [](auto p) { return p == 0; })) return x;
  std::vector<Value*> operands{x};
  if (value != nullptr) operands.push_back(value);
  return c.emit(ops::pad, std::move(operands), {{"mode", mode}, {"pads", std::move(pads)}});
}

// Begins then ends of some axes as those of all axes.
Ints full_pads(const NodeContext& c, const Ints& pads, const Ints& axes, int rank) {
  const std::size_t count = axes.size();
  if (pads.size() != 2 * count)
    c.invalid("{} pads are given for {} axes; expected {}", pads.size(), count, 2 * count);
  const auto width = static_cast<std::size_t>(rank);
  Ints full(2 * width, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<std::size_t>(c.axis(axes[i], rank));
    full[axis] = pads[i];
    full[axis + width] = pads[i + count];
  }
  return full;
}

Ints all_axes(int rank) {
  Ints axes;
  for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

}  // namespace

void import_slice(NodeContext& c) {
  Value* x = c.input(0);
  const std::optional<SliceArgs> args = slice_args(c, x->rank());
  if (!args) return slice_at_run_time(c);
  const auto rank = static_cast<std::size_t>(x->rank());
  Ints starts(rank, 0);
  Ints steps(rank, 1);
  TensorType type = x->type;
  for (std::size_t i = 0; i < args->axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(args->axes[i]);
    const Dim& dim = x->dims()[axis];
    if (args->steps[i] == 0) c.invalid("a step is 0; expected a positive or negative number");
    const std::optional<Range> range =
        dim.is_const() ? slice_known(dim.value(), args->starts[i], args->ends[i], args->steps[i])
                       : slice_symbolic(dim, args->starts[i], args->ends[i], args->steps[i]);
    if (!range) return slice_at_run_time(c);
    starts[axis] = range->start;
    steps[axis] = args->steps[i];
    type.dims[axis] = range->size;
  }
  const bool whole = type.dims == x->dims() &&
                     std::all_of(steps.begin(), steps.end(), [](auto s) { return s > 0; });
  c.set(whole ? x
              : c.emit_typed(ops::slice, {x}, {{"starts", starts}, {"steps", steps}},
                             std::move(type)));
}

void import_split(NodeContext& c) {
  Value* x = c.input(0);
  const int axis = c.axis(c.integer("axis", 0), x->rank());
  const int pieces = c.output_count();
  if (pieces == 0) c.invalid("Split has no outputs");
  const Shape sizes = split_sizes(c, x->dims()[static_cast<std::size_t>(axis)], pieces);
  if (pieces == 1) return c.set(x);
  std::vector<TensorType> types;
  for (const Dim& size : sizes) {
    types.push_back(x->type);
    types.back().dims[static_cast<std::size_t>(axis)] = size;
  }
  ir::Node* node = c.emit_node_typed(ops::split, {x}, {{"axis", std::int64_t{axis}}}, types);
  for (int i = 0; i < pieces; ++i) c.set(i, node->result(i));
}

void import_pad(NodeContext& c) {
  Value* x = c.input(0);
  const std::string mode = c.choice("mode", "constant", {"constant", "edge", "reflect", "wrap"});
  Value* value = mode == "constant" ? pad_value(c, x) : nullptr;
  if (c.opset() < 11) {
    c.set(
        emit_pad(c, x, value, mode, full_pads(c, c.ints("pads"), all_axes(x->rank()), x->rank())));
    return;
  }
  Value* pads = c.input(1);
  Value* axes_operand = c.optional(3);
  const std::optional<Ints> known = c.static_ints(pads);
  std::optional<Ints> axes = all_axes(x->rank());
  if (axes_operand != nullptr) axes = c.static_ints(axes_operand);
  if (known && axes) {
    c.set(emit_pad(c, x, value, mode, full_pads(c, *known, *axes, x->rank())));
    return;
  }
  std::vector<Value*> operands{x, value, pads};
  if (axes_operand != nullptr) operands.push_back(axes_operand);
  c.set(c.emit_hinted(ops::pad, std::move(operands), {{"mode", mode}}));
}

void import_center_crop_pad(NodeContext& c) {
  Value* x = c.input(0);
  const std::optional<Ints> target = c.static_ints(c.input(1));
  if (!target) c.unsupported("its target shape is known at run time only");
  const Ints axes = c.has_attr("axes") ? c.ints("axes") : all_axes(x->rank());
  if (target->size() != axes.size())
    c.invalid("{} sizes are given for {} axes", target->size(), axes.size());
  Ints pads(2 * axes.size(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Dim& dim = x->dims()[static_cast<std::size_t>(c.axis(axes[i], x->rank()))];
    const std::int64_t size = c.number(dim, "a cropped dim");
    if ((*target)[i] < 0) c.invalid("the target size {} is negative", (*target)[i]);
    // Half the difference comes first; the odd one is cut or added at the end.
    const std::int64_t change = (*target)[i] - size;
    pads[i] = change / 2;
    pads[i + axes.size()] = change - change / 2;
  }
  c.set(emit_pad(c, x, nullptr, "constant", full_pads(c, pads, axes, x->rank())));
}

}  // namespace frit::importer
