// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/shape_operand.h"

namespace frit::kernels::ref {

bool check_index_vector(Checker& c, int i, std::int64_t low, std::int64_t high) {
  const Dims d = c.dims_in(i);
  return c.require(c.in(i).dtype == DType::i32 || c.in(i).dtype == DType::i64,
                   "operand %d has type %s; expected i64 or i32", i, dtype_name(c.in(i).dtype)) &&
         c.require(d.rank == 1, "operand %d has rank %d; expected a vector", i, d.rank) &&
         c.require(d[0] >= low && d[0] <= high,
                   "operand %d has %lld elements; expected %lld to %lld", i,
                   static_cast<long long>(d[0]), static_cast<long long>(low),
                   static_cast<long long>(high));
}

IndexVector index_vector(Checker& c, int i, std::int64_t low, std::int64_t high) {
  if (!c.in(i).present() || !check_index_vector(c, i, low, high)) return {};
  return {c.in(i).dtype, c.dims_in(i)[0]};
}

const char* read_axes(const IndexVector& v, const void* data, int count, int rank, int* axes) {
  bool seen[kMaxRank] = {};
  for (int i = 0; i < count; ++i) {
    std::int64_t axis = i;
    if (v.present()) {
      axis = v.at(data, i);
      if (axis < 0) axis += rank;
    }
    if (axis < 0 || axis >= rank)
      return "the axes operand names an axis outside the tensor; check the axes the model computes";
    if (seen[axis])
      return "the axes operand names an axis twice; check the axes the model computes";
    seen[axis] = true;
    axes[i] = static_cast<int>(axis);
  }
  return nullptr;
}

}  // namespace frit::kernels::ref
