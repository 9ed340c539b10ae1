// SPDX-License-Identifier: Apache-2.0
// Passes are linear: twenty thousand nodes go through all of them in about two seconds.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "compiler/ir/text.h"
#include "compiler/passes/pass.h"

namespace frit::passes {
namespace {

// Blocks of ten nodes with work for most passes: transposes that cancel, a twin to merge, constants
// to fold, chains to fuse, all in one long line of dependencies.
std::string text(int blocks) {
  constexpr const char* kBlock = R"(
  %t# = transpose(@) {perm = [1, 0]}
  %u# = transpose(%t#) {perm = [1, 0]}
  %m# = matmul(%u#, %w) {trans_a = 0, trans_b = 0}
  %r# = relu(%m#)
  %e# = sigmoid(%r#)
  %f# = sigmoid(%r#)
  %g# = mul(%e#, %f#)
  %n# = neg(%one)
  %h# = add(%g#, %n#)
  %o# = softmax(%h#) {axis = 1, log = 0})";
  std::string s =
      "graph (%x: f32[4,4], %w: f32[4,4]) {\n  %one = constant f32[4] dense<1, 2, 3, 4>";
  std::string in = "%x";
  for (int b = 0; b < blocks; ++b) {
    const std::string number = std::to_string(b);
    for (const char* c = kBlock; *c != '\0'; ++c) {
      if (*c == '#') {
        s += number;
      } else if (*c == '@') {
        s += in;
      } else {
        s += *c;
      }
    }
    in = "%o" + number;
  }
  return s + "\n  return " + in + "\n}\n";
}

double pipeline_seconds(int blocks, std::size_t* nodes_after) {
  ir::Graph graph;
  ir::parse(text(blocks), graph);
  EXPECT_EQ(graph.node_count(), static_cast<std::size_t>(blocks) * 10 + 1);
  PassContext context;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(run_passes(graph, default_pipeline(), context));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  *nodes_after = graph.node_count();
  return took.count();
}

TEST(LargeGraph, TwentyThousandNodesTakeAboutTwoSeconds) {
  std::size_t nodes = 0;
  const double seconds = pipeline_seconds(2000, &nodes);
  std::printf("20,000 nodes through all passes: %.2f s, %zu nodes left\n", seconds, nodes);
  EXPECT_LT(nodes, 10000u);
  // Two seconds on a machine of its own; the rest is for sanitizers and busy machines.
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 6.0);
#else
  EXPECT_LT(seconds, 60.0);
#endif
}

}  // namespace
}  // namespace frit::passes
