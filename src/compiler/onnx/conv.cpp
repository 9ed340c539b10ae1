// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/onnx/op_table.h"
#include "compiler/onnx/windows.h"

namespace frit::importer {
namespace {

Attrs conv_attrs(const NodeContext& c, WindowAttrs w) {
  return {{"strides", std::move(w.strides)},
          {"dilations", std::move(w.dilations)},
          {"pads", std::move(w.pads)},
          {"group", c.integer("group", 1)}};
}

WindowAttrs conv_window(const NodeContext& c, const Value& x, const Value& w) {
  if (w.rank() != x.rank())
    c.invalid("the weights have the type {} for an operand {}; expected the same rank",
              ir::to_string(w.type), ir::to_string(x.type));
  return read_window(c, x, spatial_numbers(c, w.dims(), "a kernel dim"));
}

// Operands without the absent ones at the end.
std::vector<Value*> trimmed(std::vector<Value*> operands) {
  while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
  return operands;
}

// Padding of a transposed convolution that is asked for a certain output size.
void pads_for_output(const NodeContext& c, const Value& x, const Ints& wanted, Ints& output_padding,
                     WindowAttrs& w) {
  const std::size_t count = w.kernel.size();
  const bool upper = c.text("auto_pad", "NOTSET") == "SAME_UPPER";
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size = c.number(x.dims()[i + 2], "a spatial dim with a given output size");
    const std::int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    std::int64_t total = w.strides[i] * (size - 1) + output_padding[i] + extent - wanted[i];
    if (total < 0) {  // a larger output than the windows cover: the rest is padding after them
      output_padding[i] -= total;
      total = 0;
    }
    w.pads[i] = upper ? total / 2 : total - total / 2;
    w.pads[i + count] = total - w.pads[i];
  }
}

}  // namespace

void import_conv(NodeContext& c) {
  Value* x = c.input(0);
  Value* w = c.input(1);
  c.set(c.emit(ops::conv, trimmed({x, w, c.optional(2)}), conv_attrs(c, conv_window(c, *x, *w))));
}

void import_conv_integer(NodeContext& c) {
  Value* x = c.input(0);
  Value* w = c.input(1);
  c.set(c.emit(ops::conv_integer, trimmed(c.operands(4)), conv_attrs(c, conv_window(c, *x, *w))));
}

void import_qlinear_conv(NodeContext& c) {
  Value* x = c.input(0);
  Value* w = c.input(3);
  c.set(c.emit(ops::qlinear_conv, trimmed(c.operands(9)), conv_attrs(c, conv_window(c, *x, *w))));
}

void import_deform_conv(NodeContext& c) {
  Value* x = c.input(0);
  Value* w = c.input(1);
  c.input(2);
  Attrs attrs = conv_attrs(c, conv_window(c, *x, *w));
  attrs.set("offset_group", c.integer("offset_group", 1));
  c.set(c.emit(ops::deform_conv, trimmed(c.operands(5)), std::move(attrs)));
}

void import_conv_transpose(NodeContext& c) {
  Value* x = c.input(0);
  Value* w = c.input(1);
  if (w->rank() != x->rank() || x->rank() < 3)
    c.invalid("the weights have the type {} for an operand {}; expected the same rank, 3 or more",
              ir::to_string(w->type), ir::to_string(x->type));
  const std::string mode =
      c.choice("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""});
  const Ints kernel = spatial_numbers(c, w->dims(), "a kernel dim");
  WindowAttrs window = read_window(c, *x, kernel);
  const std::size_t count = kernel.size();
  Ints output_padding = c.ints("output_padding");
  if (output_padding.empty()) output_padding.assign(count, 0);
  Ints wanted = c.ints("output_shape");
  if (wanted.size() == count + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (output_padding.size() != count || (!wanted.empty() && wanted.size() != count))
    c.invalid("\"output_padding\" has {} entries and \"output_shape\" {}; expected {} each",
              output_padding.size(), wanted.size(), count);
  if (wanted.empty() && mode.starts_with("SAME"))
    for (std::size_t i = 0; i < count; ++i)
      wanted.push_back(c.number(x->dims()[i + 2], "a spatial dim with automatic padding") *
                       window.strides[i]);
  if (!wanted.empty()) pads_for_output(c, *x, wanted, output_padding, window);
  Attrs attrs = conv_attrs(c, std::move(window));
  attrs.set("output_padding", std::move(output_padding));
  c.set(c.emit(ops::conv_transpose, trimmed({x, w, c.optional(2)}), std::move(attrs)));
}

}  // namespace frit::importer
