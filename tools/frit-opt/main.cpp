// SPDX-License-Identifier: Apache-2.0
// frit-opt: runs passes on a graph in text form or on an ONNX model, and prints the result.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/mapped_file.h"
#include "compiler/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/sample.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/onnx/importer.h"
#include "compiler/passes/pass.h"

namespace {

using namespace frit;

// Constants of more elements are elided on the terminal.
constexpr std::int64_t kShownElements = 64;

struct Options {
  std::string input;
  std::string output;
  std::vector<std::string> passes;
  std::vector<std::string> symbols;
  std::vector<std::string> ranges;
  std::uint64_t seed = 0;
  bool evaluate_check = false;
  bool pipeline = false;
  bool print_after_all = false;
  bool verify_each = false;
  bool time = false;
  bool list_passes = false;
  bool quiet = false;
};

// "NAME=VALUE" in two halves.
std::pair<std::string, std::string> split(const std::string& text, const char* option) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0)
    fail(Code::invalid_argument, "{} expects NAME=VALUE, found '{}'", option, text);
  return {text.substr(0, at), text.substr(at + 1)};
}

template <class T>
T number(const std::string& text, const char* option) {
  T value{};
  if (!CLI::detail::lexical_cast(text, value))
    fail(Code::invalid_argument, "{} expects a number, found '{}'", option, text);
  return value;
}

std::map<std::string, std::int64_t> symbol_values(const Options& options) {
  std::map<std::string, std::int64_t> values;
  for (const std::string& text : options.symbols) {
    const auto [name, value] = split(text, "--symbol");
    values[name] = number<std::int64_t>(value, "--symbol");
  }
  return values;
}

void load(const Options& options, ir::Graph& graph) {
  if (!options.input.ends_with(".onnx")) {
    auto file = MappedFile::open(options.input.c_str());
    if (!file.ok()) throw Error(file.status().code(), file.status().message());
    const auto bytes = file->bytes();
    try {
      ir::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, graph);
    } catch (Error& error) {
      error.add_context(options.input);
      throw;
    }
    return;
  }
  importer::ImportOptions import;
  import.symbols = symbol_values(options);
  import.warn = [](const std::string& text) { std::fprintf(stderr, "warning: %s\n", text.c_str());
};
importer::ImportReport report;
importer::import_file(options.input, import, graph, report);
ir::verify(graph);
}  // namespace

std::vector<const passes::Pass*> chosen_passes(const Options& options) {
  std::vector<const passes::Pass*> chosen;
  for (const std::string& name : options.passes) {
    const passes::Pass* pass = passes::find_pass(name);
    if (pass == nullptr)
      fail(Code::invalid_argument, "there is no pass '{}'; see frit-opt --list-passes", name);
    chosen.push_back(pass);
  }
  if (options.pipeline)
    for (const passes::Pass* pass : passes::default_pipeline()) chosen.push_back(pass);
  return chosen;
}

std::size_t node_count(const ir::Graph& graph) {
  std::size_t count = graph.node_count();
  for (const ir::Node* n = graph.first(); n != nullptr; n = n->next())
    for (int s = 0; s < n->subgraph_count(); ++s) count += node_count(*n->subgraph(s));
  return count;
}

void run(const Options& options, ir::Graph& graph) {
  passes::PassContext context;
  context.verify = options.verify_each;
  double total = 0;
  for (const passes::Pass* pass : chosen_passes(options)) {
    const auto start = std::chrono::steady_clock::now();
    const bool changed = passes::run_passes(graph, {&pass, 1}, context);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    total += took.count();
    if (options.time)
      std::fprintf(stderr, "%-20s %9.3f ms  %7zu nodes%s\n", pass->name, took.count(),
                   node_count(graph), changed ? "" : "  unchanged");
    if (options.print_after_all)
      std::printf("// after %s\n%s\n", pass->name,
                  ir::print(graph, {.max_elements = kShownElements}).c_str());
  }
  if (options.time) std::fprintf(stderr, "%-20s %9.3f ms\n", "total", total);
  ir::verify(graph);
}

