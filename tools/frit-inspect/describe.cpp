// SPDX-License-Identifier: Apache-2.0
#include "tools/frit-inspect/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/dtypes.h"

namespace frit::inspect {
namespace {

void add_steps(const std::vector<plan::Step>& steps, int depth, int block,
               std::vector<NestedStep>& list) {
  for (const plan::Step& step : steps) {
    list.push_back({&step, depth, block});
    for (std::size_t b = 0; b < step.blocks.size(); ++b)
      add_steps(step.blocks[b].steps, depth + 1, static_cast<int>(b), list);
  }
}

}  // namespace

std::string dim_text(const plan::Plan& plan, std::int64_t dim) {
  if (!plan::is_symbol_dim(dim)) return std::to_string(dim);
  const plan::Symbol& symbol = plan.symbols[static_cast<std::size_t>(plan::symbol_of_dim(dim))];
  return symbol.name.empty() ? fmt::format("s{}", plan::symbol_of_dim(dim)) : symbol.name;
}

std::string type_text(const plan::Plan& plan, DType dtype, const std::vector<std::int64_t>& dims) {
  std::string text = dtype_name(dtype);
  text += '[';
  for (std::size_t d = 0; d < dims.size(); ++d)
    text += (d > 0 ? "," : "") + dim_text(plan, dims[d]);
  return text + ']';
}

std::string place_text(const plan::Plan& plan, const plan::Tensor& tensor) {
  const std::string offset = tensor.offset > 0 ? fmt::format("+{}", tensor.offset) : "";
  switch (tensor.location) {
    case plan::Location::none:
      return "none";
    case plan::Location::arena:
      return fmt::format("arena+{}", tensor.offset);
    case plan::Location::constant:
      return fmt::format("constant {}{}", tensor.index, offset);
    case plan::Location::binding:
      return fmt::format("binding {}{}", plan.bindings[static_cast<std::size_t>(tensor.index)].name,
                         offset);
  }
  return "unknown";
}

std::string attr_text(const plan::Attr& attr) {
  switch (attr.kind) {
    case plan::Attr::Kind::integer:
      return std::to_string(attr.i);
    case plan::Attr::Kind::real:
      return fmt::format("{}", attr.f);
    case plan::Attr::Kind::text:
      return attr.s;
    case plan::Attr::Kind::integers:
      return fmt::format("[{}]", fmt::join(attr.ints, ","));
    case plan::Attr::Kind::reals:
      return fmt::format("[{}]", fmt::join(attr.floats, ","));
  }
  return "";
}

std::vector<NestedStep> nested_steps(const plan::Plan& plan) {
  std::vector<NestedStep> list;
  add_steps(plan.steps, 0, 0, list);
  return list;
}

std::vector<Region> arena_regions(const plan::Plan& plan) {
  std::vector<Region> of_tensor(plan.tensors.size());
  std::vector<Region> regions;
  const auto use = [&](std::int32_t id, int step) {
    if (id == plan::kNone) return;
    const auto alias = [&](std::int32_t t) {
      return plan.tensors[static_cast<std::size_t>(t)].alias_of;
    };
    while (alias(id) != plan::kNone) id = alias(id);
    const plan::Tensor& root = plan.tensors[static_cast<std::size_t>(id)];
    if (root.location != plan::Location::arena) return;
    Region& region = of_tensor[static_cast<std::size_t>(id)];
    if (region.tensor == plan::kNone) region = {root.offset, root.bytes, id, step, step};
    region.last = step;
  };
  int main_step = -1;
  for (const NestedStep& nested : nested_steps(plan)) {
    if (nested.depth == 0) ++main_step;
    for (const std::int32_t id : nested.step->inputs) use(id, main_step);
    for (const std::int32_t id : nested.step->outputs) use(id, main_step);
    if (nested.step->workspace_bytes > 0)
      regions.push_back({nested.step->workspace_offset, nested.step->workspace_bytes, plan::kNone,
                         main_step, main_step});
  }
  for (const Region& region : of_tensor)
    if (region.tensor != plan::kNone) regions.push_back(region);
  std::ranges::sort(regions, {}, [](const Region& r) { return std::tuple(r.offset, r.first); });
  return regions;
}

std::uint64_t distinct_weight_bytes(const plan::Plan& plan) {
  std::set<std::uint64_t> seen;
  std::uint64_t bytes = 0;
  for (const plan::Constant& constant : plan.constants)
    if (seen.insert(constant.offset).second) bytes += constant.bytes;
  return bytes;
}

}  // namespace frit::inspect
