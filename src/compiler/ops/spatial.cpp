// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/spatial.h"

#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 31;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

Dim Window::extent(int i) const {
  const std::int64_t dilation = dilations != nullptr ? (*dilations)[at(i)] : 1;
  return (kernel[at(i)] - Dim(1)) * Dim(dilation) + Dim(1);
}

Window read_window(const Inference& in, Shape kernel) {
  Window window{.kernel = std::move(kernel)};
  const int n = window.rank();
  for (const Dim& k : window.kernel)
    if (k.bounds().hi < 1)
      in.refuse("the kernel {} must have sizes of 1 or more", to_string(window.kernel));
  window.strides = &in.ints("strides", n, 1, kFar);
  if (in.node().schema().attr("dilations") != nullptr)
    window.dilations = &in.ints("dilations", n, 1, kFar);
  window.pads = &in.ints("pads", 2 * n, 0, kFar);
  return window;
}

namespace {

// Elements beyond the first window: padded input - window extent, not negative.
Dim slack(const Inference& in, const Window& window, int i, const Dim& d) {
  const Dim padded = d + Dim(window.pad_begin(i)) + Dim(window.pad_end(i));
  const Dim rest = padded - window.extent(i);
  if (rest.bounds().hi < 0)
    in.refuse("spatial axis {}: a window of {} elements does not fit the padded input of {}", i,
              window.extent(i).to_string(), padded.to_string());
  return rest;
}

}  // namespace

Dim window_count(const Inference& in, const Window& window, int i, const Dim& d) {
  return floor_div(slack(in, window, i, d), window.stride(i)) + Dim(1);
}

Dim window_count_ceil(const Inference& in, const Window& window, int i, const Dim& d) {
  const Dim count = ceil_div(slack(in, window, i, d), window.stride(i)) + Dim(1);
  const Dim inside = d + Dim(window.pad_begin(i) - 1);
  return min(count, floor_div(inside, window.stride(i)) + Dim(1));
}

Shape conv_dims(const Inference& in, int xi, int wi) {
  const Shape &x = in.dims(xi), &w = in.dims(wi);
  if (x.size() < 3) in.refuse("operand {} must have rank 3 or more, found {}", xi, to_string(x));
  if (w.size() != x.size())
    in.refuse("the weights must have the rank of the input, {}; found {}", to_string(x),
              to_string(w));
  const std::int64_t group = in.integer("group", 1, kFar);
  in.unify(x[1], w[1] * Dim(group), "input channels and weight channels times groups");
  if (w[0].is_const() && w[0].value() % group != 0)
    in.refuse("{} output channels do not divide into {} groups", w[0].value(), group);
  const Window window = read_window(in, Shape(w.begin() + 2, w.end()));
  Shape out{x[0], w[0]};
  for (int i = 0; i < window.rank(); ++i) out.push_back(window_count(in, window, i, x[at(i + 2)]));
  return out;
}

}  // namespace frit::ir
