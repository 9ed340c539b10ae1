// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: LSTM, GRU, RNN.
#include <algorithm>
#include <cctype>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

// A gate function with the numbers it takes from activation_alpha and activation_beta.
struct GateFunction {
  std::string_view name;
  bool has_alpha;
  double alpha;
  bool has_beta;
  double beta;
};

constexpr GateFunction kGateFunctions[] = {
    {"affine", true, 1, true, 0},           {"elu", true, 1, false, 0},
    {"hardsigmoid", true, 0.2F, true, 0.5}, {"leakyrelu", true, 0.01F, false, 0},
    {"relu", false, 0, false, 0},           {"scaledtanh", true, 1, true, 1},
    {"sigmoid", false, 0, false, 0},        {"softplus", false, 0, false, 0},
    {"softsign", false, 0, false, 0},       {"tanh", false, 0, false, 0},
    {"thresholdedrelu", true, 1, false, 0},
};

// Names and numbers of all gates, direction by direction.
struct Gates {
  std::string names;
  Reals alpha, beta;
};

Gates read_gates(const NodeContext& c, std::size_t directions) {
  std::vector<std::string> names = c.texts("activations");
  const std::vector<std::string> defaults =
      c.op() == "LSTM"  ? std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"}
      : c.op() == "GRU" ? std::vector<std::string>{"Sigmoid", "Tanh"}
                        : std::vector<std::string>{"Tanh"};
  if (names.empty())
    for (std::size_t d = 0; d < directions; ++d)
      names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != defaults.size() * directions)
    c.invalid("{} activations are given; expected {}", names.size(), defaults.size() * directions);
  // The numbers are consumed in order by the functions that take them.
  const Reals alphas = c.reals("activation_alpha");
  const Reals betas = c.reals("activation_beta");
  std::size_t next_alpha = 0;
  std::size_t next_beta = 0;
  Gates gates;
  for (std::string& name : names) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char ch) { return static_cast<char>(std::tolower(ch)); });
    const auto* const f = std::find_if(std::begin(kGateFunctions), std::end(kGateFunctions),
                                       [&](const GateFunction& g) { return g.name == name; });
    if (f == std::end(kGateFunctions)) c.invalid("the activation \"{}\" does not exist", name);
    gates.names += (gates.names.empty() ? "" : ",") + name;
    gates.alpha.push_back(f->has_alpha && next_alpha < alphas.size() ? alphas[next_alpha++]
                                                                     : f->alpha);
    gates.beta.push_back(f->has_beta && next_beta < betas.size() ? betas[next_beta++] : f->beta);
  }
  return gates;
}

}  // namespace

void import_rnn(NodeContext& c) {
  const std::string& op = c.op();
  const bool lstm = op == "LSTM";
  const std::string direction =
      c.choice("direction", "forward", {"forward", "reverse", "bidirectional"});
  std::vector<Value*> operands = c.operands(lstm ? 8 : 6);
  for (int i = 0; i < 3; ++i) c.input(i);
  while (operands.back() == nullptr) operands.pop_back();
  Value* recurrence = operands[2];
  if (recurrence->rank() != 3)
    c.invalid("the recurrence weights have the type {}; expected rank 3",
              ir::to_string(recurrence->type));
  const std::int64_t hidden = c.number(recurrence->dims()[2], "the hidden size");
  if (c.integer("hidden_size", hidden) != hidden)
    c.invalid("hidden_size is {}, but the recurrence weights are for {}", c.integer("hidden_size"),
              hidden);
  Gates gates = read_gates(c, direction == "bidirectional" ? 2 : 1);
  ir::Node* node = c.emit_node(ops::rnn, std::move(operands),
                               {{"kind", std::string(lstm          ? "lstm"
                                                     : op == "GRU" ? "gru"
                                                                   : "rnn")},
                                {"direction", direction},
                                {"hidden", hidden},
                                {"layout", c.integer("layout", 0)},
                                {"activations", std::move(gates.names)},
                                {"act_alpha", std::move(gates.alpha)},
                                {"act_beta", std::move(gates.beta)},
                                {"clip", c.real("clip", 0)},
                                {"linear_before_reset", c.integer("linear_before_reset", 0)},
                                {"input_forget", c.integer("input_forget", 0)}},
                               lstm ? 3 : 2);
  for (int i = 0; i < node->result_count(); ++i) c.set(i, node->result(i));
}

}  // namespace frit::importer
