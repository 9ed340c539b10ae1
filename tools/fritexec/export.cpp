// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/export.h"

#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "tools/fritexec/shapes.h"

namespace frit::exec {
namespace {

using Json = nlohmann::ordered_json;

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << '\n';
  file.close();
  if (!file)
    fail(Code::io_error, "cannot write '{}'; check that its folder exists and has room", path);
}

// Names come from models and may hold any bytes.
std::string dump(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
void append(std::string& text, T value, const std::string& not_finite) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value) && !not_finite.empty()) {
      text += not_finite;
      return;
    }
  }
  fmt::format_to(std::back_inserter(text), "{}", value);
}

}  // namespace

std::string values_text(const ir::Tensor& tensor, const std::string& separator,
                        const std::string& not_finite) {
  const DType type = tensor.dtype();
  if (type == DType::c64 || type == DType::c128) {
    const ir::Tensor parts(type == DType::c64 ? DType::f32 : DType::f64, {tensor.count(), 2},
                           tensor.data(), nullptr);
    return values_text(parts, separator, not_finite);
  }
  std::string text;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (i > 0) text += separator;
    if (type == DType::u64)
      append(text, tensor.as<std::uint64_t>()[static_cast<std::size_t>(i)], not_finite);
    else if (is_int(type) || type == DType::boolean)
      append(text, tensor.i64_at(i), not_finite);
    else if (type == DType::f64)
      append(text, tensor.f64_at(i), not_finite);
    else
      append(text, static_cast<float>(tensor.f64_at(i)), not_finite);
  }
  return text;
}

void export_times(const std::string& path, const TimedRun& run) {
  Json list = Json::array();
  for (const Query& q : run.queries)
    list.push_back({{"startEnqMs", q.start},
                    {"endEnqMs", q.end},
                    {"startH2dMs", q.start},
                    {"endH2dMs", q.start},
                    {"startComputeMs", q.start},
                    {"endComputeMs", q.end},
                    {"startD2hMs", q.end},
                    {"endD2hMs", q.end},
                    {"h2dMs", 0.0},
                    {"computeMs", q.end - q.start},
                    {"d2hMs", 0.0},
                    {"latencyMs", q.end - q.start}});
  write_text(path, dump(list));
}

void export_outputs(const std::string& path, const tools::Session& session) {
  std::string text = "[";
  for (const tools::Bound& bound : session.bindings()) {
    if (bound.is_input) continue;
    // The values are written without a JSON object for each, since there may be many millions.
    text +=
        fmt::format("{}\n {{\"name\": {}, \"dimensions\": \"{}\",\n  \"values\": [{}]}}",
                    text.size() > 1 ? "," : "", dump(Json(bound.name)),
                    fmt::join(bound.tensor.dims(), "x"), values_text(bound.tensor, ", ", "null"));
  }
  write_text(path, text + "\n]");
}

void export_profile(const std::string& path, const std::vector<StepTimes>& steps,
                    std::uint64_t count) {
  Json list = Json::array();
  list.push_back({{"count", count}});
  for (const StepTimes& step : steps)
    list.push_back({{"name", step.name},
                    {"timeMs", step.total_ms},
                    {"averageMs", step.average_ms},
                    {"medianMs", step.median_ms},
                    {"percentage", step.share}});
  write_text(path, dump(list));
}

void export_layers(const std::string& path, const RuntimeEngine& engine) {
  Json layers = Json::array(), bindings = Json::array();
  const frit_engine_info info = engine.info();
  for (int s = 0; s < info.step_count; ++s) {
    const frit_step_info step = engine.step(s);
    Json origins = Json::array();
    for (int o = 0; o < step.origin_count; ++o) origins.push_back(step.origins[o]);
    layers.push_back({{"Name", step.name},
                      {"LayerType", step.kind},
                      {"TacticName", step.kernel},
                      {"Module", step.module},
                      {"Origins", std::move(origins)}});
  }
  for (int b = 0; b < info.binding_count; ++b) {
    const BindingInfo binding = engine.binding(b);
    bindings.push_back(
        {{"Name", binding.name},
         {"Direction", binding.is_input ? "input" : "output"},
         {"Datatype", dtype_name(binding.dtype)},
         {"Dimensions", std::vector<std::int64_t>(binding.dims.begin(), binding.dims.end())}});
  }
  write_text(path, dump({{"Layers", std::move(layers)}, {"Bindings", std::move(bindings)}}));
}

}  // namespace frit::exec
