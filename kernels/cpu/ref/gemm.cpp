// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/gemm.h"

#include <algorithm>
#include <cstring>

namespace frit::kernels::ref {
namespace {

/// Multiplies one packed panel pair over `depth` terms and adds the 6 x kGemmNr result to c.
/// The vectors are 32 bytes: AVX registers where the clone below allows, pairs of SSE ones
/// elsewhere.
template <class T>
[[gnu::always_inline]] inline void multiply_panel(std::int64_t depth, const T* a, const T* b,
                                                  typename GemmAcc<T>::Type* c) {
  typedef T Vec __attribute__((vector_size(32)));
  constexpr std::int64_t kLanes = 32 / static_cast<std::int64_t>(sizeof(T));
  Vec acc[kGemmMr][2] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vec b0;
    Vec b1;
    std::memcpy(&b0, b, sizeof(Vec));
    std::memcpy(&b1, b + kLanes, sizeof(Vec));
    for (int r = 0; r < kGemmMr; ++r) {
      acc[r][0] += b0 * a[r];
      acc[r][1] += b1 * a[r];
    }
    a += kGemmMr;
    b += kGemmNr<T>;
  }
  for (int r = 0; r < kGemmMr; ++r)
    for (int h = 0; h < 2; ++h)
      for (int l = 0; l < kLanes; ++l)
        c[r * kGemmCols + h * kLanes + l] += static_cast<typename GemmAcc<T>::Type>(acc[r][h][l]);
}

template <class T>
[[gnu::always_inline]] inline void multiply_block(std::int64_t rows, std::int64_t cols,
                                                  std::int64_t depth, const T* a, const T* b,
                                                  typename GemmAcc<T>::Type* c) {
  for (std::int64_t j = 0; j < cols; j += kGemmNr<T>)
    for (std::int64_t i = 0; i < rows; i += kGemmMr)
      for (std::int64_t k = 0; k < depth; k += kGemmFold)
        multiply_panel<T>(std::min(kGemmFold, depth - k), a + i * depth + k * kGemmMr,
                          b + j * depth + k * kGemmNr<T>, c + i * kGemmCols + j);
}

template <class T>
using BlockFn = void (*)(std::int64_t, std::int64_t, std::int64_t, const T*, const T*,
                         typename GemmAcc<T>::Type*);

template <class T>
void block_baseline(std::int64_t rows, std::int64_t cols, std::int64_t depth, const T* a,
                    const T* b, typename GemmAcc<T>::Type* c) {
  multiply_block<T>(rows, cols, depth, a, b, c);
}

#if defined(__x86_64__)
template <class T>
__attribute__((target("avx2,fma"))) void block_avx2(std::int64_t rows, std::int64_t cols,
                                                    std::int64_t depth, const T* a, const T* b,
                                                    typename GemmAcc<T>::Type* c) {
  multiply_block<T>(rows, cols, depth, a, b, c);
}
#endif

template <class T>
BlockFn<T> choose_block() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return block_avx2<T>;
#endif
  return block_baseline<T>;
}

}  // namespace

template <class T>
void gemm(const GemmTask<T>& task, void* workspace, const Parallel& parallel) {
  using Acc = typename GemmAcc<T>::Type;
  if (task.batch <= 0 || task.m <= 0 || task.n <= 0) return;
  const BlockFn<T> block = choose_block<T>();
  const std::int64_t row_tiles = (task.m + kGemmRows - 1) / kGemmRows;
  const std::int64_t col_tiles = (task.n + kGemmCols - 1) / kGemmCols;
  parallel(task.batch * row_tiles * col_tiles, 1,
           [&](std::int64_t begin, std::int64_t end, int worker) {
             char* scratch = static_cast<char*>(workspace) +
                             gemm_workspace<T>(1) * static_cast<std::uint64_t>(worker);
             Acc* tile = reinterpret_cast<Acc*>(scratch);
             T* a = reinterpret_cast<T*>(scratch + kGemmRows * kGemmCols * sizeof(double));
             T* b = a + kGemmRows * kGemmDepth;
             for (std::int64_t t = begin; t < end; ++t) {
               const std::int64_t batch = t / (row_tiles * col_tiles);
               const std::int64_t i0 = t % row_tiles * kGemmRows;
               const std::int64_t j0 = t / row_tiles % col_tiles * kGemmCols;
               const Range i{i0, std::min(i0 + kGemmRows, task.m)};
               const Range j{j0, std::min(j0 + kGemmCols, task.n)};
               const std::int64_t rows = (i.size() + kGemmMr - 1) / kGemmMr * kGemmMr;
               std::fill_n(tile, rows * kGemmCols, Acc{});
               for (std::int64_t k0 = 0; k0 < task.k; k0 += kGemmDepth) {
                 const Range k{k0, std::min(k0 + kGemmDepth, task.k)};
                 task.pack_a(task.ctx, batch, i, k, a);
                 task.pack_b(task.ctx, batch, j, k, b);
                 block(i.size(), j.size(), k.size(), a, b, tile);
               }
               task.store(task.ctx, batch, i, j, tile);
             }
           });
}

