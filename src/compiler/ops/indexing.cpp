// SPDX-License-Identifier: Apache-2.0
// Ops that read or write elements by computed positions.
#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

void gather_elements_of(Inference& in) {
  const auto contents = in.elements(0), indices = in.elements(1);
  if (!contents || !indices || in.rank(0) != 1 || in.rank(1) > 1) return;
  const auto n = static_cast<std::int64_t>(contents->size());
  Shape picked;
  for (const Dim& index : *indices) {
    if (!index.is_const() || index.value() < -n || index.value() >= n) return;
    const std::int64_t i = index.value() < 0 ? index.value() + n : index.value();
    picked.push_back((*contents)[static_cast<std::size_t>(i)]);
  }
  in.set_elements(0, std::move(picked));
}

void infer_gather(Inference& in) {
  const int axis = in.axis("axis", in.rank(0));
  in.expect_index(1);
  const Shape& x = in.dims(0);
  Shape dims(x.begin(), x.begin() + axis);
  dims.insert(dims.end(), in.dims(1).begin(), in.dims(1).end());
  dims.insert(dims.end(), x.begin() + axis + 1, x.end());
  in.set(0, in.dtype(0), std::move(dims));
  gather_elements_of(in);
}

void expect_rank_of_data(const Inference& in, int i) {
  if (in.rank(i) != in.rank(0))
    in.refuse("operand {} must have rank {} like operand 0, found {}", i, in.rank(0),
              to_string(in.type(i)));
}

void infer_gather_elements(Inference& in) {
  in.axis("axis", in.rank(0));
  in.expect_index(1);
  expect_rank_of_data(in, 1);
  in.set(0, in.dtype(0), in.dims(1));
}

// Dims of what one n-dimensional index selects, preceded by the indices' own leading dims; nothing
// if the index length is unknown.
std::optional<Shape> selected_dims(const Inference& in, int batch) {
  const Shape &x = in.dims(0), &indices = in.dims(1);
  if (x.empty() || indices.empty())
    in.refuse("data and indices must have rank 1 or more, found {} and {}", to_string(x),
              to_string(indices));
  if (batch >= in.rank(0) || batch >= in.rank(1))
    in.refuse("batch_dims {} must be below the ranks of {} and {}", batch, to_string(x),
              to_string(indices));
  for (int b = 0; b < batch; ++b) in.unify(x[at(b)], indices[at(b)], "batch sizes");
  const Dim& length = indices.back();
  if (!length.is_const()) return std::nullopt;
  if (length.value() < 1 || length.value() > in.rank(0) - batch)
    in.refuse("each index must have 1 to {} entries, found {}", in.rank(0) - batch, length.value());
  Shape dims(indices.begin(), indices.end() - 1);
  dims.insert(dims.end(), x.begin() + batch + length.value(), x.end());
  return dims;
}

void infer_gather_nd(Inference& in) {
  in.expect_index(1);
  const auto batch = static_cast<int>(in.integer("batch_dims", 0, 64));
  auto dims = selected_dims(in, batch);
  if (!dims) return in.set_unknown(0, in.dtype(0), -1, "the length of an index");
  in.set(0, in.dtype(0), std::move(*dims));
}

void check_updates(const Inference& in, const Shape& expected) {
  in.expect_dtype(2, in.dtype(0));
  const Shape& updates = in.dims(2);
  bool agrees = updates.size() == expected.size();
  for (std::size_t a = 0; agrees && a < expected.size(); ++a)
    agrees = !updates[a].never_equals(expected[a]);
  if (!agrees)
    in.refuse("the updates must have dims {}, found {}", to_string(expected), to_string(updates));
  const std::string& how = in.choice("reduction", {"none", "add", "mul", "min", "max"});
  const bool plain = how == "none" || in.dtype(0) == DType::boolean;
  if (!plain) in.expect_numeric(0);
}

