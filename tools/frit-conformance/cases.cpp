// SPDX-License-Identifier: Apache-2.0
#include "tools/frit-conformance/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "compiler/error.h"
#include "frit/builder.h"
#include "tools/common/compare.h"
#include "tools/common/session.h"
#include "tools/common/test_data.h"

namespace frit::conformance {
namespace {

namespace fs = std::filesystem;

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};

// The model, and which of its inputs each tensor of the data set is for.
struct Prepared {
  Network network;
  std::vector<std::string> inputs;
};

// An engine and the input shapes it was built for.
struct Built {
  InputShapes shapes;
  std::vector<std::string> inputs;
  RuntimeEngine engine;
};

Tolerance tolerance_of(const fs::path& folder, const RunOptions& options) {
  Tolerance tolerance;
  if (std::ifstream file(folder / "data.json"); file) {
    const auto json = nlohmann::json::parse(file);
    tolerance.rtol = json.value("rtol", tolerance.rtol);
    tolerance.atol = json.value("atol", tolerance.atol);
  }
  tolerance.rtol = options.rtol.value_or(tolerance.rtol);
  tolerance.atol = options.atol.value_or(tolerance.atol);
  return tolerance;
}

Error as_error(const BuildError& error) {
  return {error.code, error.message, error.node};
}

Network parse(const fs::path& model, const ParseOptions& options) {
  Expected<Network> network = Network::parse_file(model.string(), options);
  if (!network) throw as_error(network.error());
  return std::move(*network);
}

InputShapes shapes_for(const std::vector<std::string>& inputs, const tools::TestSet& set) {
  InputShapes shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i) shapes[inputs[i]] = set.inputs[i].tensor.dims();
  return shapes;
}

std::vector<std::string> names_of(const std::vector<IoDesc>& descs) {
  std::vector<std::string> names;
  for (const IoDesc& desc : descs) names.push_back(desc.name);
  return names;
}

// True if the files say which inputs they are for: all have names, and no name twice.
bool named(const std::vector<std::string>& names) {
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  return std::ranges::find(sorted, "") == sorted.end() &&
         std::ranges::adjacent_find(sorted) == sorted.end();
}

// Parses the model for the shapes of the set. Tensors are matched by name where their names are
// those of the model's inputs, else by position; some files hold the names that a tensor had in
// another model.
Prepared prepare(const fs::path& model, const tools::TestSet& set) {
  std::vector<std::string> names;
  for (const importer::NamedTensor& input : set.inputs) names.push_back(input.name);
  ParseOptions open;
  open.default_dims_to_one = false;
  std::optional<Network> first;
  try {
    first = parse(model, open);
  } catch (const Error&) {
    // The model may need the shapes of its data to be read at all.
    if (!named(names)) throw;
    ParseOptions options;
    options.shapes = shapes_for(names, set);
    return {parse(model, options), names};
  }
  const std::vector<IoDesc> inputs = first->inputs();
  const std::vector<std::string> order = names_of(inputs);
  const bool by_name = named(names) && std::ranges::all_of(order, [&](const std::string& name) {
                         return std::ranges::find(names, name) != names.end();
                       });
  if (!by_name && order.size() != names.size())
    fail(Code::shape_mismatch, "the model has {} inputs, '{}' has {}", order.size(),
         set.folder.filename().string(), names.size());
  const std::vector<std::string>& chosen = by_name ? names : order;
  ParseOptions options;
  options.shapes = shapes_for(chosen, set);
  const bool fits =
      chosen.size() == inputs.size() && std::ranges::all_of(inputs, [&](const IoDesc& input) {
        return options.shapes.at(input.name) == input.dims;
      });
  if (fits) return {std::move(*first), chosen};
  return {parse(model, options), chosen};
}

