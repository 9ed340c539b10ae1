// SPDX-License-Identifier: Apache-2.0
// Resampling: resize, grid_sample, roi_align.
#include <cmath>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// floor(d * scale). Symbolic sizes need a scale that is a fraction of a power of two, which is
// exact in floating point; nothing otherwise.
std::optional<Dim> scaled(const Inference& in, const Dim& d, double scale) {
  if (scale == 1) return d;
  if (d.is_const()) {
    // The product is rounded to f32 before the floor, as ONNX's own shape inference does: 10 times
    // 0.7f is 7.
    const float product = static_cast<float>(d.value()) * static_cast<float>(scale);
    const double size = std::floor(static_cast<double>(product));
    if (size > static_cast<double>(kMaxBytes))
      in.refuse("{} times {} is too large a size", d.to_string(), scale);
    return Dim(static_cast<std::int64_t>(size));
  }
  for (std::int64_t denominator = 1; denominator <= 64; denominator *= 2) {
    const double numerator = scale * static_cast<double>(denominator);
    if (numerator == std::floor(numerator) && numerator < 1e6)
      return floor_div(d * Dim(static_cast<std::int64_t>(numerator)), denominator);
  }
  return std::nullopt;
}

void check_resize_attrs(const Inference& in) {
  const std::string& mode = in.choice("mode", {"nearest", "linear", "cubic"});
  const std::string& coordinate = in.choice(
      "coordinate", {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                     "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  if (mode == "nearest" || in.attrs().has("nearest"))
    in.choice("nearest", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  for (const char* flag : {"exclude_outside", "antialias"})
    if (in.attrs().has(flag)) in.integer(flag, 0, 1);
  if (coordinate == "tf_crop_and_resize" && !in.has(1))
    in.refuse("coordinate '{}' needs operand roi", coordinate);
}

void infer_resize(Inference& in) {
  in.expect_numeric(0);
  check_resize_attrs(in);
  const int rank = in.rank(0);
  const Reals& scales = in.attrs().reals("scales");
  if (scales.size() != at(rank))
    in.refuse("attribute 'scales' must have {} entries, found {}", rank, scales.size());
  if (in.has(1)) {
    in.expect_float(1);
    in.expect_rank(1, 1, 1);
    in.unify(in.dims(1)[0], 2 * rank, "the number of roi bounds");
  }
  const TensorType* given = in.hint(0);
  Shape dims = in.dims(0);
  for (int a = 0; a < rank; ++a) {
    const double scale = scales[at(a)];
    if (!(scale > 0 && scale < 1e9)) in.refuse("scale {} of axis {} is not positive", scale, a);
    const Dim extent = dims[at(a)];
    const auto computed = scaled(in, extent, scale);
    dims[at(a)] = computed ? *computed : in.unknown_dim(0, a, rank);
    if (given == nullptr || given->rank() != rank) continue;
    // Sizes may be what the model gave and scales only their quotient, rounded either way. Under
    // cropping the scale is the user's and sizes follow from the roi.
    const Dim& size = given->dims[at(a)];
    if (extent.is_const() && size.is_const()) {
      const double exact = static_cast<double>(extent.value()) * scale;
      const bool crops = in.has(1);
      if (!crops && std::abs(static_cast<double>(size.value()) - exact) > 1)
        in.refuse("axis {}: size {} is not {} times {}", a, size.value(), extent.value(), scale);
    }
    dims[at(a)] = size;
  }
  in.set(0, in.dtype(0), std::move(dims));
}

void infer_grid_sample(Inference& in) {
  in.expect_float(0);
  in.expect_float(1);
  in.choice("mode", {"linear", "nearest", "cubic"});
  in.choice("padding", {"zeros", "border", "reflection"});
  in.integer("align_corners", 0, 1);
  if (in.rank(0) < 3) in.refuse("operand 0 must have rank 3 or more, found {}", in.rank(0));
  const Shape &x = in.dims(0), &grid = in.dims(1);
  if (grid.size() != x.size())
    in.refuse("the grid must have the rank of the input, {}; found {}", to_string(x),
              to_string(grid));
  in.unify(grid.back(), static_cast<std::int64_t>(x.size()) - 2, "coordinates per grid point");
  Shape dims{in.unify(x[0], grid[0], "batch sizes"), x[1]};
  dims.insert(dims.end(), grid.begin() + 1, grid.end() - 1);
  in.set(0, in.dtype(0), std::move(dims));
}

void infer_roi_align(Inference& in) {
  in.expect_float(0);
  in.expect_rank(0, 4, 4);
  in.expect_dtype(1, in.dtype(0));
  in.expect_rank(1, 2, 2);
  in.unify(in.dims(1)[1], 4, "numbers per region");
  in.expect_index(2);
  in.expect_rank(2, 1, 1);
  in.choice("mode", {"avg", "max"});
  in.choice("coordinate", {"half_pixel", "output_half_pixel"});
  in.integer("sampling_ratio", 0, 1 << 16);
  const Dim regions = in.unify(in.dims(1)[0], in.dims(2)[0], "regions and batch indices");
  const std::int64_t height = in.integer("output_height", 1, 1 << 24);
  const std::int64_t width = in.integer("output_width", 1, 1 << 24);
  in.set(0, in.dtype(0), {regions, in.dims(0)[1], height, width});
}

constexpr AttrDef kResizeAttrs[] = {{"mode", AttrKind::text},
                                    {"coordinate", AttrKind::text},
                                    {"scales", AttrKind::reals},
                                    {"nearest", AttrKind::text, false},
                                    {"cubic_coeff", AttrKind::real, false},
                                    {"exclude_outside", AttrKind::integer, false},
                                    {"extrapolation", AttrKind::real, false},
                                    {"antialias", AttrKind::integer, false}};
constexpr AttrDef kGridAttrs[] = {
    {"mode", AttrKind::text}, {"padding", AttrKind::text}, {"align_corners", AttrKind::integer}};
constexpr AttrDef kRoiAttrs[] = {{"mode", AttrKind::text},
                                 {"output_height", AttrKind::integer},
                                 {"output_width", AttrKind::integer},
                                 {"sampling_ratio", AttrKind::integer},
                                 {"spatial_scale", AttrKind::real},
                                 {"coordinate", AttrKind::text}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema resize = {.name = "resize",
                                 .min_operands = 1,
                                 .max_operands = 2,
                                 .attrs = kResizeAttrs,
                                 .infer = infer_resize};
constinit const Schema grid_sample = {.name = "grid_sample",
                                      .min_operands = 2,
                                      .max_operands = 2,
                                      .attrs = kGridAttrs,
                                      .infer = infer_grid_sample};
constinit const Schema roi_align = {.name = "roi_align",
                                    .min_operands = 3,
                                    .max_operands = 3,
                                    .attrs = kRoiAttrs,
                                    .infer = infer_roi_align};

}  // namespace frit::ops