void infer_scatter_elements(Inference& in) {
  in.axis("axis", in.rank(0));
  in.expect_index(1);
  expect_rank_of_data(in, 1);
  check_updates(in, in.dims(1));
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_scatter_nd(Inference& in) {
  in.expect_index(1);
  const auto dims = selected_dims(in, 0);
  check_updates(in, dims ? *dims : in.dims(2));
  in.set(0, in.dtype(0), in.dims(0));
}

void infer_one_hot(Inference& in) {
  in.expect_numeric(0);
  in.expect_scalar(1);
  in.expect_numeric(1);
  in.expect_rank(2, 1, 1);
  in.unify(in.dims(2)[0], 2, "the number of values (off and on)");
  const int rank = in.rank(0) + 1;
  const int axis = in.axis("axis", rank);
  Dim depth;
  double number = 0;
  if (const auto known = in.element(1)) {
    depth = *known;
  } else if (scalar_constant(in.node().operand(1), number)) {
    if (!(number >= 0 && number <= static_cast<double>(kMaxBytes)))
      in.refuse("the depth must be a size, found {}", number);
    depth = static_cast<std::int64_t>(number);
  } else {
    depth = in.unknown_dim(0, axis, rank);
  }
  Shape dims = in.dims(0);
  dims.insert(dims.begin() + axis, depth);
  in.set(0, in.dtype(2), std::move(dims));
}

void infer_topk(Inference& in) {
  in.expect_numeric(0);
  const int rank = in.rank(0);
  const int axis = in.axis("axis", rank);
  in.integer("largest", 0, 1);
  in.integer("sorted", 0, 1);
  if (in.attrs().has("k") == in.has(1))
    in.refuse("either attribute 'k' or operand 1 expected, found {}",
              in.has(1) ? "both" : "neither");
  const Dim extent = in.dims(0)[at(axis)];
  Dim k;
  if (in.has(1)) {
    in.expect_scalar(1);
    in.expect_index(1);
    const auto known = in.element(1);
    k = known ? *known : in.unknown_dim(0, axis, rank, {0, extent.bounds().hi});
  } else {
    k = in.attrs().i("k");
  }
  if (k.bounds().hi < 0 || (k - extent).bounds().lo > 0)
    in.refuse("k must lie in 0…{}, found {}", extent.to_string(), k.to_string());
  Shape dims = in.dims(0);
  dims[at(axis)] = k;
  in.set(0, in.dtype(0), dims);
  in.set(1, DType::i64, std::move(dims));
}

constexpr AttrDef kAxisAttrs[] = {{"axis", AttrKind::integer}};
constexpr AttrDef kGatherNdAttrs[] = {{"batch_dims", AttrKind::integer}};
constexpr AttrDef kScatterAttrs[] = {{"axis", AttrKind::integer}, {"reduction", AttrKind::text}};
constexpr AttrDef kScatterNdAttrs[] = {{"reduction", AttrKind::text}};
constexpr AttrDef kTopkAttrs[] = {{"axis", AttrKind::integer},
                                  {"largest", AttrKind::integer},
                                  {"sorted", AttrKind::integer},
                                  {"k", AttrKind::integer, false}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema gather = {.name = "gather",
                                 .min_operands = 2,
                                 .max_operands = 2,
                                 .attrs = kAxisAttrs,
                                 .infer = infer_gather};
constinit const Schema gather_elements = {.name = "gather_elements",
                                          .min_operands = 2,
                                          .max_operands = 2,
                                          .attrs = kAxisAttrs,
                                          .infer = infer_gather_elements};
constinit const Schema gather_nd = {.name = "gather_nd",
                                    .min_operands = 2,
                                    .max_operands = 2,
                                    .attrs = kGatherNdAttrs,
                                    .infer = infer_gather_nd};
constinit const Schema scatter_elements = {.name = "scatter_elements",
                                           .min_operands = 3,
                                           .max_operands = 3,
                                           .attrs = kScatterAttrs,
                                           .infer = infer_scatter_elements};
constinit const Schema scatter_nd = {.name = "scatter_nd",
                                     .min_operands = 3,
                                     .max_operands = 3,
                                     .attrs = kScatterNdAttrs,
                                     .infer = infer_scatter_nd};
constinit const Schema one_hot = {.name = "one_hot",
                                  .min_operands = 3,
                                  .max_operands = 3,
                                  .attrs = kAxisAttrs,
                                  .infer = infer_one_hot};
constinit const Schema topk = {.name = "topk",
                               .min_operands = 1,
                               .max_operands = 2,
                               .max_results = 2,
                               .attrs = kTopkAttrs,
                               .infer = infer_topk};

}  // namespace frit::ops
