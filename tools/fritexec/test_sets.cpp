// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/test_sets.h"

#include <algorithm>
#include <map>

#include "compiler/error.h"
#include "tools/common/compare.h"
#include "tools/common/test_data.h"
#include "tools/fritexec/build.h"
#include "tools/fritexec/export.h"
#include "tools/fritexec/log.h"
#include "tools/fritexec/report.h"
#include "tools/fritexec/shapes.h"

namespace frit::exec {
namespace {

using tools::Difference;
using tools::TestSet;

// Names the tensors after `names`: as they are if all are among them, else by position.
void assign_names(std::vector<importer::NamedTensor>& tensors,
                  const std::vector<std::string>& names, const std::string& what) {
  const bool known = std::ranges::all_of(tensors, [&](const importer::NamedTensor& t) {
    return std::ranges::find(names, t.name) != names.end();
  });
  if (tensors.size() > names.size() || (!known && tensors.size() != names.size()))
    fail(Code::invalid_argument, "{}: the data has {}, the model {}", what, tensors.size(),
         names.size());
  if (known) return;
  for (std::size_t t = 0; t < tensors.size(); ++t) tensors[t].name = names[t];
}

std::vector<std::string> binding_names(const RuntimeEngine& engine, bool inputs) {
  std::vector<std::string> names;
  for (int b = 0; b < engine.binding_count(); ++b)
    if (engine.binding(b).is_input == inputs) names.emplace_back(engine.binding(b).name);
  return names;
}

const ir::Tensor& output_named(const tools::Session& session, const std::string& name) {
  const auto it = std::ranges::find_if(
      session.bindings(), [&](const tools::Bound& b) { return !b.is_input && b.name == name; });
  check(it != session.bindings().end(), "output '{}' vanished", name);
  return it->tensor;
}

// Largest errors of one output over the sets.
struct OutputError {
  double max_abs = 0, max_rel = 0;
  int failed = 0, sets = 0;
};

class TestRun {
 public:
  explicit TestRun(const Options& options) : options_(options) {
    for (const auto& folder : tools::find_test_sets(options.test_data))
      sets_.push_back(tools::read_test_set(folder));
  }

  bool run() {
    if (!options_.load_engine.empty()) {
      const RuntimeEngine engine = load_file(options_);
      std::vector<TestSet*> all;
      for (TestSet& set : sets_) all.push_back(&set);
      name_inputs(binding_names(engine, true));
      run_sets(engine, all);
    } else {
      build_and_run();
    }
    return report();
  }

 private:
  void name_inputs(const std::vector<std::string>& names) {
    for (TestSet& set : sets_) {
      const std::string what = "inputs of '" + set.folder.string() + "'";
      if (set.inputs.size() < names.size())
        fail(Code::not_found, "{}: the data has {}, the model {}; input_{}.pb is missing", what,
             set.inputs.size(), names.size(), set.inputs.size());
      assign_names(set.inputs, names, what);
    }
  }

  void build_and_run() {
    std::vector<std::string> names;
    for (const IoDesc& input : model_inputs(options_)) names.push_back(input.name);
    name_inputs(names);
    std::map<InputShapes, std::vector<TestSet*>> by_shapes;
    std::vector<InputShapes> order;
    for (TestSet& set : sets_) {
      InputShapes shapes;
      for (const importer::NamedTensor& t : set.inputs) shapes[t.name] = t.tensor.dims();
      auto& group = by_shapes[shapes];
      if (group.empty()) order.push_back(shapes);
      group.push_back(&set);
    }
    if (order.size() > 1 && !options_.save_engine.empty())
      log_warning(
          "The sets have {} different shapes; --saveEngine keeps the engine for those of "
          "the first set",
          order.size());
    for (const InputShapes& shapes : order) {
      const EngineImage image = build_engine(options_, shapes);
      if (&shapes == &order.front()) save_engine(options_, image);
      run_sets(load_image(options_, image), by_shapes[shapes]);
    }
  }

  void run_sets(const RuntimeEngine& engine, const std::vector<TestSet*>& sets) {
    if (options_.dump_layers) report_layers(engine);
    if (!options_.export_layers.empty()) export_layers(options_.export_layers, engine);
    tools::Session session(engine);
    const std::vector<std::string> outputs = binding_names(engine, false);
    for (TestSet* set : sets) {
      const std::string name = set->folder.filename().string();
      for (const importer::NamedTensor& t : set->inputs) session.set_input(t.name, t.tensor);
      session.run();
      save_outputs(options_, session, name);
      if (options_.dump_output) report_outputs(session);
      assign_names(set->outputs, outputs, "outputs of '" + set->folder.string() + "'");
      for (const importer::NamedTensor& t : set->outputs)
        compare_output(name, t, output_named(session, t.name));
    }
  }

  void compare_output(const std::string& set, const importer::NamedTensor& expected,
                      const ir::Tensor& found) {
    const Difference d = tools::compare(found, expected.tensor, options_.rtol, options_.atol);
    OutputError& error = errors_[expected.name];
    error.max_abs = std::max(error.max_abs, d.max_abs);
    error.max_rel = std::max(error.max_rel, d.max_rel);
    ++error.sets;
    if (d.passed) return;
    ++error.failed;
    log_error("{}: output '{}': {}", set, expected.name, d.reason);
  }

  bool report() const {
    log_section("Test data");
    bool passed = true;
    for (const auto& [name, error] : errors_) {
      log_info("{}: largest error {:.3g} absolute, {:.3g} relative, over {} sets: {}", name,
               error.max_abs, error.max_rel, error.sets,
               error.failed == 0 ? "passed" : fmt::format("{} FAILED", error.failed));
      passed = passed && error.failed == 0;
    }
    if (errors_.empty()) {
      // Sets without answers serve --saveOutputs; a comparison of nothing is no pass.
      if (options_.save_outputs.empty())
        log_error("The sets hold no expected outputs (output_0.pb, ...): nothing was compared");
      else
        log_warning("The sets hold no expected outputs; nothing was compared");
      return !options_.save_outputs.empty();
    }
    log_info("{} sets compared with rtol {:g}, atol {:g}: {}", sets_.size(), options_.rtol,
             options_.atol, passed ? "passed" : "FAILED");
    return passed;
  }

  const Options& options_;
  std::vector<TestSet> sets_;
  std::map<std::string, OutputError> errors_;
};

}  // namespace

bool run_test_sets(const Options& options) {
  return TestRun(options).run();
}

void save_outputs(const Options& options, const tools::Session& session, const std::string& set) {
  if (options.save_outputs.empty()) return;
  std::vector<importer::NamedTensor> outputs;
  for (const tools::Bound& bound : session.bindings())
    if (!bound.is_input) outputs.push_back({bound.name, bound.tensor});
  const std::filesystem::path folder = std::filesystem::path(options.save_outputs) / set;
  tools::write_outputs(folder, outputs);
  log_info("Wrote {} outputs to {}", outputs.size(), folder.string());
}

}  // namespace frit::exec
