// SPDX-License-Identifier: Apache-2.0
// The blocked matrix product under the reference convolutions, matrix products and recurrent cells.
//
// Operands reach it through packing callbacks, so that transposition, im2col, type conversion and
// zero points stay with the op. f32 products are summed in f32 for at most kGemmFold terms and
// then folded into f64, which keeps the error below that of any plain f32 kernel; f64 is summed in
// f64 and unsigned integers wrap.
#pragma once

#include <cstdint>

#include "kernels/common/kernel.h"

namespace frit::kernels::ref {

/// Half-open index range.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

inline constexpr std::int64_t kGemmRows = 96;    ///< rows of one tile: the f64 tile must stay in L2
inline constexpr std::int64_t kGemmCols = 256;   ///< columns of one tile
inline constexpr std::int64_t kGemmDepth = 256;  ///< terms packed at a time
inline constexpr std::int64_t kGemmFold = 32;    ///< f32 terms summed before they go to f64
inline constexpr std::int64_t kGemmMr = 6;       ///< rows of one packed panel of A

/// Columns of one packed panel of B: two 32-byte registers.
template <class T>
inline constexpr std::int64_t kGemmNr = 64 / static_cast<std::int64_t>(sizeof(T));

template <class T>
struct GemmAcc {
  using Type = T;
};
template <>
struct GemmAcc<float> {
  using Type = double;
};

/// C[b] = A[b]·B[b] for b < batch, with A [m,k] and B [k,n] known only through callbacks.
/// T is float, double, std::uint32_t or std::uint64_t.
template <class T>
struct GemmTask {
  using Acc = typename GemmAcc<T>::Type;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  const void* ctx = nullptr;
  /// Fills dst[panel][k][kGemmMr] with rows `i` and terms `k`; rows past the end must be zero.
  void (*pack_a)(const void* ctx, std::int64_t batch, Range i, Range k, T* dst) = nullptr;
  /// Fills dst[panel][k][kGemmNr<T>] with columns `j` and terms `k`; columns past the end must be
  /// zero.
  void (*pack_b)(const void* ctx, std::int64_t batch, Range j, Range k, T* dst) = nullptr;
  /// Takes a finished tile: element (r, c) of it is tile[(r - i.begin) * kGemmCols + c - j.begin].
  void (*store)(const void* ctx, std::int64_t batch, Range i, Range j, const Acc* tile) = nullptr;
};

/// Scratch bytes `gemm` needs for `threads` threads.
template <class T>
constexpr std::uint64_t gemm_workspace(int threads) {
  const std::int64_t per =
      kGemmRows * kGemmCols * static_cast<std::int64_t>(sizeof(double)) +
      (kGemmRows + kGemmCols) * kGemmDepth * static_cast<std::int64_t>(sizeof(T));
  return static_cast<std::uint64_t>(per) * static_cast<std::uint64_t>(threads < 1 ? 1 : threads);
}

/// Runs the task on the pool; `workspace` holds gemm_workspace<T>(parallel.threads) aligned bytes.
template <class T>
void gemm(const GemmTask<T>& task, void* workspace, const Parallel& parallel);

/// Packs rows of a strided matrix: element (r, k) is src[r * row_stride + k * col_stride].
template <class T>
void pack_rows(const T* src, std::int64_t row_stride, std::int64_t col_stride, Range i, Range k,
               T* dst);

/// Packs columns of a strided matrix: element (k, c) is src[k * row_stride + c * col_stride].
template <class T>
void pack_columns(const T* src, std::int64_t row_stride, std::int64_t col_stride, Range j, Range k,
                  T* dst);

/// Writes columns of one term, row[0..cols), into the packed panels at depth `at` of `depth`.
template <class T>
void scatter_term(const T* row, std::int64_t cols, std::int64_t at, std::int64_t depth, T* dst);

}  // namespace frit::kernels::ref
