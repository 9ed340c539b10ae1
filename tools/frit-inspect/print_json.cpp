// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "tools/frit-inspect/describe.h"

namespace frit::inspect {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities and NaN: those become text.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{}", value);
}

Json dims_json(const plan::Plan& plan, const std::vector<std::int64_t>& dims) {
  Json list = Json::array();
  for (const std::int64_t dim : dims) {
    if (plan::is_symbol_dim(dim))
      list.push_back(dim_text(plan, dim));
    else
      list.push_back(dim);
  }
  return list;
}

Json tensor_json(const plan::Plan& plan, std::int32_t id) {
  if (id == plan::kNone) return nullptr;
  const plan::Tensor& tensor = plan.tensors[static_cast<std::size_t>(id)];
  Json json = {{"tensor", id},
               {"dtype", dtype_name(tensor.dtype)},
               {"dims", dims_json(plan, tensor.dims)},
               {"place", place_text(plan, tensor)},
               {"bytes", tensor.bytes}};
  if (!tensor.strides.empty()) json["strides"] = tensor.strides;
  if (tensor.alias_of != plan::kNone) json["alias_of"] = tensor.alias_of;
  return json;
}

Json bindings_json(const plan::Plan& plan) {
  Json list = Json::array();
  for (const plan::Binding& binding : plan.bindings)
    list.push_back({{"name", binding.name},
                    {"input", binding.is_input},
                    {"dtype", dtype_name(binding.dtype)},
                    {"dims", dims_json(plan, binding.dims)},
                    {"shape", binding.is_shape},
                    {"tensor", binding.tensor}});
  return list;
}

Json attrs_json(const plan::Step& step) {
  Json json = Json::object();
  for (const plan::Attr& attr : step.attrs) {
    switch (attr.kind) {
      case plan::Attr::Kind::integer:
        json[attr.name] = attr.i;
        break;
      case plan::Attr::Kind::integers:
        json[attr.name] = attr.ints;
        break;
      case plan::Attr::Kind::real:
        json[attr.name] = number(attr.f);
        break;
      case plan::Attr::Kind::reals: {
        Json list = Json::array();
        for (const double value : attr.floats) list.push_back(number(value));
        json[attr.name] = std::move(list);
        break;
      }
      default:
        json[attr.name] = attr_text(attr);
    }
  }
  return json;
}

Json steps_json(const plan::Plan& plan, const std::vector<plan::Step>& steps) {
  Json list = Json::array();
  for (const plan::Step& step : steps) {
    Json json = {{"name", step.name},     {"kind", plan::step_kind_name(step.kind)},
                 {"module", step.module}, {"kernel", step.kernel},
                 {"origin", step.origin}, {"attrs", attrs_json(step)}};
    json["inputs"] = Json::array();
    for (const std::int32_t id : step.inputs) json["inputs"].push_back(tensor_json(plan, id));
    json["outputs"] = Json::array();
    for (const std::int32_t id : step.outputs) json["outputs"].push_back(tensor_json(plan, id));
    if (step.workspace_bytes > 0)
      json["workspace"] = {{"offset", step.workspace_offset}, {"bytes", step.workspace_bytes}};
    for (const plan::InPlace& pair : step.in_place)
      json["in_place"].push_back({{"input", pair.input}, {"output", pair.output}});
    for (const plan::Block& block : step.blocks)
      json["blocks"].push_back(steps_json(plan, block.steps));
    list.push_back(std::move(json));
  }
  return list;
}

Json memory_json(const plan::Plan& plan) {
  Json regions = Json::array();
  for (const Region& region : arena_regions(plan)) {
    Json json = {{"offset", region.offset},
                 {"bytes", region.bytes},
                 {"first_step", region.first},
                 {"last_step", region.last}};
    json["tensor"] = region.tensor == plan::kNone ? Json(nullptr) : Json(region.tensor);
    regions.push_back(std::move(json));
  }
  Json constants = Json::array();
  for (const plan::Constant& constant : plan.constants)
    constants.push_back({{"name", constant.name},
                         {"dtype", dtype_name(constant.dtype)},
                         {"offset", constant.offset},
                         {"bytes", constant.bytes},
                         {"hash", fmt::format("{:016x}", constant.hash)}});
  return {{"arena_bytes", plan.arena_bytes},
          {"arena_lower_bound", plan.arena_lower_bound},
          {"weights_bytes", distinct_weight_bytes(plan)},
          {"arena", std::move(regions)},
          {"constants", std::move(constants)}};
}

Json modules_json(const plan::Plan& plan) {
  Json list = Json::array();
  for (const plan::ModuleRequirement& module : plan.modules)
    list.push_back({{"name", module.name},
                    {"abi_version", module.abi_version},
                    {"fingerprint", module.fingerprint}});
  return list;
}

Json verification_json(const plan::Plan& plan) {
  Json list = Json::array();
  for (const plan::Verification& row : plan.verification)
    list.push_back({{"output", row.output},
                    {"passed", row.passed},
                    {"max_abs_error", number(row.max_abs_error)},
                    {"max_rel_error", number(row.max_rel_error)},
                    {"atol", row.atol},
                    {"rtol", row.rtol},
                    {"covered", row.covered}});
  return list;
}

}  // namespace

std::string print_json(const plan::Contents& engine, const Sections& sections) {
  const plan::Plan& plan = engine.plan;
  Json json = {{"name", plan.name},
               {"producer", plan.producer},
               {"format", fmt::format("{}.{}", engine.format_major, engine.format_minor)},
               {"fingerprint", fmt::format("{:016x}", engine.fingerprint)},
               {"backend", plan.backend},
               {"target", plan.target},
               {"build_info", plan.build_info}};
  if (sections.bindings) json["bindings"] = bindings_json(plan);
  if (sections.modules) json["modules"] = modules_json(plan);
  if (sections.steps) json["steps"] = steps_json(plan, plan.steps);
  if (sections.memory) json["memory"] = memory_json(plan);
  if (sections.verification) json["verification"] = verification_json(plan);
  // Names come from models; bytes that are no UTF-8 are replaced rather than refused.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace frit::inspect
