// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/ref/reduce_plan.h"

namespace frit::kernels::ref {

using std::int64_t;

ReducePlan::ReducePlan(const Dims& x, const bool* drop) {
  int64_t dims[kMaxRank];
  int64_t strides[kMaxRank];
  bool drops[kMaxRank];
  int axes = 0;
  for (int a = 0; a < x.rank; ++a) {
    (drop[a] ? members : results) *= x[a];
    if (x[a] == 1) continue;
    if (axes > 0 && drops[axes - 1] == drop[a]) {
      dims[axes - 1] *= x[a];
      strides[axes - 1] = x.stride(a);
      continue;
    }
    dims[axes] = x[a];
    strides[axes] = x.stride(a);
    drops[axes++] = drop[a];
  }
  if (axes == 0) return;
  inner = dims[axes - 1];
  inner_reduced = drops[axes - 1];
  for (int a = 0; a < axes - 1; ++a) {
    if (drops[a]) {
      reduced_dim[reduced] = dims[a];
      reduced_stride[reduced++] = strides[a];
    } else {
      kept_dim[kept] = dims[a];
      kept_stride[kept++] = strides[a];
    }
  }
}

double sum_of(const double* x, int64_t n) {
  double part[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int j = 0; j < 8; ++j) part[j] += x[i + j];
  for (; i < n; ++i) part[i % 8] += x[i];
  return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

}  // namespace frit::kernels::ref
