// SPDX-License-Identifier: Apache-2.0
// The calls of Network that name an op with its natural arguments.
#include <algorithm>

#include "base/dtypes.h"
#include "compiler/builder/network_impl.h"
#include "compiler/ops/infer.h"

namespace frit {
namespace {

using Numbers = std::vector<std::int64_t>;

// Attributes of a window over `axes` spatial axes, defaults filled in.
NetAttrs window_attrs(const Window& window, std::size_t axes) {
  const auto filled = [](const Numbers& given, std::size_t count, std::int64_t value) {
    return given.empty() ? Numbers(count, value) : given;
  };
  return {{"strides", filled(window.strides, axes, 1)},
          {"dilations", filled(window.dilations, axes, 1)},
          {"pads", filled(window.pads, 2 * axes, 0)}};
}

// Axes may count from the end, as ONNX's do; what is out of range is left for inference to refuse.
std::int64_t from_start(const NetTensor& x, std::int64_t axis) {
  return axis < 0 ? axis + static_cast<std::int64_t>(x.dims().size()) : axis;
}

}  // namespace

NetTensor Network::add_convolution(NetTensor x, NetTensor weights, NetTensor bias,
                                   const Window& window, std::int64_t groups) {
  const std::size_t rank = weights.dims().size();
  NetAttrs attrs = window_attrs(window, rank > 2 ? rank - 2 : 0);
  attrs.insert_or_assign("group", groups);
  std::vector<NetTensor> operands{x, weights};
  if (bias.valid()) operands.push_back(bias);
  return add("conv", operands, attrs);
}

NetTensor Network::add_pooling(NetTensor x, const std::string& kind, const Numbers& kernel,
                               const Window& window) {
  NetAttrs attrs = window_attrs(window, kernel.size());
  attrs.insert_or_assign("kind", kind);
  attrs.insert_or_assign("kernel", kernel);
  for (const char* flag : {"ceil_mode", "count_include_pad", "storage_order"})
    attrs.insert_or_assign(flag, std::int64_t{0});
  attrs.insert_or_assign("p", std::int64_t{2});
  return add("pool", {x}, attrs);
}

NetTensor Network::add_matmul(NetTensor a, NetTensor b, bool transpose_a, bool transpose_b) {
  return add("matmul", {a, b},
             {{"trans_a", std::int64_t{transpose_a}}, {"trans_b", std::int64_t{transpose_b}}});
}

NetTensor Network::add_unary(std::string_view op, NetTensor x) {
  return add(op, {x});
}

NetTensor Network::add_elementwise(std::string_view op, NetTensor a, NetTensor b) {
  return add(op, {a, b});
}

NetTensor Network::add_softmax(NetTensor x, std::int64_t axis) {
  return add("softmax", {x}, {{"axis", from_start(x, axis)}, {"log", std::int64_t{0}}});
}

NetTensor Network::add_reduce(NetTensor x, const std::string& kind, const Numbers& axes,
                              bool keep_dims) {
  Numbers sorted;
  for (std::int64_t axis : axes) sorted.push_back(from_start(x, axis));
  std::ranges::sort(sorted);
  return add("reduce", {x},
             {{"kind", kind}, {"axes", sorted}, {"keepdims", std::int64_t{keep_dims}}});
}

NetTensor Network::add_transpose(NetTensor x, const Numbers& permutation) {
  return add("transpose", {x}, {{"perm", permutation}});
}

NetTensor Network::add_concatenation(const std::vector<NetTensor>& parts, std::int64_t axis) {
  return add("concat", parts, {{"axis", parts.empty() ? axis : from_start(parts.front(), axis)}});
}

NetTensor Network::add_gather(NetTensor x, NetTensor indices, std::int64_t axis) {
  return add("gather", {x, indices}, {{"axis", from_start(x, axis)}});
}

NetTensor Network::add_layer_norm(NetTensor x, NetTensor scale, NetTensor bias, std::int64_t axis,
                                  double epsilon) {
  return add("layer_norm", {x, scale, bias}, {{"axis", from_start(x, axis)}, {"epsilon", epsilon}});
}

NetTensor Network::add_cast(NetTensor x, DType to) {
  return add("cast", {x}, {{"to", static_cast<std::int64_t>(to)}});
}

NetTensor Network::add_reshape(NetTensor x, const Numbers& dims) {
  return guarded(*impl_, [&]() -> NetTensor {
    ir::Value* value = owned_value(*impl_, x.value_, "what to reshape");
    return NetTensor(ir::Emitter(impl_->graph).reshape(value, ir::make_shape(dims)));
  });
}

NetTensor Network::add_slice(NetTensor x, const Numbers& starts, const Numbers& sizes,
                             const Numbers& strides) {
  return guarded(*impl_, [&]() -> NetTensor {
    ir::Value* value = owned_value(*impl_, x.value_, "what to slice");
    return NetTensor(
        ir::Emitter(impl_->graph).slice(value, starts, strides, ir::make_shape(sizes)));
  });
}

}  // namespace frit
