// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/infer.h"

#include <algorithm>

#include "base/dtypes.h"

namespace frit::ir {
namespace {

// Longer expressions are replaced by a fresh symbol: a hostile model could square its sizes at
// every node, and the text of a polynomial grows with it.
constexpr std::size_t kMaxExpression = 2048;
constexpr std::size_t kMaxElementExpression = 512;
// Constants beyond this are data, not shapes.
constexpr std::int64_t kMaxConstantElements = 4096;

const char* kind_name(AttrKind kind) {
  static constexpr const char* kNames[] = {"an integer", "a real", "a text",
                                           "integers",   "reals",  "a tensor"};
  return kNames[static_cast<int>(kind)];
}

bool too_long(const Dim& dim, std::size_t limit) {
  return !dim.is_const() && dim.to_string().size() > limit;
}

bool holds(DType dtype, std::int64_t value) {
  const int bits = dtype_bits(dtype);
  if (dtype == DType::boolean) return value == 0 || value == 1;
  if (is_unsigned_int(dtype))
    return value >= 0 && (bits >= 63 || value < (std::int64_t{1} << bits));
  if (!is_signed_int(dtype)) return false;
  if (bits >= 64) return true;
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return value >= -half && value < half;
}

}  // namespace

// ---- Inference: reading ----

const TensorType& Inference::type(int i) const {
  const Value* value = node_.operand(i);
  if (value == nullptr) refuse("operand {} is required, but it is absent", i);
  if (!value->type.known()) refuse("operand {} has no type yet; its producer must come first", i);
  return value->type;
}

std::optional<Shape> Inference::elements(int i) const {
  const Value* value = node_.operand(i);
  if (value == nullptr) return std::nullopt;
  if (const Tensor* tensor = constant_of(value)) {
    const bool integers = is_int(tensor->dtype()) || tensor->dtype() == DType::boolean;
    if (!integers || tensor->dims().size() > 1 || tensor->count() > kMaxConstantElements)
      return std::nullopt;
    Shape contents = make_shape(tensor->to_i64());
    if (tensor->dtype() == DType::u64 &&
        std::ranges::any_of(contents, [](const Dim& d) { return d.value() < 0; }))
      return std::nullopt;
    return contents;
  }
  if (value->elements == nullptr) return std::nullopt;
  return *value->elements;
}

std::optional<Dim> Inference::element(int i) const {
  std::optional<Shape> all = elements(i);
  if (!all || all->size() != 1) return std::nullopt;
  return all->front();
}

const TensorType* Inference::hint(int r) const {
  if (r >= node_.result_count()) return nullptr;
  const TensorType& t = node_.result(r)->type;
  return t.known() ? &t : nullptr;
}

// ---- Inference: results ----

void Inference::set(int r, DType dtype, Shape dims) {
  if (r >= node_.result_count()) return;
  Value& value = *node_.result(r);
  for (const Dim& d : dims)
    if (d.bounds().hi < 0)
      refuse("result {} would have dims {}; sizes must not be negative", r, to_string(dims));
  if (is_static(dims)) {
    const std::vector<std::int64_t> sizes = static_dims(dims);
    if (!frit::element_count(sizes).ok())
      refuse("result {} would have dims {}; at most 2^48 elements are possible", r,
             to_string(dims));
  }
  const TensorType& old = value.type;
  if (old.known()) {
    bool agrees = old.dtype == dtype && old.dims.size() == dims.size();
    for (std::size_t i = 0; agrees && i < dims.size(); ++i)
      agrees = !too_long(dims[i], kMaxExpression) ? !dims[i].never_equals(old.dims[i]) : true;
    if (!agrees)
      refuse("result {} is {}, but it was declared as {}", r, to_string(TensorType{dtype, dims}),
             to_string(old));
  }
  const int rank = static_cast<int>(dims.size());
  for (int i = 0; i < rank; ++i) {
    Dim& d = dims[static_cast<std::size_t>(i)];
    if (too_long(d, kMaxExpression)) d = unknown_dim(r, i, rank);
  }
  value.type = {dtype, std::move(dims)};
  value.elements.reset();
}

Dim Inference::unknown_dim(int r, int axis, int rank, Bounds bounds) const {
  const TensorType* known = hint(r);
  if (known != nullptr && known->rank() == rank) return known->dims[static_cast<std::size_t>(axis)];
  bounds.lo = std::max<std::int64_t>(bounds.lo, 0);
  return node_.graph().symbols().fresh("u", bounds);
}

void Inference::set_unknown(int r, DType dtype, int rank, std::string_view what) {
  if (r >= node_.result_count()) return;
  if (const TensorType* known = hint(r)) {
    if (known->dtype != dtype || (rank >= 0 && known->rank() != rank))
      refuse("result {} has type {} and rank {}, but it was declared as {}", r, dtype_name(dtype),
             rank, to_string(*known));
    node_.result(r)->elements.reset();
    return;
  }
  if (rank < 0)
    throw Error(Code::unsupported,
                fmt::format("{}: the rank of result {} depends on {}, which is not known before "
                            "the model runs; make it a constant, or give the value a shape in the "
                            "model's value_info",
                            node_.op(), r, what));
  Shape dims;
  for (int i = 0; i < rank; ++i) dims.push_back(unknown_dim(r, i, rank));
  set(r, dtype, std::move(dims));
}

void Inference::set_elements(int r, Shape values) {
  if (r >= node_.result_count()) return;
  Value& value = *node_.result(r);
  value.elements.reset();
  if (value.rank() > 1 || values.size() > static_cast<std::size_t>(kMaxElements)) return;
  if (element_count(value.dims()) != Dim(static_cast<std::int64_t>(values.size()))) return;
  if (!is_int(value.dtype()) && value.dtype() != DType::boolean) return;
  for (const Dim& d : values)
    if (d.is_const() ? !holds(value.dtype(), d.value()) : too_long(d, kMaxElementExpression))
      return;
  value.elements = std::make_unique<Shape>(std::move(values));
}

// ---- Inference: checks ----

Shape Inference::broadcast(const Shape& a, const Shape& b) const {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t lead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    const Dim &x = longer[lead + i], &y = shorter[i];
    Dim& to = out[lead + i];
    if (x == y || y == Dim(1)) continue;
    if (x == Dim(1)) {
      to = y;
    } else if (x.never_equals(y) && x.never_equals(1) && y.never_equals(1)) {
      refuse("dims {} and {} do not broadcast: sizes {} and {} are neither equal nor 1",
             to_string(a), to_string(b), x.to_string(), y.to_string());
    } else if (x.never_equals(1)) {
      to = y.is_const() && !y.never_equals(x) ? y : x;
    } else if (y.never_equals(1)) {
      to = y;
    } else {
      to = max(x, y);  // equal, or one of them is 1
    }
  }
  return out;
}

