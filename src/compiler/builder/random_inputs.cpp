// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_set>

#include "base/dtypes.h"
#include "compiler/builder/verify.h"
#include "compiler/ops/schema.h"
#include "kernels/common/scalar.h"

namespace frit::builder {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1.0p-53; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

// Smallest dim that values derived from `value` by movement and conversion index into.
std::int64_t index_limit(const ir::Value& value) {
  std::int64_t limit = 2;
  bool found = false;
  std::vector<const ir::Value*> pending{&value};
  std::unordered_set<const ir::Value*> seen{&value};
  const auto meet = [&](const ir::Dim& dim) {
    if (!dim.is_const()) return;
    limit = found ? std::min(limit, dim.value()) : dim.value();
    found = true;
  };
  while (!pending.empty()) {
    const ir::Value* v = pending.back();
    pending.pop_back();
    for (const ir::Use& use : v->uses()) {
      const ir::Node& node = *use.node;
      const bool indexes = use.operand == 1;
      if (indexes && (node.is(ops::gather) || node.is(ops::gather_elements))) {
        const auto axis = static_cast<std::size_t>(node.attrs.i("axis"));
        meet(node.operand(0)->dims()[axis]);
      } else if (indexes && node.is(ops::gather_nd)) {
        for (const ir::Dim& d : node.operand(0)->dims()) meet(d);
      } else if (use.operand == 0 && (node.schema().has(ir::kMovement) || node.is(ops::cast))) {
        if (seen.insert(node.result()).second) pending.push_back(node.result());
      }
    }
  }
  return std::max<std::int64_t>(limit, 1);
}

}  // namespace

std::vector<ir::Tensor> random_inputs(const ir::Graph& graph, std::uint64_t seed) {
  std::vector<ir::Tensor> inputs;
  for (int i = 0; i < graph.input_count(); ++i) {
    const ir::Value& value = *graph.input(i);
    Random random(seed * 1000003u + static_cast<std::uint64_t>(i));
    ir::Tensor tensor(value.dtype(), ir::static_dims(value.dims()));
    const bool real = is_float(value.dtype());
    const auto limit = real ? 0 : static_cast<std::uint64_t>(index_limit(value));
    for (std::int64_t k = 0; k < tensor.count(); ++k) {
      const double x = real ? random.normal()
                       : value.dtype() == DType::boolean ? static_cast<double>(random.next() & 1)
                                                         : static_cast<double>(random.next() % limit);
      kernels::store_f64(value.dtype(), tensor.mutable_data(), k, x);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace frit::builder
