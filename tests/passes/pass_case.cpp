// SPDX-License-Identifier: Apache-2.0
#include "tests/passes/pass_case.h"

#include <charconv>
#include <unordered_set>

#include "compiler/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/text.h"

namespace frit::test {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(by, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class T>
bool read_number(std::string_view text, T& value) {
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

void read_passes(std::string_view list, PassCase& test, std::string& error) {
  for (std::string_view name : split(list, ',')) {
    name = trimmed(name);
    if (name == "pipeline") {
      for (const passes::Pass* pass : passes::default_pipeline()) test.passes.push_back(pass);
    } else if (const passes::Pass* pass = passes::find_pass(name)) {
      test.passes.push_back(pass);
    } else {
      error = "there is no pass '" + std::string(name) + "'";
    }
  }
}

// One "key: value" of the header; false if the key is no instruction (an ordinary comment).
bool read_instruction(std::string_view key, std::string_view value, PassCase& test,
                      std::string& error) {
  const auto refuse = [&](const char* expected) {
    error = fmt::format("'{}: {}' in the header: expected {}", key, value, expected);
  };
  if (key == "pass") {
    read_passes(value, test, error);
  } else if (key == "expect") {
    test.unchanged = true;
    if (value != "unchanged") refuse("'unchanged'");
  } else if (key == "check") {
    test.origins = true;
    if (value != "origins") refuse("'origins'");
  } else if (key == "evaluate") {
    test.evaluate = false;
    if (!value.starts_with("no")) refuse("'no' and the reason");
  } else if (key.starts_with("input %")) {
    const std::size_t dots = value.find("..");
    std::pair<double, double> range;
    if (dots == std::string_view::npos || !read_number(value.substr(0, dots), range.first) ||
        !read_number(value.substr(dots + 2), range.second))
      refuse("LOW..HIGH");
    test.sample.ranges[std::string(key.substr(7))] = range;
  } else if (key.starts_with("symbol ")) {
    if (!read_number(value, test.sample.symbols[std::string(key.substr(7))])) refuse("a number");
  } else {
    return false;
  }
  return true;
}

void order_from(ir::Node* node, ir::Graph& graph, std::unordered_set<const ir::Node*>& done);

void order_operands(const ir::Node& reader, ir::Graph& graph,
                    std::unordered_set<const ir::Node*>& done) {
  for (const ir::Value* value : reader.operands())
    if (value != nullptr && &value->graph() == &graph && value->producer() != nullptr)
      order_from(value->producer(), graph, done);
  for (int s = 0; s < reader.subgraph_count(); ++s)
    for (const ir::Node* n = reader.subgraph(s)->first(); n != nullptr; n = n->next())
      order_operands(*n, graph, done);
}

void order_from(ir::Node* node, ir::Graph& graph, std::unordered_set<const ir::Node*>& done) {
  if (!done.insert(node).second) return;
  order_operands(*node, graph, done);
  graph.move_before(node, graph.terminator());
}

// Nodes in the order in which a walk from the outputs finishes them.
void order(ir::Graph& graph) {
  for (ir::Node* n = graph.first(); n != nullptr; n = n->next())
    for (int s = 0; s < n->subgraph_count(); ++s) order(*n->subgraph(s));
  std::unordered_set<const ir::Node*> done;
  order_operands(*graph.terminator(), graph, done);
}

std::string run_both(const PassCase& test, const ir::Graph& before, const ir::Graph& after) {
  const std::vector<ir::Tensor> inputs = ir::sample_inputs(before, test.sample);
  const std::vector<ir::Tensor> expected = ir::evaluate(before, inputs);
  const std::string report = ir::compare_results(ir::evaluate(after, inputs), expected);
  return report.empty() ? "" : "the passes change the results:\n" + report;
}

}  // namespace

PassCase read_pass_case(std::string_view text, std::string& error) {
  PassCase test;
  error.clear();
  bool separated = false, header = true;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view content = trimmed(line);
    if (content == "---") {
      if (separated) error = "more than one '---'";
      separated = true;
      continue;
    }
    std::string& side = separated ? test.after : test.before;
    (side += line) += '\n';
    if (header && content.starts_with("//")) {
      const std::string_view comment = trimmed(content.substr(2));
      // The last ": " ends the key, so that input names may hold colons.
      const std::size_t colon = comment.rfind(": ");
      if (colon != std::string_view::npos)
        read_instruction(comment.substr(0, colon), trimmed(comment.substr(colon + 2)), test, error);
    } else if (!content.empty()) {
      header = false;
    }
  }
  if (test.passes.empty() && error.empty()) error = "expected '// pass: NAME' in the header";
  if (test.unchanged == separated && error.empty())
    error = "expected either '---' and the resulting graph or '// expect: unchanged'";
  if (test.unchanged) test.after = test.before;
  return test;
}

std::string canonical_text(const ir::Graph& graph, bool origins) {
  ir::Graph copy;
  graph.clone_into(copy);
  order(copy);
  return ir::print(copy, {.origins = origins, .names = false});
}

std::string run_pass_case(const PassCase& test) {
  ir::Graph before, after, wanted;
  ir::parse(test.before, before);
  before.clone_into(after);
  ir::parse(test.after, wanted);
  passes::PassContext context;
  const bool changed = passes::run_passes(after, test.passes, context);
  const std::string found = canonical_text(after, test.origins);
  const std::string expected = canonical_text(wanted, test.origins);
  if (found != expected)
    return "the graph is not the expected one (- expected, + found):\n" +
           line_difference(expected, found);
  if (changed == test.unchanged)
    return test.unchanged ? "a pass says that it changed something, but the graph is the same"
                          : "no pass says that it changed anything, but the graph is another one";
  if (test.evaluate)
    if (std::string report = run_both(test, before, after); !report.empty()) return report;
  const bool again = passes::run_passes(after, test.passes, context);
  const std::string second = canonical_text(after, test.origins);
  if (second != found)
    return "running the passes again changes the graph (- first, + second):\n" +
           line_difference(found, second);
  if (again && test.passes.size() == 1)
    return "the second run says that it changed something, but the graph is the same";
  return "";
}

std::string line_difference(std::string_view expected, std::string_view found) {
  const auto a = split(expected, '\n'), b = split(found, '\n');
  // length[i][j]: longest common subsequence of a from i and b from j.
  std::vector<std::vector<int>> length(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      length[i][j] =
          a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
  std::string text;
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      text += "  " + std::string(a[i++]) + '\n';
      ++j;
    } else if (j == b.size() || (i < a.size() && length[i + 1][j] >= length[i][j + 1])) {
      text += "- " + std::string(a[i++]) + '\n';
    } else {
      text += "+ " + std::string(b[j++]) + '\n';
    }
  }
  return text;
}

}  // namespace frit::test
