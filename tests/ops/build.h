// SPDX-License-Identifier: Apache-2.0
// Short spellings for inference tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir::test {

/// A graph that makes operands from text ("f32[2,N]") and says what inference made of a node.
class Build {
 public:
  Build() : emit(graph) {
    graph.symbols().symbol("N", {1, 1 << 20});
    graph.symbols().symbol("M", {1, 1 << 20});
    graph.symbols().symbol("H", {16, 1 << 20});
  }

  TensorType type(std::string_view text) {
    const std::size_t open = text.find('[');
    TensorType made{dtype_from_name(text.substr(0, open)), {}};
    std::string_view rest = text.substr(open + 1, text.size() - open - 2);
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      made.dims.push_back(graph.symbols().parse(rest.substr(0, comma)));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return made;
  }
  Value* x(std::string_view text) { return graph.add_input("", type(text)); }
  Dim dim(std::string_view text) { return graph.symbols().parse(text); }
  Value* i64(std::vector<std::int64_t> values) { return emit.constant_i64(values); }

  Graph graph;
  Emitter emit;
};

inline Build& scratch() {
  static Build build;
  return build;
}

/// Types of all results, "; " between them, or the message of the refusal.
inline std::string outcome(const Schema& schema, std::vector<Value*> operands, Attrs attrs = {},
                           int results = 1, Build& in = scratch()) {
  try {
    Node* node = in.emit.emit_node(schema, std::move(operands), std::move(attrs), results);
    std::string text;
    for (int r = 0; r < node->result_count(); ++r)
      text += (r > 0 ? "; " : "") + to_string(node->result(r)->type);
    infer_types(*node);  // a second run must agree with the first
    return text;
  } catch (const Error& error) {
    return error.message();
  }
}

/// Like outcome for an op whose result type the creator sets.
inline std::string outcome_as(const Schema& schema, std::vector<Value*> operands, Attrs attrs,
                              std::vector<std::string> types, Build& in = scratch()) {
  try {
    std::vector<TensorType> made;
    for (const std::string& t : types) made.push_back(in.type(t));
    Node* node = in.emit.emit_node_as(schema, std::move(operands), std::move(attrs), made);
    std::string text;
    for (int r = 0; r < node->result_count(); ++r)
      text += (r > 0 ? "; " : "") + to_string(node->result(r)->type);
    return text;
  } catch (const Error& error) {
    return error.message();
  }
}

/// Contents that inference knows of a value, "?" if none.
inline std::string contents(const Value* value) {
  return value->elements == nullptr ? "?" : to_string(*value->elements);
}

#define EXPECT_REFUSAL(expression, fragment)                                      \
  do {                                                                            \
    const std::string refusal = (expression);                                     \
    EXPECT_NE(refusal.find(fragment), std::string::npos) << "found: " << refusal; \
  } while (false)

}  // namespace frit::ir::test
