// SPDX-License-Identifier: Apache-2.0
// Recursive descent over the grammar of docs/ir-text.md.
#include <cctype>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/dtypes.h"
#include "compiler/error.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_cursor.h"
#include "compiler/ir/text_literals.h"
#include "compiler/ir/text_values.h"
#include "compiler/ir/verify.h"
#include "compiler/ops/infer.h"
#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

// `%x`, `%"any text"`, `%x#2` or `%7`: the key is unique per spelling, the name is what values get.
struct Id {
  std::string key;
  std::string name;
  std::size_t position = 0;
};

class Parser {
 public:
  Parser(std::string_view text, Graph& root) : c_(text), values_(c_), root_(root) {}

  void whole() {
    if (!c_.take_word("graph")) c_.refuse("'graph' at the start of the text");
    if (c_.peek() == '"') root_.name = c_.need_quoted("the graph's name");
    if (c_.peek() == '[') symbols();
    body(root_, 0);
    if (!c_.at_end()) c_.refuse("the end of the text after the graph's '}'");
  }

 private:
  // ---- names ----

  Id need_id(const char* what) {
    Id id{.key = {}, .name = {}, .position = c_.position()};
    c_.need('%', what);
    const char first = c_.peek();
    if (first >= '0' && first <= '9') {
      id.key = std::to_string(c_.need_integer("a number after '%'"));
      return id;
    }
    if (first == '"')
      id.name = c_.need_quoted("a name after '%'");
    else
      id.name = c_.word();
    if (id.name.empty() && first != '"') c_.refuse("a name or number after '%'");
    id.key = '"' + id.name;
    if (c_.take('#')) id.key += '"' + std::to_string(c_.need_integer("a number after '#'"));
    return id;
  }

  void define(const Id& id, Value* value, std::vector<std::string>& scope) {
    value->name = id.name;
    if (!visible_.emplace(id.key, value).second)
      c_.refuse_at(id.position, "this value is already defined; add '#2' to use its name again");
    scope.push_back(id.key);
  }

  Value* use() {
    if (c_.peek() == '_') {
      if (!c_.take_word("_")) c_.refuse("'_' alone or a value");
      return nullptr;
    }
    const Id id = need_id("a value or '_' for an absent one");
    const auto it = visible_.find(id.key);
    if (it == visible_.end())
      c_.refuse_at(id.position, "this value is not defined here; values are defined before use");
    return it->second;
  }

  // ---- types ----

  void symbols() {
    c_.need('[', "'['");
    while (!c_.take(']')) {
      if (!declared_.empty()) c_.need(',', "',' or ']' after a symbol");
      const std::size_t start = c_.position();
      const std::string name =
          c_.peek() == '"' ? c_.need_quoted("a symbol") : std::string(c_.word());
      if (name.empty()) c_.refuse_at(start, "expected a symbol's name");
      if (!c_.take_word("in")) c_.refuse("'in' and the bounds of a symbol");
      Bounds bounds;
      bounds.lo = c_.need_integer("a lower bound");
      if (!c_.take('.') || !c_.take('.')) c_.refuse("'..' after a lower bound");
      if (c_.peek() != ',' && c_.peek() != ']') bounds.hi = c_.need_integer("an upper bound");
      if (bounds.lo > bounds.hi) c_.refuse_at(start, "expected a lower bound below the upper one");
      if (!declared_.insert(name).second) c_.refuse_at(start, "this symbol is already declared");
      root_.symbols().symbol(name, bounds);
    }
  }

