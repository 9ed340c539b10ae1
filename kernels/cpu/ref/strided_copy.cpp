// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace frit::kernels::ref {
namespace {

using std::int64_t;

constexpr int64_t kBlock = 32;             // side of a transposition block: 32 cache lines per side
constexpr int64_t kChunkElements = 16384;  // least work worth a thread

struct Wide {
  std::uint64_t low;
  std::uint64_t high;
};

unsigned packed_at(const std::uint8_t* data, int bits, int64_t index) {
  const int64_t bit = index * bits;
  return (data[bit / 8] >> (bit % 8)) & ((1u << bits) - 1);
}

void set_packed(std::uint8_t* data, int bits, int64_t index, unsigned value) {
  const int64_t bit = index * bits;
  const unsigned mask = ((1u << bits) - 1) << (bit % 8);
  data[bit / 8] = static_cast<std::uint8_t>((data[bit / 8] & ~mask) | (value << (bit % 8)));
}

/// The last two axes of a copy: rows x cols elements.
struct Plane {
  int64_t rows, cols, src_row, src_col, dst_row, dst_col;
};

template <class E>
void copy_rows(const Plane& p, const E* src, E* dst) {
  if (p.src_col == 1 && p.dst_col == 1) {
    for (int64_t r = 0; r < p.rows; ++r)
      std::memcpy(dst + r * p.dst_row, src + r * p.src_row,
                  sizeof(E) * static_cast<std::size_t>(p.cols));
    return;
  }
  // Column blocks keep both the strided and the dense side of a transposition in cache.
  const int64_t step = std::abs(p.src_row) < std::abs(p.src_col) ? kBlock : p.cols;
  for (int64_t c0 = 0; c0 < p.cols; c0 += step) {
    const int64_t c1 = std::min(c0 + step, p.cols);
    for (int64_t r = 0; r < p.rows; ++r) {
      const E* s = src + r * p.src_row;
      E* d = dst + r * p.dst_row;
      for (int64_t c = c0; c < c1; ++c) d[c * p.dst_col] = s[c * p.src_col];
    }
  }
}

void copy_packed(const Plane& p, int bits, const void* src, int64_t src_at, void* dst,
                 int64_t dst_at) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const int64_t s = src_at + r * p.src_row;
    const int64_t d = dst_at + r * p.dst_row;
    if (p.src_col == 1 && p.dst_col == 1) {
      copy_run(bits, src, s, dst, d, p.cols);
      continue;
    }
    for (int64_t c = 0; c < p.cols; ++c)
      set_packed(static_cast<std::uint8_t*>(dst), bits, d + c * p.dst_col,
                 packed_at(static_cast<const std::uint8_t*>(src), bits, s + c * p.src_col));
  }
}

void copy_plane(const Plane& p, int bits, const void* src, int64_t src_at, void* dst,
                int64_t dst_at) {
  switch (bits) {
    case 8:
      return copy_rows(p, static_cast<const std::uint8_t*>(src) + src_at,
                       static_cast<std::uint8_t*>(dst) + dst_at);
    case 16:
      return copy_rows(p, static_cast<const std::uint16_t*>(src) + src_at,
                       static_cast<std::uint16_t*>(dst) + dst_at);
    case 32:
      return copy_rows(p, static_cast<const std::uint32_t*>(src) + src_at,
                       static_cast<std::uint32_t*>(dst) + dst_at);
    case 64:
      return copy_rows(p, static_cast<const std::uint64_t*>(src) + src_at,
                       static_cast<std::uint64_t*>(dst) + dst_at);
    case 128:
      return copy_rows(p, static_cast<const Wide*>(src) + src_at, static_cast<Wide*>(dst) + dst_at);
    default:
      return copy_packed(p, bits, src, src_at, dst, dst_at);
  }
}

}  // namespace

void StridedCopy::add(int64_t dim, int64_t src, int64_t dst) {
  if (dim == 1) return;
  if (axes > 0 && src_stride[axes - 1] == src * dim && dst_stride[axes - 1] == dst * dim) {
    dims[axes - 1] *= dim;
    src_stride[axes - 1] = src;
    dst_stride[axes - 1] = dst;
    return;
  }
  dims[axes] = dim;
  src_stride[axes] = src;
  dst_stride[axes] = dst;
  ++axes;
}

void StridedCopy::run(int bits, const void* src, void* dst, const Parallel& parallel) const {
  int64_t outer = 1;
  for (int a = 0; a < axes; ++a) {
    if (dims[a] == 0) return;
    if (a < axes - 2) outer *= dims[a];
  }
  Plane plane{1, 1, 0, 1, 0, 1};
  if (axes >= 1) plane = {1, dims[axes - 1], 0, src_stride[axes - 1], 0, dst_stride[axes - 1]};
  if (axes >= 2) {
    plane.rows = dims[axes - 2];
    plane.src_row = src_stride[axes - 2];
    plane.dst_row = dst_stride[axes - 2];
  }
  const int64_t strips = (plane.rows + kBlock - 1) / kBlock;
  auto body = [&](int64_t begin, int64_t end, int) {
    for (int64_t t = begin; t < end; ++t) {
      Plane p = plane;
      const int64_t row = t % strips * kBlock;
      p.rows = std::min(kBlock, plane.rows - row);
      int64_t s = src_offset + row * plane.src_row;
      int64_t d = dst_offset + row * plane.dst_row;
      int64_t rest = t / strips;
      for (int a = axes - 3; a >= 0; --a) {
        s += rest % dims[a] * src_stride[a];
        d += rest % dims[a] * dst_stride[a];
        rest /= dims[a];
      }
      copy_plane(p, bits, src, s, dst, d);
    }
  };
  if (bits < 8) return body(0, outer * strips, 0);  // neighbours share bytes
  const int64_t strip = std::max<int64_t>(1, std::min(kBlock, plane.rows) * plane.cols);
  parallel(outer * strips, std::max<int64_t>(1, kChunkElements / strip), body);
}

void copy_run(int bits, const void* src, int64_t src_offset, void* dst, int64_t dst_offset,
              int64_t count) {
  const std::uint8_t* s = static_cast<const std::uint8_t*>(src);
  std::uint8_t* d = static_cast<std::uint8_t*>(dst);
  int64_t i = 0;
  if (src_offset * bits % 8 == 0 && dst_offset * bits % 8 == 0) {
    const int64_t bytes = count * bits / 8;
    if (bytes > 0)
      std::memcpy(d + dst_offset * bits / 8, s + src_offset * bits / 8,
                  static_cast<std::size_t>(bytes));
    i = bytes * 8 / bits;
  }
  for (; i < count; ++i) set_packed(d, bits, dst_offset + i, packed_at(s, bits, src_offset + i));
}

void fill_run(int bits, const void* src, int64_t src_offset, void* dst, int64_t dst_offset,
              int64_t count) {
  if (bits < 8) {
    const unsigned v = packed_at(static_cast<const std::uint8_t*>(src), bits, src_offset);
    for (int64_t i = 0; i < count; ++i)
      set_packed(static_cast<std::uint8_t*>(dst), bits, dst_offset + i, v);
    return;
  }
  const Plane p{1, count, 0, 0, 0, 1};
  copy_plane(p, bits, src, src_offset, dst, dst_offset);
}

}  // namespace frit::kernels::ref
