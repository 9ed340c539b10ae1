// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/patches.h"

#include <algorithm>
#include <cstring>

namespace frit::kernels::ref {
namespace {

using std::int64_t;

/// Fills `row` with `count` elements of the input row `src` of `size` elements, first one at
/// position `first`, `step` apart; positions outside are zero.
template <class T>
void sample_row(const T* src, int64_t size, int64_t first, int64_t step, int64_t count, T* row) {
  const int64_t lo = first >= 0 ? 0 : std::min(count, (-first + step - 1) / step);
  const int64_t hi = first >= size ? lo : std::clamp((size - 1 - first) / step + 1, lo, count);
  std::fill(row, row + lo, T{});
  if (step == 1 && hi > lo)
    std::memcpy(row + lo, src + first + lo, sizeof(T) * static_cast<std::size_t>(hi - lo));
  else
    for (int64_t x = lo; x < hi; ++x) row[x] = src[first + x * step];
  std::fill(row + hi, row + count, T{});
}

/// Calls fill(at, len, row) for each stretch of columns that shares all but the last output
/// coordinate.
template <class T, class Fill>
void for_each_stretch(const Window& w, const int64_t* start, int64_t cols, T* row, Fill&& fill) {
  int64_t at[Window::kMaxAxes] = {};
  std::copy_n(start, w.rank, at);
  const int last = w.rank - 1;
  for (int64_t done = 0; done < cols;) {
    const int64_t len = std::min(cols - done, w.out[last] - at[last]);
    fill(at, len, row + done);
    done += len;
    at[last] = w.out[last] - 1;
    w.advance(w.out, at);
  }
}

}  // namespace

bool Window::pointwise() const {
  for (int a = 0; a < rank; ++a)
    if (kernel[a] != 1 || stride[a] != 1 || pad[a] != 0 || in[a] != out[a]) return false;
  return true;
}

template <class T>
void pack_patches(const Window& w, const T* image, Range j, Range k, T* dst) {
  if (w.pointwise()) return pack_columns<T>(image, w.in_volume(), 1, j, k, dst);
  const int last = w.rank - 1;
  const int64_t in_volume = w.in_volume();
  const int64_t taps = w.kernel_volume();
  int64_t start[Window::kMaxAxes] = {};
  int64_t tap[Window::kMaxAxes] = {};
  w.unravel(w.out, j.begin, start);
  w.unravel(w.kernel, k.begin % taps, tap);
  T row[kGemmCols];
  for (int64_t term = k.begin; term < k.end; ++term, w.advance(w.kernel, tap)) {
    const T* channel = image + term / taps * in_volume;
    for_each_stretch(w, start, j.size(), row, [&](const int64_t* at, int64_t len, T* to) {
      int64_t offset = 0;
      for (int a = 0; a < last; ++a) {
        const int64_t p = at[a] * w.stride[a] - w.pad[a] + tap[a] * w.dilation[a];
        if (p < 0 || p >= w.in[a]) {
          std::fill_n(to, len, T{});
          return;
        }
        offset = (offset + p) * w.in[a + 1];
      }
      const int64_t first = at[last] * w.stride[last] - w.pad[last] + tap[last] * w.dilation[last];
      sample_row(channel + offset, w.in[last], first, w.stride[last], len, to);
    });
    scatter_term(row, j.size(), term - k.begin, k.size(), dst);
  }
}

template <class T>
void pack_spread(const Window& w, const T* image, Range j, Range k, T* dst) {
  if (w.pointwise()) return pack_columns<T>(image, w.in_volume(), 1, j, k, dst);
  const int last = w.rank - 1;
  const int64_t in_volume = w.in_volume();
  const int64_t taps = w.kernel_volume();
  int64_t start[Window::kMaxAxes] = {};
  int64_t tap[Window::kMaxAxes] = {};
  w.unravel(w.out, j.begin, start);
  w.unravel(w.kernel, k.begin % taps, tap);
  T row[kGemmCols];
  for (int64_t term = k.begin; term < k.end; ++term, w.advance(w.kernel, tap)) {
    const T* channel = image + term / taps * in_volume;
    for_each_stretch(w, start, j.size(), row, [&](const int64_t* at, int64_t len, T* to) {
      std::fill_n(to, len, T{});
      int64_t offset = 0;
      for (int a = 0; a < last; ++a) {
        const int64_t p = at[a] + w.pad[a] - tap[a] * w.dilation[a];
        if (p < 0 || p % w.stride[a] != 0 || p / w.stride[a] >= w.in[a]) return;
        offset = (offset + p / w.stride[a]) * w.in[a + 1];
      }
      const T* src = channel + offset;
      const int64_t step = w.stride[last];
      const int64_t first = at[last] + w.pad[last] - tap[last] * w.dilation[last];
      // The first column whose position is a non-negative multiple of the stride.
      int64_t x = first >= 0 ? (step - first % step) % step : -first;
      for (int64_t p = (first + x) / step; x < len && p < w.in[last]; x += step, ++p)
        to[x] = src[p];
    });
    scatter_term(row, j.size(), term - k.begin, k.size(), dst);
  }
}

#define FRIT_PATCHES(T)                                                     \
  template void pack_patches<T>(const Window&, const T*, Range, Range, T*); \
  template void pack_spread<T>(const Window&, const T*, Range, Range, T*);
FRIT_PATCHES(float)
FRIT_PATCHES(double)
FRIT_PATCHES(std::uint32_t)
FRIT_PATCHES(std::uint64_t)
#undef FRIT_PATCHES

}  // namespace frit::kernels::ref
