// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace frit::exec {

Summary summarize(std::vector<double> values, const std::vector<double>& percents) {
  Summary s;
  for (const double percent : percents) s.percentiles.emplace_back(percent, 0.0);
  if (values.empty()) return s;
  std::ranges::sort(values);
  const std::size_t n = values.size();
  const double count = static_cast<double>(n);
  for (const double v : values) s.total += v;
  s.min = values.front();
  s.max = values.back();
  s.mean = s.total / count;
  s.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  double squares = 0;
  for (const double v : values) squares += (v - s.mean) * (v - s.mean);
  if (s.mean > 0) s.variation = std::sqrt(squares / count) / s.mean;
  // The smallest value that at least that share of all values does not exceed.
  for (auto& [percent, value] : s.percentiles) {
    const double rank = std::ceil(percent / 100 * count);
    value = values[std::min(n - 1, static_cast<std::size_t>(std::max(rank - 1, 0.0)))];
  }
  return s;
}

std::string summary_text(const Summary& s) {
  std::string text =
      fmt::format("min = {:.6g} ms, max = {:.6g} ms, mean = {:.6g} ms, median = {:.6g} ms", s.min,
                  s.max, s.mean, s.median);
  for (const auto& [percent, value] : s.percentiles)
    text += fmt::format(", percentile({:g}%) = {:.6g} ms", percent, value);
  return text;
}

}  // namespace frit::exec
