// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_set>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/ops/schema.h"
#include "kernels/common/scalar.h"

namespace frit::ir {
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
std::int64_t index_limit(const Value& value) {
  std::int64_t limit = 2;
  bool found = false;
  std::vector<const Value*> pending{&value};
  std::unordered_set<const Value*> seen{&value};
  const auto meet = [&](const Dim& dim) {
    if (!dim.is_const()) return;
    limit = found ? std::min(limit, dim.value()) : dim.value();
    found = true;
  };
  while (!pending.empty()) {
    const Value* v = pending.back();
    pending.pop_back();
    for (const Use& use : v->uses()) {
      const Node& node = *use.node;
      const bool indexes = use.operand == 1;
      if (indexes && (node.is(ops::gather) || node.is(ops::gather_elements))) {
        const auto axis = static_cast<std::size_t>(node.attrs.i("axis"));
        meet(node.operand(0)->dims()[axis]);
      } else if (indexes && node.is(ops::gather_nd)) {
        for (const Dim& d : node.operand(0)->dims()) meet(d);
      } else if (use.operand == 0 && (node.schema().has(kMovement) || node.is(ops::cast))) {
        if (seen.insert(node.result()).second) pending.push_back(node.result());
      }
    }
  }
  return std::max<std::int64_t>(limit, 1);
}

// Every symbol of the graph as a number.
std::map<std::string, std::int64_t> choose_symbols(const Graph& graph,
                                                   const SampleOptions& options) {
  std::map<std::string, std::int64_t> values = options.symbols;
  for (const auto& [name, bounds] : graph.symbols().list())
    values.try_emplace(name, std::clamp<std::int64_t>(2, bounds.lo, bounds.hi));
  return values;
}

bool equal_reals(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

std::vector<Tensor> sample_inputs(const Graph& graph, const SampleOptions& options) {
  const auto symbols = choose_symbols(graph, options);
  std::vector<Tensor> inputs;
  for (int i = 0; i < graph.input_count(); ++i) {
    const Value& value = *graph.input(i);
    Random random(options.seed * 1000003u + static_cast<std::uint64_t>(i));
    std::vector<std::int64_t> dims;
    for (const Dim& d : value.dims()) {
      const Dim number = graph.symbols().bind(d, symbols);
      if (!number.is_const())
        fail(Code::invalid_argument, "input '{}' has the size {}, which is not known", value.name,
             d.to_string());
      dims.push_back(number.value());
    }
    Tensor tensor(value.dtype(), std::move(dims));
    const bool real = is_float(value.dtype());
    const auto limit = real ? 0 : static_cast<std::uint64_t>(index_limit(value));
    const auto range = options.ranges.find(value.name);
    for (std::int64_t k = 0; k < tensor.count(); ++k) {
      double x = 0;
      if (range != options.ranges.end()) {
        const auto [lo, hi] = range->second;
        x = real ? lo + (hi - lo) * random.uniform()
                 : lo + std::floor((hi - lo + 1) * random.uniform());
      } else if (real) {
        x = random.normal();
      } else {
        x = static_cast<double>(random.next() % (value.dtype() == DType::boolean ? 2 : limit));
      }
      kernels::store_f64(value.dtype(), tensor.mutable_data(), k, x);
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

std::vector<Tensor> random_inputs(const Graph& graph, std::uint64_t seed) {
  SampleOptions options;
  options.seed = seed;
  return sample_inputs(graph, options);
}

Difference compare(const Tensor& found, const Tensor& expected, double rtol, double atol) {
  Difference worst;
  worst.comparable = found.dtype() == expected.dtype() && found.dims() == expected.dims();
  if (!worst.comparable) return worst;
  if (!is_float(expected.dtype())) {
    if (found.same(expected)) return worst;
    rtol = atol = 0;
    if (!is_int(expected.dtype()) && expected.dtype() != DType::boolean) {
      worst.relative = std::numeric_limits<double>::infinity();
      worst.at = 0;
      return worst;
    }
  }
  for (std::int64_t i = 0; i < expected.count(); ++i) {
    const double a = found.f64_at(i), b = expected.f64_at(i);
    if (equal_reals(a, b)) continue;
    const double difference = std::abs(a - b);
    double relative = difference / (atol + rtol * std::abs(b));
    if (!std::isfinite(difference)) relative = std::numeric_limits<double>::infinity();
    if (difference > worst.absolute || !std::isfinite(difference)) worst.absolute = difference;
    if (relative > worst.relative || worst.at < 0) {
      worst.relative = relative;
      worst.at = i;
    }
  }
  return worst;
}

double default_tolerance(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 1e-10;
    case DType::f32:
      return 1e-4;
    case DType::f16:
      return 4e-3;
    case DType::bf16:
      return 3e-2;
    default:
      return is_float(dtype) ? 0.25 : 0;
  }
}

std::string compare_results(std::span<const Tensor> found, std::span<const Tensor> expected) {
  if (found.size() != expected.size())
    return fmt::format("{} results where {} are expected\n", found.size(), expected.size());
  std::string text;
  for (std::size_t r = 0; r < expected.size(); ++r) {
    const Tensor &f = found[r], &e = expected[r];
    const double tolerance = default_tolerance(e.dtype());
    const Difference d = compare(f, e, tolerance, tolerance);
    if (!d.comparable) {
      text += fmt::format("result {} is {}, expected {}\n", r,
                          to_string(TensorType{f.dtype(), make_shape(f.dims())}),
                          to_string(TensorType{e.dtype(), make_shape(e.dims())}));
    } else if (d.at >= 0 && !(d.relative <= 1)) {
      text +=
          fmt::format("result {} differs by up to {:.3g}; element {} is {:.9g}, expected {:.9g}\n",
                      r, d.absolute, d.at, f.f64_at(d.at), e.f64_at(d.at));
    }
  }
  return text;
}

}  // namespace frit::ir
