// SPDX-License-Identifier: Apache-2.0
// Random operands for a graph and comparison of results: how tests and verification run it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace frit::ir {

/// What inputs are filled with.
struct SampleOptions {
  std::uint64_t seed = 1;
  /// Inclusive range of an input's elements, by input name; reals are drawn evenly from it.
  std::map<std::string, std::pair<double, double>> ranges;
  /// Numbers for symbolic dims, by symbol; others take the least size of 2 and more in their
  /// bounds.
  std::map<std::string, std::int64_t> symbols;
};

/// One tensor per input, the same for equal seeds on every machine. Reals are normal, integers lie
/// below the smallest dim that they index. Throws Error(invalid_argument) if dims stay unknown.
std::vector<Tensor> sample_inputs(const Graph& graph, const SampleOptions& options);
/// The same with nothing but a seed.
std::vector<Tensor> random_inputs(const Graph& graph, std::uint64_t seed);

/// Largest differences between two tensors.
struct Difference {
  bool comparable = true;  ///< same type and dims
  double absolute = 0;
  /// Largest |a - b| / (atol + rtol * |b|): above 1 is a failure. NaN equals NaN.
  double relative = 0;
  std::int64_t at = -1;  ///< element of the largest relative difference
};
/// Compares `found` with `expected` under tolerances; other types than reals must be equal.
Difference compare(const Tensor& found, const Tensor& expected, double rtol, double atol);
/// Relative and absolute tolerance that fits a type: 1e-4 for f32, coarser below, finer for f64.
double default_tolerance(DType dtype);
/// One line on every result that differs by more than default_tolerance, "" if all agree.
std::string compare_results(std::span<const Tensor> found, std::span<const Tensor> expected);

}  // namespace frit::ir