void build(const fs::path& model, const tools::TestSet& set, const RunOptions& options,
           Built& built) {
  const Prepared prepared = prepare(model, set);
  BuildConfig config;
  config.backend = options.backend;
  config.module_path = options.module_path;
  config.verify = Verify::off;
  config.log_level = LogLevel::error;
  Expected<EngineImage> image = Builder().build(prepared.network, config);
  if (!image) throw as_error(image.error());
  built.inputs = prepared.inputs;
  built.shapes = shapes_for(built.inputs, set);
  RuntimeEngine::Options load;
  load.module_dir = options.module_path.empty() ? nullptr : options.module_path.c_str();
  tools::require(built.engine.load(image->bytes, load), "loading the engine");
}

void run_set(const fs::path& model, const tools::TestSet& set, const RunOptions& options,
             const Tolerance& tolerance, Built& built) {
  const bool same = built.engine && built.inputs.size() == set.inputs.size() &&
                    built.shapes == shapes_for(built.inputs, set);
  if (!same) build(model, set, options, built);
  tools::Session session(built.engine);
  for (std::size_t i = 0; i < set.inputs.size(); ++i)
    session.set_input(built.inputs[i], set.inputs[i].tensor);
  session.run();
  std::vector<const tools::Bound*> outputs;
  for (const tools::Bound& bound : session.bindings())
    if (!bound.is_input) outputs.push_back(&bound);
  if (outputs.size() != set.outputs.size())
    fail(Code::shape_mismatch, "the engine has {} outputs, '{}' has {}", outputs.size(),
         set.folder.filename().string(), set.outputs.size());
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const tools::Difference difference =
        tools::compare(outputs[k]->tensor, set.outputs[k].tensor, tolerance.rtol, tolerance.atol);
    if (!difference.passed)
      fail(Code::verification_failed, "output '{}': {}", outputs[k]->name, difference.reason);
  }
}

void run_or_throw(const Case& the_case, const RunOptions& options, Result& result) {
  const Tolerance tolerance = tolerance_of(the_case.folder, options);
  std::vector<fs::path> sets;
  try {
    sets = tools::find_test_sets(the_case.folder);
  } catch (const Error& error) {
    result = {Outcome::skipped, error.message()};
    return;
  }
  Built built;
  for (const fs::path& folder : sets)
    run_set(the_case.folder / "model.onnx", tools::read_test_set(folder), options, tolerance,
            built);
}

std::string one_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  // A list's heading says little; what it lists first does.
  if (line.ends_with(':') && line.size() + 1 < text.size()) {
    const std::size_t start = text.find_first_not_of(" \n", line.size());
    if (start != std::string::npos)
      line += " " + text.substr(start, text.find('\n', start) - start);
  }
  return line;
}

}  // namespace

std::vector<Case> find_cases(const fs::path& root) {
  if (!fs::is_directory(root))
    fail(Code::not_found, "'{}' is not a folder; give one with case folders below it",
         root.string());
  std::vector<Case> cases;
  const auto add = [&](const fs::path& folder) {
    if (!fs::is_regular_file(folder / "model.onnx")) return;
    std::string path = folder.lexically_relative(root).generic_string();
    if (path == ".") path = fs::absolute(root).lexically_normal().filename().string();
    cases.push_back({path, folder});
  };
  add(root);
  const auto flags = fs::directory_options::skip_permission_denied;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root, flags))
    if (entry.is_directory()) add(entry.path());
  std::ranges::sort(cases, {}, &Case::path);
  return cases;
}

Result run_case(const Case& the_case, const RunOptions& options) noexcept {
  Result result;
  const auto start = std::chrono::steady_clock::now();
  try {
    run_or_throw(the_case, options, result);
  } catch (const Error& error) {
    result = {Outcome::failed,
              fmt::format("{}: {}", code_name(error.code()), one_line(error.message()))};
    if (!error.origin().empty())
      result.reason += fmt::format(" (node '{}')", one_line(error.origin()));
  } catch (const std::exception& error) {
    result = {Outcome::failed, one_line(error.what())};
  } catch (...) {
    result = {Outcome::failed, "unknown exception"};
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace frit::conformance
