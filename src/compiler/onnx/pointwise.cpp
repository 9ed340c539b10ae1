// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

// An activation with up to two real attributes: ONNX's names and defaults, the IR's names.
struct Activation {
  const char* op;
  const Schema* schema;
  const char* attrs[2];
  const char* ir_attrs[2];
  double defaults[2];
};

const Activation kActivations[] = {
    {"Celu", &ops::celu, {"alpha", nullptr}, {"alpha", nullptr}, {1, 0}},
    {"Elu", &ops::elu, {"alpha", nullptr}, {"alpha", nullptr}, {1, 0}},
    {"HardSigmoid", &ops::hard_sigmoid, {"alpha", "beta"}, {"alpha", "beta"}, {0.2F, 0.5F}},
    {"LeakyRelu", &ops::leaky_relu, {"alpha", nullptr}, {"alpha", nullptr}, {0.01F, 0}},
    {"Selu",
     &ops::selu,
     {"alpha", "gamma"},
     {"alpha", "gamma"},
     {1.67326319217681884765625, 1.05070102214813232421875}},
    {"Shrink", &ops::shrink, {"lambd", "bias"}, {"lambd", "bias"}, {0.5, 0}},
    {"ThresholdedRelu", &ops::thresholded_relu, {"alpha", nullptr}, {"alpha", nullptr}, {1, 0}},
};

// Numbers up to this size pass through a real attribute unchanged.
constexpr double kExactInteger = 9007199254740992.0;

// One bound of Clip: absent, a known number, or a value.
struct Bound {
  bool present = false;
  std::optional<double> number;
  Value* value = nullptr;
};

Bound read_bound(NodeContext& c, int operand, const char* attr, double otherwise) {
  Bound bound;
  if (c.opset() < 11) {
    bound.number = c.real(attr, otherwise);
    bound.present = bound.number != otherwise;
    return bound;
  }
  bound.value = c.optional(operand);
  bound.present = bound.value != nullptr;
  if (const auto numbers = c.static_reals(bound.value); numbers && numbers->size() == 1)
    bound.number = numbers->front();
  return bound;
}

}  // namespace

void import_simple(NodeContext& c) {
  const OpEntry& entry = *find_op(c.op());
  c.set(c.emit(*entry.schema, c.inputs()));
}

void import_activation(NodeContext& c) {
  for (const Activation& a : kActivations) {
    if (c.op() != a.op) continue;
    Attrs attrs;
    for (int i = 0; i < 2; ++i)
      if (a.attrs[i] != nullptr) attrs.set(a.ir_attrs[i], c.real(a.attrs[i], a.defaults[i]));
    c.set(c.emit(*a.schema, {c.input(0)}, std::move(attrs)));
  }
}

void import_gelu(NodeContext& c) {
  const bool tanh = c.choice("approximate", "none", {"none", "tanh"}) == "tanh";
  c.set(c.emit(tanh ? ops::gelu_tanh : ops::gelu, {c.input(0)}));
}

void import_swish(NodeContext& c) {
  const double alpha = c.real("alpha", 1);
  if (alpha == 1)
    c.set(c.emit(ops::silu, {c.input(0)}));
  else
    c.set(c.emit(ops::swish, {c.input(0)}, {{"alpha", alpha}}));
}

void import_swiglu(NodeContext& c) {
  const double alpha = c.real("alpha", 1);
  Value* gate = c.input(0);
  gate = alpha == 1 ? c.emit(ops::silu, {gate}) : c.emit(ops::swish, {gate}, {{"alpha", alpha}});
  c.set(c.mul(gate, c.input(1)));
}

void import_is_inf(NodeContext& c) {
  c.set(c.emit(ops::is_inf, {c.input(0)},
               {{"negative", c.flag("detect_negative", true) ? 1.0 : 0.0},
                {"positive", c.flag("detect_positive", true) ? 1.0 : 0.0}}));
}

