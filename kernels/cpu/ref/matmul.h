// SPDX-License-Identifier: Apache-2.0
// What the matrix products share: NumPy's dim rules and running one as blocked products.
#pragma once

#include <cstdint>

#include "kernels/cpu/ref/checker.h"
#include "kernels/cpu/ref/gemm.h"

namespace frit::kernels::ref {

/// A batched product a · b with operands addressed by strides.
struct MatMulShape {
  std::int64_t m = 0, n = 0, k = 0;
  Dims batch;                           ///< broadcast batch dims, in front of the last two
  std::int64_t a_batch[kMaxRank] = {};  ///< elements between neighbours; 0 where broadcast
  std::int64_t b_batch[kMaxRank] = {};
  std::int64_t a_row = 0, a_col = 0;  ///< strides of a along m and k
  std::int64_t b_row = 0, b_col = 0;  ///< strides of b along k and n
  bool row_vector = false;            ///< a is 1-D: the result has no m axis
  bool column_vector = false;         ///< b is 1-D: the result has no n axis
  /// Batches whose b is the same become rows of one product; this many rows stand for one batch.
  std::int64_t products = 1;
  std::int64_t rows = 0;

  /// Element offset of a product's operand.
  std::int64_t offset(std::int64_t product, const std::int64_t* strides) const {
    std::int64_t at = 0;
    for (int a = batch.rank - 1; a >= 0; --a) {
      at += product % batch[a] * strides[a];
      product /= batch[a];
    }
    return at;
  }
};

/// Reads a matrix product of dims a and b to result 0 under NumPy's rules, all checked.
bool read_matmul(Checker& c, Dims a, Dims b, bool trans_a, bool trans_b, MatMulShape& shape);

/// Runs it on whole arrays; result row `i` of product `p` is row p * shape.rows + i of [.., m, n].
template <class T>
void run_matmul(const MatMulShape& shape, const T* a, const T* b, const void* ctx,
                void (*store)(const void* ctx, std::int64_t product, Range i, Range j,
                              const typename GemmAcc<T>::Type* tile),
                void* workspace, const Parallel& parallel);

}  // namespace frit::kernels::ref
