// SPDX-License-Identifier: Apache-2.0
#include "base/dtypes.h"
#include "compiler/ops/spatial.h"

namespace frit::ir {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

constexpr std::int64_t kFar = std::int64_t{1} << 31;

int spatial_rank(const Inference& in) {
  if (in.rank(0) < 3)
    in.refuse("operand 0 must have rank 3 or more, found {}", to_string(in.type(0)));
  return in.rank(0) - 2;
}

void infer_pool(Inference& in) {
  const int n = spatial_rank(in);
  const std::string& kind = in.choice("kind", {"max", "average", "lp"});
  if (kind == "max")
    in.expect_numeric(0);
  else
    in.expect_float(0);
  if (kind == "lp") in.integer("p", 1, kFar);
  for (const char* flag : {"count_include_pad", "storage_order"})
    if (in.attrs().has(flag)) in.integer(flag, 0, 1);
  if (in.result_count() > 1 && kind != "max")
    in.refuse("only max pooling has indices, found kind '{}'", kind);
  const bool up = in.integer("ceil_mode", 0, 1) != 0;
  const Window window = read_window(in, make_shape(in.ints("kernel", n, 1, kFar)));
  Shape dims{in.dims(0)[0], in.dims(0)[1]};
  for (int i = 0; i < n; ++i) {
    const Dim& d = in.dims(0)[at(i + 2)];
    dims.push_back(up ? window_count_ceil(in, window, i, d) : window_count(in, window, i, d));
  }
  in.set(0, in.dtype(0), dims);
  in.set(1, DType::i64, std::move(dims));
}

void infer_max_unpool(Inference& in) {
  const int n = spatial_rank(in);
  in.expect_numeric(0);
  in.expect_dtype(1, DType::i64);
  if (in.rank(1) != in.rank(0))
    in.refuse("the indices must have dims {}, found {}", to_string(in.dims(0)),
              to_string(in.dims(1)));
  for (int a = 0; a < in.rank(0); ++a)
    in.unify(in.dims(0)[at(a)], in.dims(1)[at(a)], "sizes of input and indices");
  const Window window = read_window(in, make_shape(in.ints("kernel", n, 1, kFar)));
  if (in.has(2)) {
    in.expect_rank(2, 1, 1);
    in.expect_index(2);
    const auto given = in.elements(2);
    if (!given) return in.set_unknown(0, in.dtype(0), in.rank(0), "the output shape");
    if (given->size() != at(in.rank(0)))
      in.refuse("the output shape must have {} entries, found {}", in.rank(0), given->size());
    return in.set(0, in.dtype(0), *given);
  }
  Shape dims{in.dims(0)[0], in.dims(0)[1]};
  for (int i = 0; i < n; ++i)
    dims.push_back((in.dims(0)[at(i + 2)] - Dim(1)) * Dim(window.stride(i)) + window.kernel[at(i)] -
                   Dim(window.pad_begin(i)) - Dim(window.pad_end(i)));
  in.set(0, in.dtype(0), std::move(dims));
}

constexpr AttrDef kPoolAttrs[] = {{"kind", AttrKind::text},
                                  {"kernel", AttrKind::integers},
                                  {"strides", AttrKind::integers},
                                  {"dilations", AttrKind::integers},
                                  {"pads", AttrKind::integers},
                                  {"ceil_mode", AttrKind::integer},
                                  {"count_include_pad", AttrKind::integer, false},
                                  {"p", AttrKind::integer, false},
                                  {"storage_order", AttrKind::integer, false}};
constexpr AttrDef kUnpoolAttrs[] = {
    {"kernel", AttrKind::integers}, {"strides", AttrKind::integers}, {"pads", AttrKind::integers}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

using namespace ir;  // NOLINT: the tables below name ir's types on every line

constinit const Schema pool = {.name = "pool",
                               .min_operands = 1,
                               .max_operands = 1,
                               .max_results = 2,
                               .attrs = kPoolAttrs,
                               .infer = infer_pool};
constinit const Schema max_unpool = {.name = "max_unpool",
                                     .min_operands = 2,
                                     .max_operands = 3,
                                     .attrs = kUnpoolAttrs,
                                     .infer = infer_max_unpool};

}  // namespace frit::ops