int Inference::normalize_axis(std::int64_t axis_value, int rank) const {
  if (axis_value < -rank || axis_value >= rank)
    refuse("axis {} is outside -{}…{} (rank {})", axis_value, rank, rank - 1, rank);
  return static_cast<int>(axis_value < 0 ? axis_value + rank : axis_value);
}

Dim Inference::unify(const Dim& a, const Dim& b, std::string_view what) const {
  if (a.never_equals(b)) refuse("{}: {} and {} differ", what, a.to_string(), b.to_string());
  return b.is_const() ? b : a;
}

std::int64_t Inference::integer(std::string_view name, std::int64_t lo, std::int64_t hi) const {
  const std::int64_t value = attrs().i(name);
  if (value < lo || value > hi)
    refuse("attribute '{}' must lie in {}…{}, found {}", name, lo, hi, value);
  return value;
}

int Inference::axis(std::string_view name, int rank) const {
  const std::int64_t value = attrs().i(name);
  if (value < 0 || value >= rank)
    refuse("attribute '{}' must name an axis of a tensor of rank {}, found {}", name, rank, value);
  return static_cast<int>(value);
}

const Ints& Inference::ints(std::string_view name, int count, std::int64_t lo,
                            std::int64_t hi) const {
  const Ints& values = attrs().ints(name);
  if (values.size() != static_cast<std::size_t>(count))
    refuse("attribute '{}' must have {} entries, found {}", name, count, values.size());
  for (std::int64_t v : values)
    if (v < lo || v > hi) refuse("attribute '{}' holds {}, outside {}…{}", name, v, lo, hi);
  return values;
}

const Ints& Inference::axes(std::string_view name, int rank) const {
  const Ints& values = attrs().ints(name);
  std::int64_t last = -1;
  for (std::int64_t v : values) {
    if (v <= last || v >= rank)
      refuse("attribute '{}' must hold increasing axes below {}, found {} after {}", name, rank, v,
             last);
    last = v;
  }
  return values;
}

