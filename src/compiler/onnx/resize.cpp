// SPDX-License-Identifier: Apache-2.0
// Resampling: Resize and Upsample, GridSample, AffineGrid, RoiAlign.
#include <algorithm>
#include <cmath>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

// What a resize is asked for, on the axes it names.
struct ResizeTarget {
  Ints axes;
  Reals scales;  // one of the two is empty
  Ints sizes;
};

// Scale and result size of every axis.
struct ResizePlan {
  Reals scales;
  Shape dims;
};

ResizeTarget read_target(NodeContext& c, int rank) {
  ResizeTarget target;
  if (c.has_attr("axes")) {
    for (std::int64_t a : c.ints("axes")) target.axes.push_back(c.axis(a, rank));
    c.axes(target.axes, rank);  // refuses duplicates
  } else {
    for (std::int64_t i = 0; i < rank; ++i) target.axes.push_back(i);
  }
  if (c.op() == "Upsample" && c.opset() < 9) {
    target.scales = c.reals("scales");
  } else {
    const int operand = c.opset() < 11 ? 1 : 2;
    if (c.has(operand)) {
      const std::optional<Reals> scales = c.static_reals(c.input(operand));
      if (!scales) c.unsupported("its scales are known at run time only");
      target.scales = *scales;
    }
    if (c.opset() >= 11 && c.has(3)) {
      const std::optional<Ints> sizes = c.static_ints(c.input(3));
      if (!sizes) c.unsupported("its sizes are known at run time only");
      target.sizes = *sizes;
    }
  }
  const std::size_t count = target.axes.size();
  if (target.scales.empty() == target.sizes.empty() && count != 0)
    c.invalid("expected either scales or sizes, found {}",
              target.scales.empty() ? "neither" : "both");
  if ((!target.scales.empty() && target.scales.size() != count) ||
      (!target.sizes.empty() && target.sizes.size() != count))
    c.invalid("{} scales and {} sizes are given for {} axes", target.scales.size(),
              target.sizes.size(), count);
  return target;
}

Dim scaled_dim(const NodeContext& c, const Dim& dim, double scale) {
  if (!(scale > 0) || scale > 1e9) c.invalid("the scale {} is not a positive number", scale);
  if (scale == 1) return dim;
  if (dim.is_const()) {
    const double size = std::floor(static_cast<double>(dim.value()) * scale);
    if (size > 1e15) c.invalid("the scale {} makes an axis of {} too large", scale, dim.value());
    return static_cast<std::int64_t>(size);
  }
  if (scale != std::floor(scale))
    c.unsupported("the scale {} applies to the unknown size {}; fix the input dims", scale,
                  dim.to_string());
  return dim * Dim(static_cast<std::int64_t>(scale));
}