template <class T>
void pack_rows(const T* src, std::int64_t row_stride, std::int64_t col_stride, Range i, Range k,
               T* dst) {
  const std::int64_t depth = k.size();
  for (std::int64_t i0 = i.begin; i0 < i.end; i0 += kGemmMr, dst += kGemmMr * depth) {
    const std::int64_t live = std::min(kGemmMr, i.end - i0);
    if (live < kGemmMr) std::fill_n(dst, kGemmMr * depth, T{});
    for (std::int64_t r = 0; r < live; ++r) {
      const T* row = src + (i0 + r) * row_stride + k.begin * col_stride;
      for (std::int64_t d = 0; d < depth; ++d) dst[d * kGemmMr + r] = row[d * col_stride];
    }
  }
}

template <class T>
void pack_columns(const T* src, std::int64_t row_stride, std::int64_t col_stride, Range j, Range k,
                  T* dst) {
  constexpr std::int64_t kNr = kGemmNr<T>;
  const std::int64_t depth = k.size();
  if (col_stride == 1) {
    // Along the rows of the matrix, which may lie pages apart.
    for (std::int64_t d = 0; d < depth; ++d) {
      const T* row = src + (k.begin + d) * row_stride + j.begin;
      scatter_term(row, j.size(), d, depth, dst);
    }
    return;
  }
  for (std::int64_t j0 = j.begin; j0 < j.end; j0 += kNr, dst += kNr * depth) {
    const std::int64_t live = std::min(kNr, j.end - j0);
    if (live < kNr) std::fill_n(dst, kNr * depth, T{});
    const T* base = src + k.begin * row_stride + j0 * col_stride;
    for (std::int64_t c = 0; c < live; ++c)
      for (std::int64_t d = 0; d < depth; ++d)
        dst[d * kNr + c] = base[d * row_stride + c * col_stride];
  }
}

template <class T>
void scatter_term(const T* row, std::int64_t cols, std::int64_t at, std::int64_t depth, T* dst) {
  constexpr std::int64_t kNr = kGemmNr<T>;
  dst += at * kNr;
  std::int64_t c = 0;
  for (; c + kNr <= cols; c += kNr, dst += depth * kNr) std::memcpy(dst, row + c, sizeof(T) * kNr);
  if (c < cols) {
    std::fill_n(dst, kNr, T{});
    std::memcpy(dst, row + c, sizeof(T) * static_cast<std::size_t>(cols - c));
  }
}

#define FRIT_GEMM(T)                                                                     \
  template void gemm<T>(const GemmTask<T>&, void*, const Parallel&);                     \
  template void pack_rows<T>(const T*, std::int64_t, std::int64_t, Range, Range, T*);    \
  template void pack_columns<T>(const T*, std::int64_t, std::int64_t, Range, Range, T*); \
  template void scatter_term<T>(const T*, std::int64_t, std::int64_t, std::int64_t, T*);
FRIT_GEMM(float)
FRIT_GEMM(double)
FRIT_GEMM(std::uint32_t)
FRIT_GEMM(std::uint64_t)
#undef FRIT_GEMM

}  // namespace frit::kernels::ref
