// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <unordered_map>

#include "base/dtypes.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_literals.h"
#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string take() { return std::move(out_); }

  void graph(const Graph& g, int depth) {
    out_ += "graph";
    if (!g.name.empty() && options_.names) {
      out_ += ' ';
      text::append_quoted(out_, g.name);
    }
    if (depth == 0 && options_.names) symbols(g);
    inputs(g, depth);
    out_ += " {\n";
    for (const Node* n = g.first(); n != g.terminator(); n = n->next()) {
      indent(depth + 1);
      node(*n, depth + 1, true);
      out_ += '\n';
    }
    indent(depth + 1);
    out_ += "return";
    for (int i = 0; i < g.output_count(); ++i) {
      out_ += i == 0 ? " " : ", ";
      use(g.output(i));
    }
    out_ += '\n';
    indent(depth);
    out_ += '}';
  }

  void node(const Node& n, int depth, bool bodies) {
    for (int r = 0; r < n.result_count(); ++r) {
      if (r > 0) out_ += ", ";
      use(n.result(r));
    }
    if (n.result_count() > 0) out_ += " = ";
    out_ += n.op();
    if (short_constant(n)) {
      out_ += ' ';
      text::append_tensor(out_, n.attrs.tensor("value"), splat_budget_, options_.max_elements);
    } else {
      operands(n, !bodies);
      attributes(n);
      types(n);
    }
    if (options_.origins) origin(n);
    for (int s = 0; s < n.subgraph_count(); ++s) {
      out_ += ' ';
      if (bodies)
        graph(*n.subgraph(s), depth);
      else
        out_ += "graph (...) {...}";
    }
  }

 private:
  void indent(int depth) { out_.append(static_cast<std::size_t>(2 * depth), ' '); }

  // A constant whose result has the tensor's own type says it once: `%c = constant f32[2]
  // dense<…>`.
  static bool short_constant(const Node& n) {
    if (!n.is(ops::constant) || n.operand_count() != 0 || n.result_count() != 1) return false;
    const AttrValue* value = n.attrs.find("value");
    if (value == nullptr || n.attrs.size() != 1) return false;
    const Tensor* tensor = std::get_if<Tensor>(value);
    return tensor != nullptr &&
           n.result()->type == TensorType{tensor->dtype(), make_shape(tensor->dims())};
  }

  void symbols(const Graph& g) {
    const auto list = g.symbols().list();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto& [name, bounds] = list[i];
      out_ += i == 0 ? " [" : ", ";
      if (text::is_plain_name(name))
        out_ += name;
      else
        text::append_quoted(out_, name);
      out_ += " in " + std::to_string(bounds.lo) + "..";
      if (bounds.hi != std::numeric_limits<std::int64_t>::max()) out_ += std::to_string(bounds.hi);
    }
    if (!list.empty()) out_ += ']';
  }

  void inputs(const Graph& g, int depth) {
    const bool wrap = g.input_count() > 4;
    out_ += " (";
    for (int i = 0; i < g.input_count(); ++i) {
      if (i > 0) out_ += wrap ? "," : ", ";
      if (wrap) {
        out_ += '\n';
        indent(depth + 2);
      }
      use(g.input(i));
      out_ += ": ";
      type(g.input(i)->type);
    }
    out_ += ')';
  }

  void use(const Value* value) {
    if (value == nullptr) {
      out_ += '_';
      return;
    }
    auto it = spelling_.find(value);
    if (it == spelling_.end()) it = spelling_.emplace(value, spell(*value)).first;
    out_ += it->second;
  }

  // Unnamed values get numbers; the second value of a name, and those after it, a suffix '#k'.
  std::string spell(const Value& value) {
    std::string text = "%";
    if (value.name.empty() || !options_.names) return text + std::to_string(numbered_++);
    if (text::is_plain_name(value.name))
      text += value.name;
    else
      text::append_quoted(text, value.name);
    const int earlier = taken_[value.name]++;
    if (earlier > 0) text += "#" + std::to_string(earlier + 1);
    return text;
  }

  void type(const TensorType& t) { out_ += t.known() ? to_string(t) : "?"; }

  void operands(const Node& n, bool typed) {
    out_ += '(';
    for (int i = 0; i < n.operand_count(); ++i) {
      if (i > 0) out_ += ", ";
      use(n.operand(i));
      if (typed && n.operand(i) != nullptr) {
        out_ += ": ";
        type(n.operand(i)->type);
      }
    }
    out_ += ')';
  }

  void types(const Node& n) {
    for (int r = 0; r < n.result_count(); ++r) {
      out_ += r == 0 ? " : " : ", ";
      type(n.result(r)->type);
    }
  }

  void origin(const Node& n) {
    for (std::size_t i = 0; i < n.origin.size(); ++i) {
      out_ += i == 0 ? " from " : ", ";
      text::append_quoted(out_, n.origin[i]);
    }
  }

  void attributes(const Node& n) {
    if (n.attrs.size() == 0) return;
    const char* separator = " {";
    for (const auto& [name, value] : n.attrs) {
      out_ += separator;
      separator = ", ";
      if (text::is_plain_name(name))
        out_ += name;
      else
        text::append_quoted(out_, name);
      out_ += " = ";
      attribute(name, value);
    }
    out_ += '}';
  }

  void attribute(const std::string& name, const AttrValue& value) {
    if (const auto* i = std::get_if<std::int64_t>(&value)) {
      // `to` is an element type everywhere; its name says more than ONNX's number.
      const auto type = static_cast<DType>(*i);
      if (name == "to" && *i > 0 && *i < kDTypeCount)
        out_ += dtype_name(type);
      else
        out_ += std::to_string(*i);
    } else if (const auto* f = std::get_if<double>(&value)) {
      text::append_real(out_, *f);
    } else if (const auto* s = std::get_if<std::string>(&value)) {
      text::append_quoted(out_, *s);
    } else if (const auto* ints = std::get_if<Ints>(&value)) {
      list(*ints, [this](std::int64_t v) { out_ += std::to_string(v); });
    } else if (const auto* reals = std::get_if<Reals>(&value)) {
      if (reals->empty()) out_ += "reals ";
      list(*reals, [this](double v) { text::append_real(out_, v); });
    } else {
      text::append_tensor(out_, std::get<Tensor>(value), splat_budget_, options_.max_elements);
    }
  }

  template <class List, class F>
  void list(const List& values, F&& element) {
    out_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ", ";
      element(values[i]);
    }
    out_ += ']';
  }

  PrintOptions options_;
  std::string out_;
  std::unordered_map<const Value*, std::string> spelling_;
  std::unordered_map<std::string, int> taken_;
  std::uint64_t splat_budget_ = text::kSplatBudget;
  int numbered_ = 0;
};

}  // namespace

std::string print(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.graph(graph, 0);
  return printer.take() + "\n";
}

std::string print(const Node& node) {
  Printer printer({.max_elements = 8});
  printer.node(node, 0, false);
  return printer.take();
}

}  // namespace frit::ir
