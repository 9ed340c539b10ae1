// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

const char* reduce_kind(const std::string& op) {
  static const std::unordered_map<std::string_view, const char*> kinds = {
      {"ReduceL1", "l1"},          {"ReduceL2", "l2"},
      {"ReduceLogSum", "log_sum"}, {"ReduceLogSumExp", "log_sum_exp"},
      {"ReduceMax", "max"},        {"ReduceMean", "mean"},
      {"ReduceMin", "min"},        {"ReduceProd", "prod"},
      {"ReduceSum", "sum"},        {"ReduceSumSquare", "sum_square"},
  };
  return kinds.at(op);
}

// A reduction over no axes: what is left is the function applied to each element alone.
Value* reduce_nothing(NodeContext& c, const std::string& kind, Value* x) {
  if (kind == "l1" || kind == "l2") return c.emit(ops::abs, {x});
  if (kind == "sum_square") return c.mul(x, x);
  if (kind == "log_sum") return c.emit(ops::log, {x});
  return x;
}

// Since opset 13 the axis stands alone; before, everything from the axis on was one row.
Value* along_rows(NodeContext& c, Value* x, std::int64_t axis, const Schema& schema, Attrs attrs) {
  const Shape dims = x->dims();
  const auto middle = dims.begin() + axis;
  Value* rows = c.reshape(x, {ir::element_count(Shape(dims.begin(), middle)),
                              ir::element_count(Shape(middle, dims.end()))});
  attrs.set("axis", std::int64_t{1});
  return c.reshape(c.emit(schema, {rows}, std::move(attrs)), dims);
}

}  // namespace

void import_reduce(NodeContext& c) {
  Value* x = c.input(0);
  const std::string kind = reduce_kind(c.op());
  const bool keepdims = c.flag("keepdims", true);
  const bool noop = c.flag("noop_with_empty_axes", false);
  const std::int64_t operand_since = c.op() == "ReduceSum" ? 13 : 18;
  std::optional<Ints> axes = Ints();
  if (c.opset() < operand_since)
    axes = c.ints("axes");
  else if (c.has(1))
    axes = c.static_ints(c.input(1));
  if (!axes) {
    c.set(c.emit_hinted(ops::reduce, {x, c.input(1)},
                        {{"kind", kind},
                         {"keepdims", std::int64_t{keepdims}},
                         {"noop_with_empty_axes", std::int64_t{noop}}}));
    return;
  }
  if (axes->empty() && noop) return c.set(reduce_nothing(c, kind, x));
  if (axes->empty())
    for (std::int64_t i = 0; i < x->rank(); ++i) axes->push_back(i);
  if (axes->empty()) return c.set(reduce_nothing(c, kind, x));  // a scalar
  c.set(c.reduce(kind, x, c.axes(*axes, x->rank()), keepdims));
}

void import_cumulative(NodeContext& c) {
  Value* x = c.input(0);
  Value* axis = c.input(1);
  Attrs attrs{{"exclusive", c.integer("exclusive", 0)}, {"reverse", c.integer("reverse", 0)}};
  std::vector<Value*> operands{x};
  if (const std::optional<Ints> known = c.static_ints(axis); known && known->size() == 1)
    attrs.set("axis", static_cast<std::int64_t>(c.axis(known->front(), x->rank())));
  else
    operands.push_back(axis);
  c.set(c.emit(c.op() == "CumSum" ? ops::cumsum : ops::cumprod, std::move(operands),
               std::move(attrs)));
}

void import_softmax(NodeContext& c) {
  Value* x = c.input(0);
  const bool hard = c.op() == "Hardmax";
  const Schema& schema = hard ? ops::hardmax : ops::softmax;
  Attrs attrs;
  if (!hard) attrs.set("log", std::int64_t{c.op() == "LogSoftmax"});
  const bool rows = c.opset() < 13;
  const std::int64_t axis = c.axis(c.integer("axis", rows ? 1 : -1), x->rank());
  if (rows && axis + 1 != x->rank()) {
    c.set(along_rows(c, x, axis, schema, std::move(attrs)));
    return;
  }
  attrs.set("axis", axis);
  c.set(c.emit(schema, {x}, std::move(attrs)));
}

}  // namespace frit::importer
