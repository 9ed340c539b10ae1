// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/matmul.h"

#include <algorithm>

#include "kernels/cpu/ref/runs.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {

using std::int64_t;

namespace {

template <class T>
struct MatMulContext {
  const MatMulShape* shape;
  const T* a;
  const T* b;
  const void* store_ctx;
  void (*store)(const void*, int64_t, Range, Range, const typename GemmAcc<T>::Type*);
};

template <class T>
struct MatMulOperands {
  Converted<T> a, b, bias;
  std::uint64_t product_scratch = 0;

  void plan(Checker& c) {
    a.plan(c, c.in(0));
    b.plan(c, c.in(1));
    bias.plan(c, c.in(2));
    product_scratch = c.scratch(gemm_workspace<T>(c.threads()));
  }
};

struct MatMul {
  MatMulShape shape;
  DType dtype = DType::undefined;
  enum Path { kF32, kF64, kU32, kU64 } path = kF32;
  MatMulOperands<float> f32;
  MatMulOperands<double> f64;
  MatMulOperands<std::uint32_t> u32;
  MatMulOperands<std::uint64_t> u64;
  Dims row_dims;                        ///< batch dims and m
  int64_t bias_row[kMaxRank + 1] = {};  ///< strides of bias along them
  int64_t bias_col = 0;

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "matmul");
    if (!c.tensors(2, 3, 1, 1)) return c.error();
    dtype = c.in(0).dtype;
    c.require(is_convertible(dtype) && dtype != DType::boolean,
              "operand 0 has type %s; expected f16, bf16, f32, f64 or an integer of 8 bits or more",
              dtype_name(dtype));
    c.dtype_in(1, dtype);
    c.dtype_out(0, dtype);
    const bool trans_a = c.integer_or("trans_a", 0, 1, 0) != 0;
    const bool trans_b = c.integer_or("trans_b", 0, 1, 0) != 0;
    if (!c.ok() || !read_matmul(c, c.dims_in(0), c.dims_in(1), trans_a, trans_b, shape))
      return c.error();
    if (c.in(2).present()) read_bias(c);
    if (is_integer(dtype)) {
      path = dtype_bits(dtype) == 64 ? kU64 : kU32;
      if (path == kU64) u64.plan(c);
      if (path == kU32) u32.plan(c);
    } else {
      path = dtype == DType::f64 ? kF64 : kF32;
      if (path == kF64) f64.plan(c);
      if (path == kF32) f32.plan(c);
    }
    return c.error();
  }

  /// Strides of bias over [batch…, m, n], the axes of y with the missing ones put back.
  void read_bias(Checker& c) {
    const Dims y = c.dims_out(0);
    const Dims bias = c.dims_in(2);
    c.dtype_in(2, dtype);
    c.require(bias.rank <= y.rank, "bias has rank %d, more than the result's %d", bias.rank,
              y.rank);
    row_dims = shape.batch;
    if (!c.ok() || !c.require(row_dims.rank < kMaxRank, "too many batch axes")) return;
    row_dims[row_dims.rank++] = shape.m;
    for (int a = 0; a < bias.rank; ++a) {
      const int to = a + y.rank - bias.rank;
      c.require(bias[a] == y[to] || bias[a] == 1, "bias dim %lld does not broadcast to %lld",
                static_cast<long long>(bias[a]), static_cast<long long>(y[to]));
      const int64_t stride = bias[a] == 1 ? 0 : bias.stride(a);
      if (to < shape.batch.rank)
        bias_row[to] = stride;
      else if (to == shape.batch.rank && !shape.row_vector)
        bias_row[to] = stride;
      else
        bias_col = stride;
    }
  }

  template <class T>
  struct Store {
    const MatMul* self;
    const T* bias;
    void* y;
    /// Sums are written as they are accumulated: f64 for floats, wrapped for integers.
    using Acc = typename GemmAcc<T>::Type;

    static void store(const void* ctx, int64_t product, Range i, Range j, const Acc* tile) {
      const Store& s = *static_cast<const Store*>(ctx);
      const MatMul& self = *s.self;
      Acc row[kGemmCols];
      for (int64_t r = i.begin; r < i.end; ++r) {
        const Acc* sums = tile + (r - i.begin) * kGemmCols;
        const int64_t y_row = product * self.shape.rows + r;
        if (s.bias != nullptr) {
          const T* bias = s.bias + j.begin * self.bias_col;
          int64_t rest = y_row;
          for (int a = self.row_dims.rank - 1; a >= 0; --a) {
            bias += rest % self.row_dims[a] * self.bias_row[a];
            rest /= self.row_dims[a];
          }
          for (int64_t x = 0; x < j.size(); ++x)
            row[x] = sums[x] + static_cast<Acc>(bias[x * self.bias_col]);
          sums = row;
        }
        write_run<Acc>(self.dtype, sums, j.size(), s.y, y_row * self.shape.n + j.begin);
      }
    }
  };

  template <class T>
  void run_as(const RunArgs& args, const MatMulOperands<T>& operands) const {
    const T* a = operands.a.load(args, 0);
    const T* b = operands.b.load(args, 1);
    const Store<T> store{this, operands.bias.load(args, 2), args.out[0]};
    run_matmul<T>(shape, a, b, &store, Store<T>::store,
                  static_cast<char*>(args.workspace) + operands.product_scratch, args.parallel);
  }

  const char* run(const RunArgs& args) const {
    if (path == kF32) run_as<float>(args, f32);
    if (path == kF64) run_as<double>(args, f64);
    if (path == kU32) run_as<std::uint32_t>(args, u32);
    if (path == kU64) run_as<std::uint64_t>(args, u64);
    return nullptr;
  }
};

}  // namespace

