// SPDX-License-Identifier: Apache-2.0
#include "compiler/tune/problem.h"

#include "base/dtypes.h"
#include "base/hash.h"
#include "compiler/error.h"
#include "compiler/ops/schema.h"
#include "compiler/tune/tactic.h"

namespace frit::tune {
namespace {

ProblemTensor tensor_of(const ir::Node& node, const ir::Value* value) {
  if (value == nullptr) return {};
  if (!ir::is_static(value->dims())) {
    throw Error(Code::unsupported,
                fmt::format("'{}' has the size {}, known only at run time; give fixed input shapes "
                            "(--shapes=NAME:AxBxC) so that every size is known when building",
                            value->name.empty() ? std::string(node.op()) : value->name,
                            ir::to_string(value->dims())),
                ir::origin_text(node));
  }
  ProblemTensor tensor{value->dtype(), ir::static_dims(value->dims()), {}};
  if (const ir::Tensor* constant = ir::constant_of(value)) tensor.constant = *constant;
  return tensor;
}

void add_program(ir::Attrs& attrs, const std::string& prefix, const ir::Graph& subgraph) {
  ir::Program program = ir::make_program(subgraph);
  attrs.set(prefix + "program", std::move(program.code));
  attrs.set(prefix + "params", std::move(program.params));
  attrs.set(prefix + "results", std::move(program.results));
}

Problem without_subgraphs(const ir::Node& node, int threads) {
  Problem problem{
      .op = std::string(node.op()), .attrs = node.attrs, .in = {}, .out = {}, .threads = threads};
  for (const ir::Value* value : node.operands()) problem.in.push_back(tensor_of(node, value));
  for (int r = 0; r < node.result_count(); ++r)
    problem.out.push_back(tensor_of(node, node.result(r)));
  return problem;
}

void print(std::string& text, const ProblemTensor& t) {
  if (!t.present()) {
    text += " _";
    return;
  }
  text += std::string(" ") + dtype_name(t.dtype) + "[";
  for (std::size_t i = 0; i < t.dims.size(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(t.dims[i]);
  text += t.constant.defined() ? "]c" : "]";
}

std::string print(const ir::AttrValue& value) {
  struct Printer {
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{:a}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const ir::Ints& v) const {
      return fmt::format("[{}]", fmt::join(v, ","));
    }
    std::string operator()(const ir::Reals& v) const {
      std::string text = "[";
      for (double d : v) text += fmt::format("{:a},", d);
      return text + "]";
    }
    std::string operator()(const ir::Tensor& v) const { return fmt::format("tensor{}", v.count()); }
  };
  return std::visit(Printer{}, value);
}

kernels::TensorDesc desc_of(const ProblemTensor& t) {
  if (!t.present()) return {};
  kernels::TensorDesc desc;
  desc.dtype = t.dtype;
  desc.rank = static_cast<std::int32_t>(t.dims.size());
  desc.dims = t.dims.data();
  desc.constant = t.constant.defined() ? t.constant.data() : nullptr;
  const auto bytes = storage_bytes(t.dtype, t.dims);
  if (!bytes.ok()) fail(Code::unsupported, "{}", bytes.status().message());
  desc.bytes = *bytes;
  return desc;
}

}  // namespace

Problem Problem::from(const ir::Node& node, int threads) {
  Problem problem = without_subgraphs(node, threads);
  if (node.subgraph_count() > 0 && node.is(ops::region))
    add_program(problem.attrs, "", *node.subgraph());
  if (node.subgraph_count() > 0 && node.schema().has(ir::kEpilogue))
    add_program(problem.attrs, "epilogue_", *node.subgraph());
  return problem;
}

std::string Problem::text() const {
  std::string line = op;
  for (const ProblemTensor& t : in) print(line, t);
  line += " ->";
  for (const ProblemTensor& t : out) print(line, t);
  for (const auto& [attr, value] : attrs) line += " " + attr + "=" + print(value);
  return line + " threads=" + std::to_string(threads);
}

std::uint64_t Problem::key() const {
  const std::string line = text();
  return hash64(line.data(), line.size());
}

SplitProblem split_epilogue(const ir::Node& node, int threads) {
  const ir::Graph& epilogue = *node.subgraph();
  SplitProblem split{without_subgraphs(node, threads), {}};
  split.region.op = "region";
  split.region.threads = threads;
  split.region.out = split.main.out;
  const ir::TensorType& inner = epilogue.input(0)->type;
  split.main.out = {{inner.dtype, ir::static_dims(inner.dims), {}}};
  split.region.in = split.main.out;
  for (std::size_t i = kFirstExtraOperand; i < split.main.in.size(); ++i)
    split.region.in.push_back(split.main.in[i]);
  if (split.main.in.size() > kFirstExtraOperand) split.main.in.resize(kFirstExtraOperand);
  add_program(split.region.attrs, "", epilogue);
  return split;
}

ProblemView::ProblemView(const Problem& problem) : attrs_(problem.attrs) {
  for (const ProblemTensor& t : problem.in) in_.push_back(desc_of(t));
  for (const ProblemTensor& t : problem.out) out_.push_back(desc_of(t));
}

std::vector<plan::Attr> plan_attrs(const ir::Attrs& attrs) {
  std::vector<plan::Attr> list;
  for (const auto& [name, value] : attrs) {
    plan::Attr attr;
    attr.name = name;
    if (const auto* i = std::get_if<std::int64_t>(&value)) {
      attr.kind = plan::Attr::Kind::integer;
      attr.i = *i;
    } else if (const auto* f = std::get_if<double>(&value)) {
      attr.kind = plan::Attr::Kind::real;
      attr.f = *f;
    } else if (const auto* s = std::get_if<std::string>(&value)) {
      attr.kind = plan::Attr::Kind::text;
      attr.s = *s;
    } else if (const auto* ints = std::get_if<ir::Ints>(&value)) {
      attr.kind = plan::Attr::Kind::integers;
      attr.ints = *ints;
    } else if (const auto* reals = std::get_if<ir::Reals>(&value)) {
      attr.kind = plan::Attr::Kind::reals;
      attr.floats = *reals;
    } else {
      continue;
    }
    list.push_back(std::move(attr));
  }
  return list;
}

}  // namespace frit::tune
