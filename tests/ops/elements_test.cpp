// SPDX-License-Identifier: Apache-2.0
// Contents of shape arithmetic, as exporters write it.
#include "tests/ops/build.h"

namespace frit::ir::test {
namespace {

Attrs axis(std::int64_t a) {
  return {{"axis", a}};
}

// Shape of a [2,N,H,4] tensor.
struct Shaped : Build {
  Value* data = x("f32[2,N,H,4]");
  Value* shape =
      emit.emit(ops::shape, {data}, {{"start", std::int64_t{0}}, {"end", std::int64_t{4}}});
  Value* entry(std::int64_t i) {
    return emit.emit(ops::gather, {shape, emit.constant_scalar(DType::i64, static_cast<double>(i))},
                     axis(0));
  }
  Value* one(Value* scalar) { return emit.reshape(scalar, {1}); }
};

TEST(Elements, shape_gather_concat_reshape_vanishes) {
  Shaped in;
  EXPECT_EQ(contents(in.shape), "[2,N,H,4]");
  EXPECT_EQ(contents(in.entry(1)), "[N]");
  EXPECT_EQ(contents(in.entry(-2)), "[H]");
  Value* area = in.emit.emit(ops::mul, {in.entry(1), in.entry(2)});
  EXPECT_EQ(contents(area), "[N*H]");
  Value* to = in.emit.emit(ops::concat, {in.one(in.entry(0)), in.one(area), in.i64({-1})}, axis(0));
  EXPECT_EQ(contents(to), "[2,N*H,-1]");
  EXPECT_EQ(to_string(in.emit.emit(ops::reshape, {in.data, to})->type), "f32[2,N*H,4]");
}

TEST(Elements, partial_shape_slices_casts_and_products) {
  Shaped in;
  Value* tail =
      in.emit.emit(ops::shape, {in.data}, {{"start", std::int64_t{1}}, {"end", std::int64_t{3}}});
  EXPECT_EQ(contents(tail), "[N,H]");
  Value* cast = in.emit.cast(in.emit.slice(in.shape, {3}, {-2}, {2}), DType::i32);
  EXPECT_EQ(contents(cast), "[4,N]");
  Value* dynamic = in.emit.emit(ops::slice, {in.shape, in.i64({-2}), in.i64({INT64_MAX})});
  EXPECT_EQ(contents(dynamic), "[H,4]");
  const auto reduce = [&](const char* kind) {
    return contents(in.emit.emit(
        ops::reduce, {in.shape},
        {{"kind", std::string(kind)}, {"axes", Ints{0}}, {"keepdims", std::int64_t{0}}}));
  };
  EXPECT_EQ(reduce("prod"), "[8*N*H]");
  EXPECT_EQ(reduce("sum"), "[N + H + 6]");
  std::vector<Value*> parts = in.emit.split(in.shape, 0, {1, 3});
  EXPECT_EQ(contents(parts[1]), "[N,H,4]");
}

TEST(Elements, arithmetic) {
  Shaped in;
  Value *n = in.entry(1), *h = in.entry(2);
  const auto two = [&](const Schema& op, Value* a, Value* b) {
    return contents(in.emit.emit(op, {a, b}));
  };
  const auto number = [&](double v) { return in.emit.constant_scalar(DType::i64, v); };
  EXPECT_EQ(two(ops::add, n, number(3)), "[N + 3]");
  EXPECT_EQ(two(ops::sub, h, n), "[-N + H]");
  EXPECT_EQ(two(ops::div, in.emit.emit(ops::mul, {n, number(6)}), number(3)), "[2*N]");
  EXPECT_EQ(two(ops::div, number(-7), number(2)), "[-3]");  // toward zero
  EXPECT_EQ(two(ops::div, n, number(0)), "?");
  EXPECT_EQ(two(ops::mod, number(17), number(5)), "[2]");
  EXPECT_EQ(two(ops::max, h, number(3)), "[H]");
  EXPECT_EQ(two(ops::min, h, number(3)), "[3]");
  EXPECT_EQ(two(ops::equal, h, number(3)), "[0]");
  EXPECT_EQ(two(ops::equal, n, number(3)), "?");
  EXPECT_EQ(two(ops::less, number(3), h), "[1]");
  EXPECT_EQ(contents(in.emit.emit(ops::neg, {n})), "[-N]");
  Value* yes = in.emit.emit(ops::less, {number(3), h});
  EXPECT_EQ(contents(in.emit.emit(ops::where, {yes, n, h})), "[N]");
  EXPECT_EQ(contents(in.emit.emit(ops::where, {in.x("bool[]"), n, h})), "?");
}

TEST(Elements, values_outside_the_type_are_unknown) {
  Build in;
  Value* big = in.i64({std::int64_t{1} << 62, 300});
  EXPECT_EQ(contents(in.emit.emit(ops::mul, {big, big})), "?");
  Value* small = in.emit.emit(ops::add, {in.i64({300}), in.i64({1})});
  EXPECT_EQ(contents(small), "[301]");
  EXPECT_EQ(contents(in.emit.cast(small, DType::u8)), "?");
  EXPECT_EQ(contents(in.emit.cast(small, DType::i16)), "[301]");
  EXPECT_EQ(contents(in.emit.cast(small, DType::f32)), "?");
}

TEST(Elements, range_and_expand) {
  Shaped in;
  const auto number = [&](double v) { return in.emit.constant_scalar(DType::i64, v); };
  Value* r = in.emit.emit(ops::range, {number(5), number(0), number(-2)});
  EXPECT_EQ(to_string(r->type), "i64[3]");
  EXPECT_EQ(contents(r), "[5,3,1]");
  EXPECT_EQ(to_string(in.emit.emit(ops::range, {number(0), in.entry(1), number(1)})->type),
            "i64[N]");
  EXPECT_EQ(contents(in.emit.expand(in.entry(1), {3})), "[N,N,N]");
  Value* scalar = in.emit.emit(ops::expand, {number(-1), in.i64({2})});
  EXPECT_EQ(contents(scalar), "[-1,-1]");
}

TEST(Elements, too_many_are_not_kept) {
  Build in;
  const auto number = [&](double v) { return in.emit.constant_scalar(DType::i64, v); };
  EXPECT_EQ(contents(in.emit.emit(ops::range, {number(0), number(64), number(1)})).size(), 183U);
  EXPECT_EQ(contents(in.emit.emit(ops::range, {number(0), number(65), number(1)})), "?");
}

}  // namespace
}  // namespace frit::ir::test