void import_bit_shift(NodeContext& c) {
  c.text("direction");
  const bool left = c.choice("direction", "", {"LEFT", "RIGHT"}) == "LEFT";
  c.set(c.emit(left ? ops::shift_left : ops::shift_right, {c.input(0), c.input(1)}));
}

void import_mod(NodeContext& c) {
  const bool fmod = c.flag("fmod", false);
  c.set(c.emit(fmod ? ops::fmod : ops::mod, {c.input(0), c.input(1)}));
}

void import_pow(NodeContext& c) {
  Value* base = c.input(0);
  Value* exponent = c.input(1);
  const DType type = base->dtype();
  if (is_int(type) && is_float(exponent->dtype())) {
    // The power is taken in floating point and cut back, as NumPy does.
    const DType wide = dtype_bits(type) > 16 ? DType::f64 : DType::f32;
    Value* power = c.emit(ops::pow, {c.cast(base, wide), c.cast(exponent, wide)});
    c.set(c.cast(power, type));
    return;
  }
  c.set(c.emit(ops::pow, {base, c.cast(exponent, type)}));
}

void import_variadic(NodeContext& c) {
  const std::string& op = c.op();
  const Schema& schema = op == "Max" ? ops::max : op == "Min" ? ops::min : ops::add;
  const std::vector<Value*> values = c.inputs();
  Value* result = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) result = c.emit(schema, {result, values[i]});
  if (op == "Mean" && values.size() > 1) {
    Value* count = c.scalar(result->dtype(), static_cast<double>(values.size()));
    result = c.emit(ops::div, {result, count});
  }
  c.set(result);
}

void import_clip(NodeContext& c) {
  Value* x = c.input(0);
  const double lowest = std::numeric_limits<float>::lowest();
  const Bound low = read_bound(c, 1, "min", lowest);
  const Bound high = read_bound(c, 2, "max", -lowest);
  const auto exact = [](const Bound& b) {
    return !b.present || (b.number && std::abs(*b.number) <= kExactInteger);
  };
  const bool is_real = is_float(x->dtype());
  const bool numbers = (!low.present || low.number) && (!high.present || high.number);
  if ((low.present || high.present) && numbers &&
      (is_real || (low.present && high.present && exact(low) && exact(high)))) {
    const double infinity = std::numeric_limits<double>::infinity();
    c.set(c.emit(ops::clamp, {x},
                 {{"min", low.present ? *low.number : -infinity},
                  {"max", high.present ? *high.number : infinity}}));
    return;
  }
  const auto bound_value = [&](const Bound& b) {
    return b.value != nullptr ? b.value : c.scalar(x->dtype(), *b.number);
  };
  if (low.present) x = c.emit(ops::max, {x, bound_value(low)});
  if (high.present) x = c.emit(ops::min, {x, bound_value(high)});
  c.set(x);
}

void import_cast(NodeContext& c) {
  const DType to = c.dtype("to");
  Value* x = c.input(0);
  Attrs attrs{{"to", static_cast<std::int64_t>(to)}};
  if (!c.flag("saturate", true)) attrs.set("saturate", std::int64_t{0});
  const std::string rounding = c.choice("round_mode", "up", {"up", "down", "nearest"});
  if (to == DType::f8e8m0)
    attrs.set("round_up", std::int64_t{rounding == "up" ? 1 : rounding == "down" ? 2 : 0});
  c.set(x->dtype() == to ? x : c.emit(ops::cast, {x}, std::move(attrs)));
}

void import_cast_like(NodeContext& c) {
  Value* x = c.input(0);
  const DType to = c.input(1)->dtype();
  Attrs attrs{{"to", static_cast<std::int64_t>(to)}};
  if (!c.flag("saturate", true)) attrs.set("saturate", std::int64_t{0});
  const std::string rounding = c.choice("round_mode", "up", {"up", "down", "nearest"});
  if (to == DType::f8e8m0)
    attrs.set("round_up", std::int64_t{rounding == "up" ? 1 : rounding == "down" ? 2 : 0});
  c.set(x->dtype() == to ? x : c.emit(ops::cast, {x}, std::move(attrs)));
}

}  // namespace frit::importer
