// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/error.h"
#include "compiler/ir/text.h"
#include "compiler/passes/pass.h"

namespace frit::passes {
namespace {

constexpr const char* kText = R"(graph (%x: f32[2]) {
  %a = relu(%x) from "A"
  %b = exp(%a) from "B"
  %d = neg(%b) from "dead"
  %e = sqrt(%d)
  return %b
})";

bool break_types(ir::Graph& graph, PassContext&) {
  graph.first()->result()->type.dtype = DType::f16;
  return true;
}
bool do_nothing(ir::Graph&, PassContext&) {
  return false;
}
bool refuse(ir::Graph&, PassContext&) {
  fail(Code::unsupported, "no");
}

const Pass kBreak{"break_types", "", break_types};
const Pass kNothing{"do_nothing", "", do_nothing};
const Pass kRefuse{"refuse", "", refuse};

TEST(PassManager, FindsPassesByName) {
  for (const Pass* pass : all_passes()) {
    EXPECT_EQ(find_pass(pass->name), pass);
    EXPECT_NE(std::string(pass->summary), "");
  }
  EXPECT_EQ(find_pass("no_such_pass"), nullptr);
  for (const Pass* pass : default_pipeline()) EXPECT_EQ(find_pass(pass->name), pass);
}

TEST(PassManager, RemovesDeadCodeInSubgraphsToo) {
  ir::Graph graph;
  ir::parse(R"(graph (%c: bool[], %x: f32[2]) {
    %k = exp(%x)
    %y = if(%c) : f32[2] graph () { %d = neg(%k) return %x } graph () { return %x }
    return %y })",
            graph);
  EXPECT_TRUE(remove_dead_code(graph));
  EXPECT_EQ(graph.node_count(), 1u);  // %k went with its only reader
  EXPECT_EQ(graph.first()->subgraph(0)->node_count(), 0u);
  EXPECT_FALSE(remove_dead_code(graph));
}

TEST(PassManager, ReportsChangesAndCallsBack) {
  ir::Graph graph;
  ir::parse(kText, graph);
  PassContext context;
  std::vector<std::string> called;
  context.after_pass = [&](std::string_view pass, const ir::Graph&) { called.emplace_back(pass); };
  const Pass* list[] = {&kNothing, &kNothing};
  EXPECT_TRUE(run_passes(graph, list, context));  // dead code went
  EXPECT_FALSE(run_passes(graph, list, context));
  EXPECT_EQ(called, (std::vector<std::string>(4, "do_nothing")));
}

TEST(PassManager, VerifiesAfterEachPass) {
  ir::Graph graph;
  ir::parse(kText, graph);
  PassContext context;
  const Pass* list[] = {&kBreak};
  try {
    run_passes(graph, list, context);
    FAIL() << "a wrong type went unnoticed";
  } catch (const Error& error) {
    EXPECT_TRUE(error.message().starts_with("in pass break_types: ")) << error.message();
  }
}

TEST(PassManager, PassesErrorsOnAndStopsWhenAsked) {
  ir::Graph graph;
  ir::parse(kText, graph);
  PassContext context;
  const Pass* list[] = {&kRefuse};
  try {
    run_passes(graph, list, context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    EXPECT_EQ(error.message(), "in pass refuse: no");
  }
  context.cancelled = [] { return true; };
  try {
    run_passes(graph, list, context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::cancelled);
  }
}

TEST(PassManager, RecordsWhichPassMadeWhat) {
  ir::Graph graph;
  ir::parse(kText, graph);
  PassContext context;
  context.record_trace = true;
  const Pass* list[] = {&kNothing, find_pass("fuse_regions")};
  run_passes(graph, list, context);
  ASSERT_FALSE(context.trace.empty());
  bool a = false;
  for (const TraceEntry& entry : context.trace) {
    EXPECT_EQ(std::string(entry.pass), "fuse_regions");
    a |= entry.origin == "A";
  }
  EXPECT_TRUE(a);
}

}  // namespace
}  // namespace frit::passes
