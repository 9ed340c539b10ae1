// SPDX-License-Identifier: Apache-2.0
// A test of passes as a text file: what to run, a graph, `---`, and the graph that must result.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/sample.h"
#include "compiler/passes/pass.h"

namespace frit::test {

/// A file of tests/passes. Comment lines before the graph say what to do:
///   // pass: NAME, NAME…       passes to run, in order ("pipeline" = those of a build)
///   // expect: unchanged       the passes must leave the graph alone; there is no second graph
///   // check: origins          origins are compared too
///   // input %NAME: LOW..HIGH  range of an input's elements when both graphs are run
///   // symbol NAME: N          number for a symbolic size when both graphs are run
///   // evaluate: no            for graphs that the reference kernels cannot run; say why
struct PassCase {
  std::vector<const passes::Pass*> passes;
  bool unchanged = false;
  bool origins = false;
  bool evaluate = true;
  ir::SampleOptions sample;
  std::string before;
  std::string after;
};

/// Reads a file's contents; `error` says what is wrong with it, "" if nothing.
PassCase read_pass_case(std::string_view text, std::string& error);

/// Runs the case: structure, idempotence, and equal results on random inputs. "" if all is well,
/// else a report with a difference by lines.
std::string run_pass_case(const PassCase& test);

/// Names removed, values numbered, nodes in the order in which the outputs reach them: equal for
/// graphs that differ in nothing else.
std::string canonical_text(const ir::Graph& graph, bool origins);

/// Lines of both texts, with '-' before those of `expected` only and '+' before those of `found`.
std::string line_difference(std::string_view expected, std::string_view found);

}  // namespace frit::test
