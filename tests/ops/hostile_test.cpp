// SPDX-License-Identifier: Apache-2.0
// Random signatures for every op: inference accepts or refuses, and never does anything else.
#include <random>

#include "tests/ops/build.h"

namespace frit::ir::test {
namespace {

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n - 1)(engine_);
  }
  std::int64_t integer() {
    static constexpr std::int64_t kOdd[] = {
        0, 1, 2, 3, 4, 8, -1, -2, 64, 65, INT32_MAX, INT64_MAX, INT64_MIN, INT64_MAX - 1};
    return kOdd[below(below(3) == 0 ? std::ssize(kOdd) : 6)];
  }
  Ints integers() {
    Ints list(static_cast<std::size_t>(below(6)));
    for (std::int64_t& v : list) v = integer();
    return list;
  }

 private:
  std::mt19937 engine_;
};

TensorType random_type(Chance& chance, Build& in) {
  static constexpr DType kTypes[] = {DType::f32, DType::f32, DType::i64,
                                     DType::u8,  DType::i8,  DType::boolean};
  TensorType type{kTypes[chance.below(std::ssize(kTypes))], {}};
  const std::int64_t rank = chance.below(6);
  for (std::int64_t i = 0; i < rank; ++i) {
    if (chance.below(4) == 0)
      type.dims.push_back(in.dim(chance.below(2) == 0 ? "N" : "H - 20"));
    else
      type.dims.push_back(std::max<std::int64_t>(0, chance.integer()));
  }
  return type;
}

Value* random_operand(Chance& chance, Build& in) {
  switch (chance.below(8)) {
    case 0:
      return nullptr;
    case 1:
      return in.i64(chance.integers());
    case 2:
      return in.emit.constant_scalar(DType::i64, static_cast<double>(chance.below(9) - 4));
    default:
      return in.graph.add_input("", random_type(chance, in));
  }
}

AttrValue random_attribute(Chance& chance, AttrKind kind) {
  static constexpr const char* kTexts[] = {
      "",       "max",        "sum",  "average", "constant",          "edge",  "none", "DCR",
      "linear", "zeros",      "lstm", "forward", "sigmoid,tanh,tanh", "ij,jk", "...",  "nearest",
      "avg",    "half_pixel", "floor"};
  switch (kind) {
    case AttrKind::integer:
      return chance.integer();
    case AttrKind::real:
      return static_cast<double>(chance.integer());
    case AttrKind::text:
      return std::string(kTexts[chance.below(std::ssize(kTexts))]);
    case AttrKind::integers:
      return chance.integers();
    case AttrKind::reals: {
      Reals list(static_cast<std::size_t>(chance.below(5)));
      for (double& v : list)
        v = chance.below(9) == 0 ? 1e300 : 0.5 * static_cast<double>(chance.below(6));
      return list;
    }
    case AttrKind::tensor:
      return Tensor(DType::f32, {chance.below(3)});
  }
  return std::int64_t{0};
}

// Returns whether inference accepted.
bool attempt(Chance& chance, const Schema& schema) {
  Build in;
  const int most = schema.max_operands < 0 ? schema.min_operands + 3 : schema.max_operands;
  std::vector<Value*> operands;
  const auto count = schema.min_operands + chance.below(most - schema.min_operands + 1);
  for (std::int64_t i = 0; i < count; ++i) operands.push_back(random_operand(chance, in));
  if (operands.size() > 1 && chance.below(2) == 0) operands[1] = operands[0];
  Attrs attrs;
  for (const AttrDef& def : schema.attrs)
    if (def.required || chance.below(2) == 0)
      attrs.set(def.name, random_attribute(chance, def.kind));
  std::vector<TensorType> types(static_cast<std::size_t>(std::max(schema.min_results, 1)));
  if (schema.max_results == 0) types.clear();
  for (TensorType& t : types)
    if (chance.below(3) == 0) t = random_type(chance, in);
  try {
    Node* node = in.emit.emit_node_as(schema, operands, std::move(attrs), std::move(types));
    std::vector<std::string> first;
    for (int r = 0; r < node->result_count(); ++r)
      first.push_back(to_string(node->result(r)->type));
    infer_types(*node);
    for (int r = 0; r < node->result_count(); ++r)
      EXPECT_EQ(to_string(node->result(r)->type), first[static_cast<std::size_t>(r)])
          << schema.name;
    return true;
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == Code::invalid_model || error.code() == Code::unsupported)
        << schema.name << ": " << error.message();
    EXPECT_NE(error.message().find(schema.name), std::string::npos) << error.message();
    return false;
  }
}

TEST(Hostile, random_signatures_are_accepted_or_refused) {
  Chance chance(20240607);
  int accepted = 0;
  for (const Schema* schema : all_schemas())
    for (int i = 0; i < 400; ++i) accepted += attempt(chance, *schema) ? 1 : 0;
  EXPECT_GT(accepted, 1000);  // the refusals are not all of one early kind
}

}  // namespace
}  // namespace frit::ir::test
