// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

// The axis of a scale with one number for each index; 0 where a single scale makes it moot.
std::int64_t scale_axis(const NodeContext& c, const Value& x, const Value& scale) {
  const bool single = scale.rank() == 0 || (scale.rank() == 1 && scale.dims()[0] == Dim(1));
  const std::int64_t axis = c.integer("axis", 1);
  if (single && (axis < -x.rank() || axis >= x.rank())) return 0;
  // ONNX ignores the axis of a vector, whatever it says.
  if (x.rank() == 1) return 0;
  return c.axis(axis, x.rank());
}

}  // namespace

void import_quantize(NodeContext& c) {
  Value* x = c.input(0);
  Value* scale = c.input(1);
  Value* zero = c.optional(2);
  DType to = zero != nullptr ? zero->dtype() : DType::u8;
  if (c.integer("output_dtype", 0) != 0) {
    to = c.dtype("output_dtype");
    if (zero != nullptr && zero->dtype() != to)
      c.invalid("output_dtype is {}, but the zero point has the type {}", dtype_name(to),
                dtype_name(zero->dtype()));
  }
  if (c.integer("precision", 0) != 0 && c.dtype("precision") != scale->dtype()) {
    const DType precision = c.dtype("precision");
    x = c.cast(x, precision);
    scale = c.cast(scale, precision);
  }
  std::vector<Value*> operands{x, scale};
  if (zero != nullptr) operands.push_back(zero);
  c.set(c.emit(ops::quantize, std::move(operands),
               {{"axis", scale_axis(c, *x, *scale)},
                {"block", c.integer("block_size", 0)},
                {"to", static_cast<std::int64_t>(to)},
                {"saturate", c.integer("saturate", 1)}}));
}

void import_dequantize(NodeContext& c) {
  Value* x = c.input(0);
  Value* scale = c.input(1);
  DType to = scale->dtype();
  if (c.integer("output_dtype", 0) != 0) to = c.dtype("output_dtype");
  // The product is taken in the wider of the two types.
  if (dtype_bits(to) > dtype_bits(scale->dtype())) scale = c.cast(scale, to);
  std::vector<Value*> operands{x, scale};
  if (Value* zero = c.optional(2)) operands.push_back(zero);
  Value* y = c.emit(ops::dequantize, std::move(operands),
                    {{"axis", scale_axis(c, *x, *scale)}, {"block", c.integer("block_size", 0)}});
  c.set(c.cast(y, to));
}

void import_dynamic_quantize(NodeContext& c) {
  ir::Node* node = c.emit_node(ops::dynamic_quantize, {c.input(0)}, {}, 3);
  for (int i = 0; i < 3; ++i) c.set(i, node->result(i));
}

}  // namespace frit::importer
