// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace frit::exec {

/// What a list of times comes to. All in the unit of the times (milliseconds).
struct Summary {
  double min = 0, max = 0, mean = 0, median = 0;
  double variation = 0;  ///< standard deviation / mean
  double total = 0;
  std::vector<std::pair<double, double>> percentiles;  ///< percent, value
};

/// All zero for no values.
Summary summarize(std::vector<double> values, const std::vector<double>& percents);

/// "min = 1 ms, max = 2 ms, mean = …, median = …, percentile(90%) = …"
std::string summary_text(const Summary& summary);

}  // namespace frit::exec
