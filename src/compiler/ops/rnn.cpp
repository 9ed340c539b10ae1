// SPDX-License-Identifier: Apache-2.0
#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

int count_words(const std::string& text) {
  int words = text.empty() ? 0 : 1;
  for (char c : text) words += c == ',' ? 1 : 0;
  return words;
}

// Operand i, if there, must have x's type and those dims.
void check_operand(const Inference& in, int i, const Shape& expected, const char* what) {
  if (!in.has(i)) return;
  in.expect_dtype(i, in.dtype(0));
  const Shape& found = in.dims(i);
  bool agrees = found.size() == expected.size();
  for (std::size_t a = 0; agrees && a < expected.size(); ++a)
    agrees = !found[a].never_equals(expected[a]);
  if (!agrees)
    in.refuse("operand {} ({}) must have dims {}, found {}", i, what, to_string(expected),
              to_string(found));
}

void infer_rnn(Inference& in) {
  in.expect_float(0);
  in.expect_rank(0, 3, 3);
  const std::string& kind = in.choice("kind", {"lstm", "gru", "rnn"});
  const bool both =
      in.choice("direction", {"forward", "reverse", "bidirectional"}) == "bidirectional";
  const std::int64_t hidden = in.integer("hidden", 1, 1 << 24);
  const bool batch_first = in.integer("layout", 0, 1) != 0;
  for (const char* flag : {"linear_before_reset", "input_forget"})
    if (in.attrs().has(flag)) in.integer(flag, 0, 1);
  const std::int64_t directions = both ? 2 : 1;
  const std::int64_t gates = kind == "lstm" ? 4 : kind == "gru" ? 3 : 1;
  const int functions = static_cast<int>(directions * (kind == "lstm" ? 3 : kind == "gru" ? 2 : 1));
  if (count_words(in.attrs().s("activations")) != functions)
    in.refuse("attribute 'activations' must name {} functions, found '{}'", functions,
              in.attrs().s("activations"));
  for (const char* list : {"act_alpha", "act_beta"}) {
    const std::size_t n = in.attrs().reals(list).size();
    if (n != 0 && n != static_cast<std::size_t>(functions))
      in.refuse("attribute '{}' must have {} entries, found {}", list, functions, n);
  }
  if (kind != "lstm" && (in.has(6) || in.has(7) || in.result_count() > 2))
    in.refuse("only kind 'lstm' has a cell state, found kind '{}'", kind);

  const Dim steps = in.dims(0)[batch_first ? 1 : 0], batch = in.dims(0)[batch_first ? 0 : 1];
  const Dim input = in.dims(0)[2], d = directions, h = hidden;
  const Shape state = batch_first ? Shape{batch, d, h} : Shape{d, batch, h};
  in.type(1);
  in.type(2);
  check_operand(in, 1, {d, Dim(gates) * h, input}, "input weights");
  check_operand(in, 2, {d, Dim(gates) * h, h}, "recurrent weights");
  check_operand(in, 3, {d, Dim(2 * gates) * h}, "biases");
  if (in.has(4)) {
    in.expect_index(4);
    in.expect_rank(4, 1, 1);
    in.unify(in.dims(4)[0], batch, "sequence lengths and batch size");
  }
  check_operand(in, 5, state, "initial hidden state");
  check_operand(in, 6, state, "initial cell state");
  check_operand(in, 7, {d, Dim(3) * h}, "peephole weights");
  in.set(0, in.dtype(0), batch_first ? Shape{batch, steps, d, h} : Shape{steps, d, batch, h});
  in.set(1, in.dtype(0), state);
  in.set(2, in.dtype(0), state);
}

constexpr AttrDef kRnnAttrs[] = {{"kind", AttrKind::text},
                                 {"direction", AttrKind::text},
                                 {"hidden", AttrKind::integer},
                                 {"layout", AttrKind::integer},
                                 {"activations", AttrKind::text},
                                 {"act_alpha", AttrKind::reals, false},
                                 {"act_beta", AttrKind::reals, false},
                                 {"clip", AttrKind::real, false},
                                 {"linear_before_reset", AttrKind::integer, false},
                                 {"input_forget", AttrKind::integer, false}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

constinit const ir::Schema rnn = {.name = "rnn",
                                  .min_operands = 3,
                                  .max_operands = 8,
                                  .max_results = 3,
                                  .attrs = ir::kRnnAttrs,
                                  .infer = ir::infer_rnn};

}  // namespace frit::ops