bool read_matmul(Checker& c, Dims a, Dims b, bool trans_a, bool trans_b, MatMulShape& s) {
  if (!c.require(a.rank >= 1 && b.rank >= 1, "ranks are %d and %d; scalars cannot be multiplied",
                 a.rank, b.rank))
    return false;
  s.row_vector = a.rank == 1;
  s.column_vector = b.rank == 1;
  if (s.row_vector) {
    a.rank = 2;
    a[1] = a[0];
    a[0] = 1;
    trans_a = false;
  }
  if (s.column_vector) {
    b.rank = 2;
    b[1] = 1;
    trans_b = false;
  }
  const int64_t a_last = a[a.rank - 1];
  const int64_t b_last = b[b.rank - 1];
  s.m = trans_a ? a_last : a[a.rank - 2];
  s.k = trans_a ? a[a.rank - 2] : a_last;
  s.n = trans_b ? b[b.rank - 2] : b_last;
  const int64_t k = trans_b ? b_last : b[b.rank - 2];
  s.a_row = trans_a ? 1 : a_last;
  s.a_col = trans_a ? a_last : 1;
  s.b_row = trans_b ? 1 : b_last;
  s.b_col = trans_b ? b_last : 1;
  if (!c.require(s.k == k, "inner dims are %lld and %lld; they must be equal",
                 static_cast<long long>(s.k), static_cast<long long>(k)))
    return false;
  const int batch = std::max(a.rank, b.rank) - 2;
  Dims want;
  s.batch.rank = batch;
  want.rank = batch;
  for (int i = 0; i < batch; ++i) {
    const int from_a = i - (batch - (a.rank - 2));
    const int from_b = i - (batch - (b.rank - 2));
    const int64_t da = from_a >= 0 ? a[from_a] : 1;
    const int64_t db = from_b >= 0 ? b[from_b] : 1;
    c.require(da == db || da == 1 || db == 1, "batch dims %lld and %lld do not broadcast",
              static_cast<long long>(da), static_cast<long long>(db));
    s.batch[i] = want[i] = da == 1 ? db : da;
    s.a_batch[i] = da == 1 ? 0 : a.stride(from_a);
    s.b_batch[i] = db == 1 ? 0 : b.stride(from_b);
  }
  if (!s.row_vector) want[want.rank++] = s.m;
  if (!s.column_vector) want[want.rank++] = s.n;
  if (!c.shape_out(0, want)) return false;
  s.products = s.batch.volume();
  s.rows = s.m;
  const bool b_shared = std::all_of(s.b_batch, s.b_batch + batch, [](int64_t v) { return v == 0; });
  if (b_shared && !trans_a && a.product(0, a.rank - 2) == s.products) {
    // One b for all of a: the batches are just more rows.
    s.rows = s.m * s.products;
    s.products = s.rows == 0 ? 0 : 1;
    std::fill_n(s.a_batch, batch, 0);
  }
  return true;
}

template <class T>
void run_matmul(const MatMulShape& shape, const T* a, const T* b, const void* ctx,
                void (*store)(const void*, int64_t, Range, Range, const typename GemmAcc<T>::Type*),
                void* workspace, const Parallel& parallel) {
  const MatMulContext<T> context{&shape, a, b, ctx, store};
  GemmTask<T> task;
  task.batch = shape.products;
  task.m = shape.rows;
  task.n = shape.n;
  task.k = shape.k;
  task.ctx = &context;
  task.pack_a = [](const void* p, int64_t product, Range i, Range k, T* dst) {
    const auto& s = *static_cast<const MatMulContext<T>*>(p);
    const T* at = s.a + s.shape->offset(product, s.shape->a_batch);
    pack_rows<T>(at, s.shape->a_row, s.shape->a_col, i, k, dst);
  };
  task.pack_b = [](const void* p, int64_t product, Range j, Range k, T* dst) {
    const auto& s = *static_cast<const MatMulContext<T>*>(p);
    const T* at = s.b + s.shape->offset(product, s.shape->b_batch);
    pack_columns<T>(at, s.shape->b_row, s.shape->b_col, j, k, dst);
  };
  task.store = [](const void* p, int64_t product, Range i, Range j,
                  const typename GemmAcc<T>::Type* tile) {
    const auto& s = *static_cast<const MatMulContext<T>*>(p);
    s.store(s.store_ctx, product, i, j, tile);
  };
  gemm<T>(task, workspace, parallel);
}

template void run_matmul<std::uint32_t>(
    const MatMulShape&, const std::uint32_t*, const std::uint32_t*, const void*,
    void (*)(const void*, int64_t, Range, Range, const std::uint32_t*), void*, const Parallel&);

const Kernel matmul_kernel = make_kernel<MatMul>("ref.matmul");

}  // namespace frit::kernels::ref
