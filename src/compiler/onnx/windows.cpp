// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/windows.h"

#include <algorithm>

namespace frit::importer {
namespace {

// Bounds every number of a window, so that sizes computed from them stay far from overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

void check_entries(const NodeContext& c, const Ints& values, std::size_t count, std::int64_t least,
                   const char* name) {
  if (values.size() != count)
    c.invalid("the attribute \"{}\" has {} entries; expected {}", name, values.size(), count);
  for (std::int64_t v : values)
    if (v < least || v > kLargest)
      c.invalid("the attribute \"{}\" has the entry {}; expected {} to {}", name, v, least,
                kLargest);
}

// Padding that makes the output ceil(size / stride) long; the odd one goes to the end for
// SAME_UPPER.
void same_pads(const NodeContext& c, const Value& x, bool upper, WindowAttrs& w) {
  const std::size_t count = w.kernel.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    std::int64_t total = extent - 1;
    if (w.strides[i] != 1) {
      const std::int64_t size = c.number(x.dims()[i + 2], "a spatial dim with automatic padding");
      const std::int64_t out = size / w.strides[i] + (size % w.strides[i] != 0);
      total = std::max<std::int64_t>((out - 1) * w.strides[i] + extent - size, 0);
    }
    w.pads[i] = upper ? total / 2 : total - total / 2;
    w.pads[i + count] = total - w.pads[i];
  }
}

}  // namespace

Ints spatial_numbers(const NodeContext& c, const Shape& dims, std::string_view what) {
  Ints numbers;
  for (std::size_t i = 2; i < dims.size(); ++i) numbers.push_back(c.number(dims[i], what));
  return numbers;
}

WindowAttrs read_window(const NodeContext& c, const Value& x, Ints kernel) {
  if (x.rank() < 3)
    c.invalid("the operand has the type {}; expected rank 3 or more", ir::to_string(x.type));
  const auto count = static_cast<std::size_t>(x.rank() - 2);
  WindowAttrs w;
  const Ints given = c.ints("kernel_shape");
  if (kernel.empty()) {
    if (given.empty()) c.invalid("the attribute \"kernel_shape\" is missing");
    kernel = given;
  } else if (!given.empty() && given != kernel) {
    c.invalid("the attribute \"kernel_shape\" is [{}], but the weights are for [{}]",
              fmt::join(given, ", "), fmt::join(kernel, ", "));
  }
  w.kernel = std::move(kernel);
  check_entries(c, w.kernel, count, 1, "kernel_shape");
  const auto or_ones = [&](const char* name) {
    Ints values = c.ints(name);
    if (values.empty()) values.assign(count, 1);
    check_entries(c, values, count, 1, name);
    return values;
  };
  w.strides = or_ones("strides");
  w.dilations = or_ones("dilations");
  const std::string mode =
      c.choice("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""});
  w.pads.assign(2 * count, 0);
  if (mode == "NOTSET" || mode.empty()) {
    if (Ints pads = c.ints("pads"); !pads.empty()) w.pads = std::move(pads);
    check_entries(c, w.pads, 2 * count, -kLargest, "pads");
  } else if (mode != "VALID") {
    same_pads(c, x, mode == "SAME_UPPER", w);
  }
  return w;
}

}  // namespace frit::importer