  TensorType type() {
    if (c_.take('?')) return {};
    const std::size_t start = c_.position();
    const std::string_view name = c_.word();
    TensorType t;
    t.dtype = dtype_from_name(name);
    if (!t.known()) {
      if (name.empty()) c_.refuse("a type, such as f32[1,3] or '?'");
      c_.refuse_at(start, fmt::format("expected an element type, found '{}'", name));
    }
    const std::size_t sizes_at = c_.position();
    const std::string_view sizes = c_.need_bracketed("'[' and the sizes of a type");
    std::size_t begin = 0;
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i <= sizes.size(); ++i) {
      const char c = i < sizes.size() ? sizes[i] : ',';
      if (quoted && c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && (c == '(' || c == ')')) {
        depth += c == '(' ? 1 : -1;
      } else if (!quoted && c == ',' && (depth == 0 || i == sizes.size())) {
        if (i == sizes.size() && t.dims.empty() && blank(sizes)) break;
        t.dims.push_back(size(sizes.substr(begin, i - begin), sizes_at + 1 + begin));
        begin = i + 1;
      }
    }
    return t;
  }

  static bool blank(std::string_view text) {
    return text.find_first_not_of(' ') == std::string_view::npos;
  }

  Dim size(std::string_view text, std::size_t position) {
    check_symbols(text, position);
    Dim dim;
    try {
      dim = root_.symbols().parse(text);
    } catch (const Error& error) {
      c_.refuse_at(position, error.message());
    }
    if (dim.is_const() && dim.value() < 0)
      c_.refuse_at(position, "expected a size, found a negative number");
    return dim;
  }

  // Symbols come from the header alone, so that a typing error does not make a new one.
  void check_symbols(std::string_view text, std::size_t position) {
    for (std::size_t i = 0; i < text.size();) {
      std::string name;
      const char c = text[i];
      const std::size_t start = i;
      if (c == '"') {
        for (++i; i < text.size() && text[i] != '"'; ++i) {
          if (text[i] == '\\' && i + 1 < text.size()) ++i;
          name += text[i];
        }
        ++i;
      } else if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
        while (i < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_'))
          name += text[i++];
        if (name == "floor_div" || name == "max" || name == "min") continue;
      } else {
        ++i;
        continue;
      }
      if (!declared_.contains(name))
        c_.refuse_at(position + start,
                     fmt::format("size symbol '{}' is not declared; declare it in the header, as "
                                 "in: graph [{} in 1..] (…)",
                                 name, name));
    }
  }

  // ---- graphs and nodes ----

  void body(Graph& graph, int depth) {
    std::vector<std::string> scope;
    c_.need('(', "'(' and the graph's inputs");
    while (!c_.take(')')) {
      if (graph.input_count() > 0) c_.need(',', "',' or ')' after an input");
      const Id id = need_id("an input");
      c_.need(':', "':' and the input's type");
      define(id, graph.add_input({}, type()), scope);
    }
    c_.need('{', "'{' and the graph's nodes");
    while (!c_.take_word("return")) node(graph, depth, scope);
    if (c_.peek() != '}') {
      do graph.add_output(use());
      while (c_.take(','));
    }
    c_.need('}', "'}' after return");
    for (const std::string& key : scope) visible_.erase(key);
  }

  void node(Graph& graph, int depth, std::vector<std::string>& scope) {
    const std::size_t start = c_.position();
    std::vector<Id> ids;
    if (c_.peek() == '%') {
      do ids.push_back(need_id("a result"));
      while (c_.take(','));
      c_.need('=', "'=' after the results");
    }
    const std::size_t op_at = c_.position();
    const std::string_view op = c_.word();
    if (op.empty()) c_.refuse("an op, or 'return'");
    const Schema* schema = find_schema(op);
    if (schema == nullptr || schema->has(kTerminator))
      c_.refuse_at(op_at, fmt::format("expected an op of docs/ir-ops.md, found '{}'", op));

    Node* made = nullptr;
    std::vector<TensorType> hints;
    if (schema == &ops::constant && c_.peek() != '(') {
      made = graph.add(*schema, {}, {{"value", values_.tensor()}}, static_cast<int>(ids.size()));
    } else {
      const std::vector<Value*> operands = operand_list();
      Attrs attrs = attributes(*schema);
      if (c_.take(':')) {
        do hints.push_back(type());
        while (c_.take(','));
      }
      made = graph.add(*schema, operands, std::move(attrs), static_cast<int>(ids.size()));
    }
    if (!hints.empty() && hints.size() != ids.size())
      c_.refuse_at(start, fmt::format("expected a type for each of {} results, found {}",
                                      ids.size(), hints.size()));
    for (std::size_t r = 0; r < hints.size(); ++r)
      made->result(static_cast<int>(r))->type = std::move(hints[r]);
    if (c_.take_word("from")) {
      do made->origin.push_back(c_.need_quoted("an origin in quotes"));
      while (c_.take(','));
    }
    subgraphs(*made, depth);
    infer(*made, start);
    for (std::size_t r = 0; r < ids.size(); ++r)
      define(ids[r], made->result(static_cast<int>(r)), scope);
  }

  void subgraphs(Node& node, int depth) {
    while (c_.at_word("graph")) {
      const std::size_t start = c_.position();
      if (depth + 1 >= text::kMaxDepth)
        c_.refuse_at(start, fmt::format("expected at most {} nested graphs", text::kMaxDepth));
      if (node.subgraph_count() == node.schema().max_subgraphs)
        c_.refuse_at(start, fmt::format("expected at most {} subgraphs of {}, found another",
                                        node.schema().max_subgraphs, node.op()));
      c_.take_word("graph");
      Graph* graph = node.add_subgraph();
      if (c_.peek() == '"') graph->name = c_.need_quoted("the graph's name");
      body(*graph, depth + 1);
    }
  }

  std::vector<Value*> operand_list() {
    std::vector<Value*> operands;
    c_.need('(', "'(' and the operands");
    while (!c_.take(')')) {
      if (!operands.empty()) c_.need(',', "',' or ')' after an operand");
      operands.push_back(use());
    }
    return operands;
  }

  Attrs attributes(const Schema& schema) {
    Attrs attrs;
    if (c_.take('{')) {
      while (!c_.take('}')) {
        if (attrs.size() > 0) c_.need(',', "',' or '}' after an attribute");
        const std::size_t start = c_.position();
        const std::string name =
            c_.peek() == '"' ? c_.need_quoted("an attribute") : std::string(c_.word());
        const AttrDef* def = schema.attr(name);
        if (def == nullptr)
          c_.refuse_at(start, fmt::format("expected an attribute of {} ({}), found '{}'",
                                          schema.name, known(schema), name));
        if (attrs.has(name)) c_.refuse_at(start, "this attribute is already given");
        c_.need('=', "'=' after an attribute's name");
        attrs.set(name, values_.attribute(*def));
      }
    }
    return attrs;
  }

  static std::string known(const Schema& schema) {
    std::string list;
    for (const AttrDef& def : schema.attrs) (list += list.empty() ? "" : ", ") += def.name;
    return list.empty() ? "there are none" : list;
  }

  void infer(Node& node, std::size_t position) {
    try {
      infer_types(node);
    } catch (const Error& error) {
      c_.refuse_at(position, error.message());
    }
  }

  text::Cursor c_;
  text::ValueReader values_;
  Graph& root_;
  std::unordered_map<std::string, Value*> visible_;
  std::unordered_set<std::string> declared_;
};

}  // namespace

void parse(std::string_view text, Graph& graph) {
  check(graph.owner() == nullptr && graph.node_count() == 0 && graph.input_count() == 0 &&
            graph.output_count() == 0,
        "parse needs an empty root graph");
  Parser(text, graph).whole();
  try {
    verify(graph);
  } catch (const Error& error) {
    fail(Code::invalid_argument, "the text is well formed but no valid graph: {}", error.message());
  }
}

}  // namespace frit::ir
