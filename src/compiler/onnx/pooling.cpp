// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/op_table.h"
#include "compiler/onnx/windows.h"

namespace frit::importer {

void import_pool(NodeContext& c) {
  Value* x = c.input(0);
  WindowAttrs w = read_window(c, *x, {});
  const bool is_max = c.op() == "MaxPool";
  const char* kind = is_max ? "max" : c.op() == "LpPool" ? "lp" : "average";
  Attrs attrs{{"kind", std::string(kind)},
              {"kernel", std::move(w.kernel)},
              {"strides", std::move(w.strides)},
              {"dilations", std::move(w.dilations)},
              {"pads", std::move(w.pads)},
              {"ceil_mode", c.integer("ceil_mode", 0)},
              {"count_include_pad", c.integer("count_include_pad", 0)},
              {"p", c.integer("p", 2)},
              {"storage_order", c.integer("storage_order", 0)}};
  if (!is_max || !c.wants(1)) {
    c.set(c.emit(ops::pool, {x}, std::move(attrs)));
    return;
  }
  ir::Node* node = c.emit_node(ops::pool, {x}, std::move(attrs), 2);
  c.set(0, node->result(0));
  c.set(1, node->result(1));
}

void import_global_pool(NodeContext& c) {
  Value* x = c.input(0);
  if (x->rank() < 2) c.invalid("the operand has rank {}; expected 2 or more", x->rank());
  Ints axes;
  for (std::int64_t i = 2; i < x->rank(); ++i) axes.push_back(i);
  if (axes.empty()) return c.set(x);
  if (c.op() != "GlobalLpPool") {
    c.set(c.reduce(c.op() == "GlobalMaxPool" ? "max" : "mean", x, std::move(axes), true));
    return;
  }
  const std::int64_t p = c.integer("p", 2);
  if (p == 1 || p == 2) {
    c.set(c.reduce(p == 1 ? "l1" : "l2", x, std::move(axes), true));
    return;
  }
  if (p < 1) c.invalid("the attribute \"p\" is {}; expected 1 or more", p);
  Value* power = c.emit(ops::abs, {x});
  power = c.emit(ops::pow, {power, c.scalar(x->dtype(), static_cast<double>(p))});
  Value* sum = c.reduce("sum", power, std::move(axes), true);
  c.set(c.emit(ops::pow, {sum, c.scalar(x->dtype(), 1.0 / static_cast<double>(p))}));
}

void import_max_unpool(NodeContext& c) {
  Value* x = c.input(0);
  Value* indices = c.input(1);
  WindowAttrs w = read_window(c, *x, {});
  Attrs attrs{{"kernel", std::move(w.kernel)},
              {"strides", std::move(w.strides)},
              {"pads", std::move(w.pads)}};
  Value* shape = c.optional(2);
  const std::optional<Shape> dims = c.static_shape(shape);
  if (dims)
    c.set(c.emit_typed(ops::max_unpool, {x, indices}, std::move(attrs),
                       TensorType{x->dtype(), *dims}));
  else if (shape != nullptr)
    c.set(c.emit_hinted(ops::max_unpool, {x, indices, shape}, std::move(attrs)));
  else
    c.set(c.emit(ops::max_unpool, {x, indices}, std::move(attrs)));
}

}  // namespace frit::importer
