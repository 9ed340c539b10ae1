// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

// A window of `size` points: the sum of up to three cosines, as text books define them.
std::vector<float> window(const std::string& op, std::int64_t size, bool periodic) {
  std::array<double, 3> k{};
  if (op == "HannWindow") k = {0.5, 0.5, 0};
  if (op == "HammingWindow") k = {25.0 / 46, 21.0 / 46, 0};
  if (op == "BlackmanWindow") k = {0.42, 0.5, 0.08};
  const auto period = static_cast<double>(periodic ? size : size - 1);
  std::vector<float> points;
  for (std::int64_t i = 0; i < size; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / period;
    points.push_back(
        static_cast<float>(k[0] - k[1] * std::cos(angle) + k[2] * std::cos(2 * angle)));
  }
  return points;
}

}  // namespace

void import_constant(NodeContext& c) {
  if (c.proto().attribute_size() != 1)
    c.invalid("Constant has {} attributes; expected exactly one", c.proto().attribute_size());
  const std::string& kind = c.proto().attribute(0).name();
  if (kind == "value") {
    c.set(c.constant(c.tensor(kind)));
  } else if (kind == "sparse_value") {
    c.set(c.constant(c.sparse_tensor(kind)));
  } else if (kind == "value_int") {
    c.set(c.constant(Tensor::from_i64({c.integer(kind)}).reshaped({})));
  } else if (kind == "value_ints") {
    c.set(c.constant(Tensor::from_i64(c.ints(kind))));
  } else if (kind == "value_float") {
    c.set(c.scalar(DType::f32, c.real(kind)));
  } else if (kind == "value_floats") {
    const Reals reals = c.reals(kind);
    const std::vector<float> values(reals.begin(), reals.end());
    c.set(c.constant(Tensor::from_f32({static_cast<std::int64_t>(values.size())}, values)));
  } else {
    c.unsupported("its attribute \"{}\" holds strings or is unknown", kind);
  }
}

void import_constant_of_shape(NodeContext& c) {
  Tensor value = c.tensor("value");
  if (!value.defined()) value = Tensor::scalar(DType::f32, 0);
  if (value.count() != 1)
    c.invalid("the attribute \"value\" has {} elements; expected one", value.count());
  Value* element = c.constant(value.reshaped({}));
  Value* shape = c.input(0);
  const std::optional<Shape> dims = c.static_shape(shape);
  if (!dims) {
    c.set(c.emit_hinted(ops::expand, {element, shape}));
    return;
  }
  for (const Dim& d : *dims)
    if (d.is_const() && d.value() < 0) c.invalid("the shape has the negative dim {}", d.value());
  c.set(c.expand(element, *dims));
}

void import_dropout(NodeContext& c) {
  Value* x = c.input(0);
  if (c.opset() >= 12 && c.has(2)) {
    const auto training = c.static_reals(c.input(2));
    if (!training || training->size() != 1)
      c.unsupported("its training mode is decided at run time");
    // A missing ratio is one half; without dropping anything, training changes nothing.
    std::optional<Reals> ratio = Reals{0.5};
    if (c.has(1)) ratio = c.static_reals(c.input(1));
    if (training->front() != 0 && (!ratio || ratio->size() != 1 || ratio->front() != 0))
      c.unsupported("it draws random numbers in training mode");
  }
  c.set(0, x);
  if (c.wants(1)) {
    const DType type = c.opset() < 10 ? x->dtype() : DType::boolean;
    c.set(1, c.expand(c.scalar(type, 1), x->dims()));
  }
}

void import_eye_like(NodeContext& c) {
  Value* x = c.input(0);
  const DType type = c.has_attr("dtype") ? c.dtype("dtype") : x->dtype();
  c.set(c.emit(ops::eye_like, {x},
               {{"k", c.integer("k", 0)}, {"to", static_cast<std::int64_t>(type)}}));
}

void import_identity(NodeContext& c) {
  c.set(c.input(0));
}

void import_range(NodeContext& c) {
  c.set(c.emit_hinted(ops::range, {c.input(0), c.input(1), c.input(2)}));
}

void import_shape(NodeContext& c) {
  Value* x = c.input(0);
  const std::int64_t rank = x->rank();
  std::int64_t start = c.integer("start", 0);
  std::int64_t end = c.integer("end", rank);
  start = std::clamp<std::int64_t>(start < 0 ? start + rank : start, 0, rank);
  end = std::clamp<std::int64_t>(end < 0 ? end + rank : end, start, rank);
  c.set(c.emit(ops::shape, {x}, {{"start", start}, {"end", end}}));
}

void import_size(NodeContext& c) {
  Value* x = c.input(0);
  const Dim count = ir::element_count(x->dims());
  if (count.is_const()) {
    c.set(c.constant(Tensor::from_i64({count.value()}).reshaped({})));
    return;
  }
  Value* dims = c.emit(ops::shape, {x},
                       {{"start", std::int64_t{0}}, {"end", static_cast<std::int64_t>(x->rank())}});
  c.set(c.reduce("prod", dims, {0}, false));
}

void import_window(NodeContext& c) {
  const std::optional<Ints> size = c.static_ints(c.input(0));
  if (!size || size->size() != 1) c.unsupported("its size is not a constant");
  constexpr std::int64_t kLongest = 1 << 24;
  if (size->front() < 0 || size->front() > kLongest)
    c.invalid("the window has {} points; expected 0 to {}", size->front(), kLongest);
  const std::vector<float> points = window(c.op(), size->front(), c.flag("periodic", true));
  const DType type = c.has_attr("output_datatype") ? c.dtype("output_datatype") : DType::f32;
  c.set(c.cast(c.constant(Tensor::from_f32({size->front()}, points)), type));
}

}  // namespace frit::importer