// Largest magnitude of a tensor's elements; NaN if one is NaN.
double largest(const ir::Tensor& tensor) {
  double most = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double x = std::abs(tensor.f64_at(i));
    if (std::isnan(x)) return x;
    most = std::max(most, x);
  }
  return most;
}

// Results of both graphs on the same random inputs; the report goes to stderr.
bool agree(const Options& options, const ir::Graph& before, const ir::Graph& after) {
  ir::SampleOptions sample;
  sample.seed = options.seed;
  sample.symbols = symbol_values(options);
  for (const std::string& text : options.ranges) {
    const auto [name, range] = split(text, "--range");
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos)
      fail(Code::invalid_argument, "--range expects NAME=LOW..HIGH, found '{}'", text);
    sample.ranges[name] = {number<double>(range.substr(0, dots), "--range"),
                           number<double>(range.substr(dots + 2), "--range")};
  }
  const std::vector<ir::Tensor> inputs = ir::sample_inputs(before, sample);
  const std::vector<ir::Tensor> expected = ir::evaluate(before, inputs);
  const std::vector<ir::Tensor> found = ir::evaluate(after, inputs);
  const std::string report = ir::compare_results(found, expected);
  if (report.empty()) {
    for (std::size_t r = 0; r < expected.size(); ++r)
      std::fprintf(stderr, "evaluate-check: result %zu agrees, values up to %.3g differ by %.2g\n",
                   r, largest(expected[r]), ir::compare(found[r], expected[r], 0, 1).absolute);
  } else {
    std::fprintf(stderr, "evaluate-check: the passes change results\n%s", report.c_str());
  }
  return report.empty();
}

void write(const Options& options, const ir::Graph& graph) {
  if (options.output.empty()) {
    if (options.quiet) return;
    const std::string text = ir::print(graph, {.max_elements = kShownElements});
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  const std::string text = ir::print(graph);
  const Status status =
      write_file(options.output.c_str(), std::as_bytes(std::span(text.data(), text.size())));
  if (!status.ok()) throw Error(status.code(), status.message());
}

int work(const Options& options) {
  if (options.list_passes) {
    for (const passes::Pass* pass : passes::all_passes())
      std::printf("%-20s %s\n", pass->name, pass->summary);
    return 0;
  }
  if (options.input.empty())
    fail(Code::invalid_argument, "expected a graph (.ir) or model (.onnx) to work on");
  ir::Graph graph, original;
  load(options, graph);
  if (options.evaluate_check) graph.clone_into(original);
  run(options, graph);
  const bool good = !options.evaluate_check || agree(options, original, graph);
  write(options, graph);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs passes on a graph in text form or on an ONNX model and prints the result.",
               "frit-opt");
  app.add_option("input", options.input, "a graph (.ir) or a model (.onnx)");
  app.add_option("--passes", options.passes, "passes to run, in order")->delimiter(',');
  app.add_flag("--pipeline", options.pipeline, "run the passes of a build, after --passes");
  app.add_option("-o,--output", options.output,
                 "write the whole graph to a file (without: to stdout, large constants elided)");
  app.add_flag("--print-after-all", options.print_after_all, "print the graph after each pass");
  app.add_flag("--verify-each", options.verify_each, "verify after each pass, not only at the end");
  app.add_flag("--list-passes", options.list_passes, "list the passes and stop");
  app.add_flag("--time", options.time, "report time and number of nodes of each pass on stderr");
  const CLI::Option* check =
      app.add_option("--evaluate-check", options.seed,
                     "run the graph before and after on random inputs of this seed and compare");
  app.add_option("--symbol", options.symbols, "NAME=N: a number for a symbolic size");
  app.add_option("--range", options.ranges, "NAME=LOW..HIGH: range of an input for the check");
  app.add_flag("-q,--quiet", options.quiet, "print no graph to stdout");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.evaluate_check = check->count() > 0;
  try {
    return work(options);
  } catch (const Error& error) {
    if (error.origin().empty())
      std::fprintf(stderr, "error: %s\n", error.what());
    else
      std::fprintf(stderr, "error: %s (node %s)\n", error.what(), error.origin().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}