// Sizes on the named axes; the aspect ratio may be kept by shrinking or growing them.
void plan_sizes(const NodeContext& c, const Value& x, const ResizeTarget& target,
                ResizePlan& plan) {
  const std::string policy =
      c.choice("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  Reals ratios;
  for (std::size_t i = 0; i < target.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(target.axes[i]);
    const std::int64_t size = c.number(x.dims()[axis], "a resized dim");
    if (target.sizes[i] < 0 || size <= 0)
      c.invalid("cannot resize an axis of {} to {}", size, target.sizes[i]);
    ratios.push_back(static_cast<double>(target.sizes[i]) / static_cast<double>(size));
    plan.dims[axis] = target.sizes[i];
    plan.scales[axis] = ratios.back();
  }
  if (policy == "stretch" || ratios.empty()) return;
  const double scale = policy == "not_larger" ? *std::min_element(ratios.begin(), ratios.end())
                                              : *std::max_element(ratios.begin(), ratios.end());
  for (std::int64_t a : target.axes) {
    const auto axis = static_cast<std::size_t>(a);
    plan.scales[axis] = scale;
    plan.dims[axis] = static_cast<std::int64_t>(
        std::floor(static_cast<double>(x.dims()[axis].value()) * scale + 0.5));
  }
}

// The region of tf_crop_and_resize for all axes, starts then ends.
Reals full_roi(NodeContext& c, const ResizeTarget& target, std::size_t rank) {
  const std::optional<Reals> roi = c.static_reals(c.input(1));
  if (!roi) c.unsupported("its region of interest is known at run time only");
  const std::size_t count = target.axes.size();
  if (roi->size() != 2 * count)
    c.invalid("the region has {} numbers; expected {}", roi->size(), 2 * count);
  Reals full(2 * rank, 0);
  std::fill(full.begin() + static_cast<std::ptrdiff_t>(rank), full.end(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto axis = static_cast<std::size_t>(target.axes[i]);
    full[axis] = (*roi)[i];
    full[axis + rank] = (*roi)[i + count];
  }
  return full;
}

// One row [x, y, (z,) 1] for each point of a grid over [-1, 1], last spatial axis first.
Tensor base_grid(const Ints& sizes, bool align_corners) {
  const std::size_t axes = sizes.size();
  std::int64_t points = 1;
  for (std::int64_t s : sizes) points *= s;
  std::vector<float> rows;
  rows.reserve(static_cast<std::size_t>(points) * (axes + 1));
  for (std::int64_t p = 0; p < points; ++p) {
    std::int64_t rest = p;
    for (std::size_t a = axes; a-- > 0;) {
      const auto n = static_cast<double>(sizes[a]);
      const auto i = static_cast<double>(rest % sizes[a]);
      rest /= sizes[a];
      const double at = align_corners ? (n > 1 ? 2 * i / (n - 1) - 1 : 0) : (2 * i + 1) / n - 1;
      rows.push_back(static_cast<float>(at));
    }
    rows.push_back(1);
  }
  return Tensor::from_f32({points, static_cast<std::int64_t>(axes + 1)}, rows);
}

}  // namespace

void import_resize(NodeContext& c) {
  Value* x = c.input(0);
  const auto rank = static_cast<std::size_t>(x->rank());
  const bool old = c.opset() < 11;
  const std::string mode = c.choice("mode", "nearest", {"nearest", "linear", "cubic"});
  const std::string coordinate =
      old ? "asymmetric"
          : c.choice("coordinate_transformation_mode", "half_pixel",
                     {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                      "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  const std::string nearest =
      old ? "floor"
          : c.choice("nearest_mode", "round_prefer_floor",
                     {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  const ResizeTarget target = read_target(c, x->rank());
  ResizePlan plan{Reals(rank, 1), x->dims()};
  std::vector<Value*> operands{x};
  Reals extent(rank, 1);
  if (coordinate == "tf_crop_and_resize") {
    const Reals roi = full_roi(c, target, rank);
    std::vector<float> numbers(roi.begin(), roi.end());
    operands.push_back(
        c.constant(Tensor::from_f32({static_cast<std::int64_t>(numbers.size())}, numbers)));
    for (std::size_t i = 0; i < rank; ++i) extent[i] = roi[i + rank] - roi[i];
  }
  if (!target.sizes.empty()) {
    plan_sizes(c, *x, target, plan);
  } else {
    for (std::size_t i = 0; i < target.axes.size(); ++i) {
      const auto axis = static_cast<std::size_t>(target.axes[i]);
      plan.scales[axis] = target.scales[i];
      plan.dims[axis] = scaled_dim(c, x->dims()[axis], target.scales[i] * extent[axis]);
    }
  }
  c.set(c.emit_typed(ops::resize, std::move(operands),
                     {{"mode", mode},
                      {"coordinate", coordinate},
                      {"nearest", nearest},
                      {"cubic_coeff", c.real("cubic_coeff_a", -0.75)},
                      {"exclude_outside", c.integer("exclude_outside", 0)},
                      {"extrapolation", c.real("extrapolation_value", 0)},
                      {"antialias", c.integer("antialias", 0)},
                      {"scales", std::move(plan.scales)}},
                     TensorType{x->dtype(), std::move(plan.dims)}));
}

void import_grid_sample(NodeContext& c) {
  std::string mode = c.choice("mode", c.opset() < 20 ? "bilinear" : "linear",
                              {"bilinear", "bicubic", "linear", "cubic", "nearest"});
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  c.set(c.emit(ops::grid_sample, {c.input(0), c.input(1)},
               {{"mode", mode},
                {"padding", c.choice("padding_mode", "zeros", {"zeros", "border", "reflection"})},
                {"align_corners", c.integer("align_corners", 0)}}));
}

// grid[n] = base · thetaᵀ[n], where the base grid is a constant of homogeneous coordinates.
void import_affine_grid(NodeContext& c) {
  Value* theta = c.input(0);
  const std::optional<Ints> size = c.static_ints(c.input(1));
  if (!size) c.unsupported("its size is known at run time only");
  if (size->size() != 4 && size->size() != 5)
    c.invalid("the size has {} entries; expected 4 or 5", size->size());
  const Ints spatial(size->begin() + 2, size->end());
  constexpr std::int64_t kMostPoints = 1 << 24;
  std::int64_t points = 1;
  for (std::int64_t s : spatial)
    if (s <= 0 || __builtin_mul_overflow(points, s, &points) || points > kMostPoints)
      c.unsupported("its grid has the size [{}]; Frit makes grids of 1 to {} points",
                    fmt::join(spatial, ", "), kMostPoints);
  Value* base =
      c.cast(c.constant(base_grid(spatial, c.flag("align_corners", false))), theta->dtype());
  Value* rows = c.emit(ops::matmul, {base, theta},
                       {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{1}}});
  Shape dims{(*size)[0]};
  for (std::int64_t s : spatial) dims.emplace_back(s);
  dims.emplace_back(static_cast<std::int64_t>(spatial.size()));
  c.set(c.reshape(rows, std::move(dims)));
}

void import_roi_align(NodeContext& c) {
  // Before opset 16 there was no half-pixel shift.
  const char* otherwise = c.opset() < 16 ? "output_half_pixel" : "half_pixel";
  c.set(c.emit(ops::roi_align, {c.input(0), c.input(1), c.input(2)},
               {{"mode", c.choice("mode", "avg", {"avg", "max"})},
                {"output_height", c.integer("output_height", 1)},
                {"output_width", c.integer("output_width", 1)},
                {"sampling_ratio", c.integer("sampling_ratio", 0)},
                {"spatial_scale", c.real("spatial_scale", 1)},
                {"coordinate", c.choice("coordinate_transformation_mode", otherwise,
                                        {"half_pixel", "output_half_pixel"})}}));
}

}  // namespace frit::importer
