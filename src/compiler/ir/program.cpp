// SPDX-License-Identifier: Apache-2.0
// Regions and attributes in the flat form that kernels read.
#include <unordered_map>

#include "compiler/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ops/schema.h"

namespace frit::ir {
namespace {

// Operands a program's instruction has room for.
constexpr int kSources = 3;
constexpr std::int64_t kCastOp = -1;
constexpr std::int64_t kUnused = -1;

void append_instruction(const Node& node, const std::unordered_map<const Value*, std::int64_t>& at,
                        Program& program) {
  const Schema& schema = node.schema();
  check(schema.has(kPointwise) && node.operand_count() <= kSources && node.result_count() == 1,
        "a program holds pointwise ops of one result only, found {}", node.op());
  program.code.push_back(schema.pointwise_row >= 0 ? schema.pointwise_row : kCastOp);
  program.code.push_back(static_cast<std::int64_t>(node.result()->dtype()));
  for (int i = 0; i < kSources; ++i) {
    const Value* operand = node.operand(i);
    const auto source = at.find(operand);
    check(operand == nullptr || source != at.end(),
          "{} in a program reads a value from outside the program", node.op());
    program.code.push_back(operand == nullptr ? kUnused : source->second);
  }
  if (schema.pointwise_row < 0) {
    program.params.push_back(static_cast<double>(node.attrs.i("saturate", 1)));
    program.params.push_back(static_cast<double>(node.attrs.i("round_up", 0)));
    return;
  }
  for (std::size_t p = 0; p < 2; ++p)
    program.params.push_back(p < schema.attrs.size() ? node.attrs.f(schema.attrs[p].name) : 0);
}

}  // namespace

Program make_program(const Graph& subgraph) {
  std::unordered_map<const Value*, std::int64_t> at;
  std::int64_t next = 0;
  for (int i = 0; i < subgraph.input_count(); ++i) at[subgraph.input(i)] = next++;
  Program program;
  for (const Node* n = subgraph.first(); n != subgraph.terminator(); n = n->next()) {
    append_instruction(*n, at, program);
    at[n->result()] = next++;
  }
  for (int o = 0; o < subgraph.output_count(); ++o) {
    const auto source = at.find(subgraph.output(o));
    check(source != at.end(), "output {} of a program comes from outside the program", o);
    program.results.push_back(source->second);
  }
  return program;
}

KernelAttrs::KernelAttrs(const Node& node)
    : KernelAttrs([&] {
        Attrs attrs = node.attrs;
        // A region, or the epilogue of a kernel that runs it in place.
        if (node.subgraph_count() == 1 && !node.schema().has(kControlFlow)) {
          Program program = make_program(*node.subgraph());
          attrs.set("program", std::move(program.code));
          attrs.set("params", std::move(program.params));
          attrs.set("results", std::move(program.results));
        }
        return attrs;
      }()) {}

KernelAttrs::KernelAttrs(Attrs attrs) : attrs_(std::move(attrs)) {
  view_.reserve(attrs_.size());
  for (const auto& [name, value] : attrs_) add(name, value);
}

void KernelAttrs::add(const std::string& name, const AttrValue& value) {
  kernels::Attr attr;
  attr.name = name.c_str();
  if (const auto* i = std::get_if<std::int64_t>(&value)) {
    attr.kind = kernels::Attr::Kind::integer;
    attr.i = *i;
  } else if (const auto* f = std::get_if<double>(&value)) {
    attr.kind = kernels::Attr::Kind::real;
    attr.f = *f;
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    attr.kind = kernels::Attr::Kind::text;
    attr.s = s->c_str();
  } else if (const auto* ints = std::get_if<Ints>(&value)) {
    attr.kind = kernels::Attr::Kind::integers;
    attr.ints = ints->data();
    attr.count = static_cast<std::int32_t>(ints->size());
  } else if (const auto* reals = std::get_if<Reals>(&value)) {
    attr.kind = kernels::Attr::Kind::reals;
    attr.floats = reals->data();
    attr.count = static_cast<std::int32_t>(reals->size());
  } else {
    return;
  }
  view_.push_back(attr);
}

}  // namespace frit::ir