const std::string& Inference::choice(std::string_view name,
                                     std::initializer_list<std::string_view> allowed) const {
  const std::string& value = attrs().s(name);
  if (std::ranges::find(allowed, value) == allowed.end())
    refuse("attribute '{}' must be one of {}; found '{}'", name, fmt::join(allowed, ", "), value);
  return value;
}

DType Inference::dtype_attr(std::string_view name) const {
  const std::int64_t number = attrs().i(name);
  if (number <= 0 || number >= kDTypeCount || !is_storable(static_cast<DType>(number)))
    refuse("attribute '{}' must be the number of an ONNX type of fixed size, found {}", name,
           number);
  return static_cast<DType>(number);
}

void Inference::expect_rank(int i, int lo, int hi) const {
  if (rank(i) >= lo && rank(i) <= hi) return;
  if (lo == hi) refuse("operand {} must have rank {}, found {}", i, lo, to_string(type(i)));
  refuse("operand {} must have rank {} or more, found {}", i, lo, to_string(type(i)));
}

void Inference::expect_dtype(int i, DType expected) const {
  if (dtype(i) != expected)
    refuse("operand {} must be {}, found {}", i, dtype_name(expected), dtype_name(dtype(i)));
}

void Inference::expect_float(int i) const {
  if (!is_float(dtype(i)))
    refuse("operand {} must have a floating type, found {}", i, dtype_name(dtype(i)));
}

void Inference::expect_int(int i) const {
  if (!is_int(dtype(i)))
    refuse("operand {} must have an integer type, found {}", i, dtype_name(dtype(i)));
}

void Inference::expect_index(int i) const {
  if (dtype(i) != DType::i32 && dtype(i) != DType::i64)
    refuse("operand {} must be i32 or i64, found {}", i, dtype_name(dtype(i)));
}

void Inference::expect_numeric(int i) const {
  if (!is_float(dtype(i)) && !is_int(dtype(i)))
    refuse("operand {} must have a numeric type, found {}", i, dtype_name(dtype(i)));
}

void Inference::expect_scalar(int i) const {
  if (rank(i) > 1 || (rank(i) == 1 && dims(i)[0].never_equals(1)))
    refuse("operand {} must have one element, found {}", i, to_string(type(i)));
}

// ---- running ----

void check_signature(const Node& node) {
  const Schema& schema = node.schema();
  const auto refuse = [&](std::string text) {
    throw Error(Code::invalid_model, std::string(schema.name) + ": " + std::move(text));
  };
  const auto count = [&](const char* what, int found, int lo, int hi) {
    if (found < lo || (hi >= 0 && found > hi))
      refuse(fmt::format("{} to {} {} expected, found {}", lo,
                         hi < 0 ? "any number of" : std::to_string(hi), what, found));
  };
  count("operands", node.operand_count(), schema.min_operands, schema.max_operands);
  count("results", node.result_count(), schema.min_results, schema.max_results);
  count("subgraphs", node.subgraph_count(), 0, schema.max_subgraphs);
  std::size_t found = 0;
  for (const AttrDef& def : schema.attrs) {
    const AttrValue* value = node.attrs.find(def.name);
    if (value == nullptr) {
      if (def.required) refuse(fmt::format("attribute '{}' is required, but absent", def.name));
      continue;
    }
    ++found;
    if (value->index() != static_cast<std::size_t>(def.kind))
      refuse(fmt::format("attribute '{}' must be {}, found {}", def.name, kind_name(def.kind),
                         kind_name(static_cast<AttrKind>(value->index()))));
  }
  if (found == node.attrs.size()) return;
  for (const auto& [name, value] : node.attrs)
    if (schema.attr(name) == nullptr) refuse(fmt::format("attribute '{}' is unknown", name));
}

void infer_types(Node& node) {
  try {
    check_signature(node);
    Inference inference(node);
    node.schema().infer(inference);
  } catch (Error& error) {
    if (!error.message().starts_with(node.op())) error.add_context(std::string(node.op()));
    if (!node.origin.empty()) error.set_origin(origin_text(node));
    throw;
  }
}

void infer_types(Graph& graph) {
  for (Node* node = graph.first(); node != nullptr; node = node->next()) infer_types(*node);
}

}  // namespace frit::ir
