// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/binding.h"

#include <algorithm>
#include <cctype>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

// The symbol's name if the printed dim is a single symbol, else "".
std::string lone_symbol(const std::string& text) {
  if (text.front() != '"') {
    const bool plain =
        std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    return plain && std::isdigit(static_cast<unsigned char>(text.front())) == 0 ? text : "";
  }
  std::string name;
  std::size_t i = 1;
  for (; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    name += text[i];
  }
  return i + 1 == text.size() ? name : "";
}

// A hint for a copy of a node: known dims as numbers, others as symbols of the copy's own graph.
Shape hint_dims(const Shape& shape, const Binding& binding, Symbols& symbols) {
  Shape dims;
  for (const Dim& d : shape) {
    const Dim known = binding.resolve(d);
    dims.push_back(known.is_const() ? known : symbols.fresh("h"));
  }
  return dims;
}

}  // namespace

void Binding::learn(const TensorType& type, const Tensor& tensor, const std::string& what) {
  const auto refuse = [&](const std::string& found) {
    fail(Code::shape_mismatch, "{} must be {}, found {}", what, to_string(type), found);
  };
  if (tensor.dtype() != type.dtype || tensor.dims().size() != type.dims.size())
    refuse(to_string(TensorType{tensor.dtype(), make_shape(tensor.dims())}));
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    const std::int64_t actual = tensor.dims()[i];
    Dim expected = resolve(type.dims[i]);
    if (!expected.is_const()) {
      const std::string symbol = lone_symbol(expected.to_string());
      if (symbol.empty()) continue;
      const Bounds bounds = expected.bounds();
      if (actual < bounds.lo || actual > bounds.hi)
        refuse(fmt::format("{} = {}, outside {}..{}", symbol, actual, bounds.lo, bounds.hi));
      values_[symbol] = actual;
    } else if (expected.value() != actual) {
      refuse(fmt::format("size {} of dim {} where {} is expected", actual, i, expected.value()));
    }
  }
}

bool Binding::resolve(const Shape& shape, std::vector<std::int64_t>& dims) const {
  dims.clear();
  for (const Dim& d : shape) {
    const Dim known = resolve(d);
    if (!known.is_const()) return false;
    dims.push_back(known.value());
  }
  return true;
}

std::vector<ResultDesc> settle_results(const Node& node, std::span<const Tensor> operands,
                                       const Binding& binding) {
  std::vector<ResultDesc> results(static_cast<std::size_t>(node.result_count()));
  bool settled = true;
  for (int r = 0; r < node.result_count(); ++r) {
    ResultDesc& result = results[static_cast<std::size_t>(r)];
    result.dtype = node.result(r)->dtype();
    settled &= binding.resolve(node.result(r)->dims(), result.dims);
  }
  if (settled) return results;

  Graph scratch;
  std::vector<Value*> inputs;
  // Extra operands of an epilogue broadcast into the result and do not matter for its dims.
  const bool epilogue = node.schema().has(kEpilogue) && node.subgraph_count() == 1;
  const std::size_t count = epilogue ? std::min<std::size_t>(3, operands.size()) : operands.size();
  for (const Tensor& t : operands.first(count)) {
    Value* value = nullptr;
    if (t.defined()) {
      Node* constant = scratch.add(ops::constant, {}, {{"value", t}});
      infer_types(*constant);
      value = constant->result();
    }
    inputs.push_back(value);
  }
  Node* copy = scratch.add(node.schema(), inputs, node.attrs, node.result_count());
  if (node.is(ops::region)) {
    // A region's results all have the dims to which its operands broadcast.
    const Inference inference(*copy);
    Shape dims;
    for (int i = 0; i < copy->operand_count(); ++i)
      dims = inference.broadcast(dims, copy->operand(i)->dims());
    for (ResultDesc& result : results) result.dims = static_dims(dims);
    return results;
  }
  for (int r = 0; r < node.result_count(); ++r) {
    const Value& from = *node.result(r);
    DType dtype = from.dtype();
    if (epilogue) dtype = node.subgraph()->input(0)->dtype();
    copy->result(r)->type = {dtype, hint_dims(from.dims(), binding, scratch.symbols())};
  }
  infer_types(*copy);
  for (int r = 0; r < node.result_count(); ++r) {
    if (!is_static(copy->result(r)->dims()))
      fail(Code::unsupported, "{}: dims {} of result {} do not follow from the operands", node.op(),
           to_string(node.result(r)->dims()), r);
    results[static_cast<std::size_t>(r)].dims = static_dims(copy->result(r)->dims());
  }
  return results;
}

}  // namespace frit::ir
