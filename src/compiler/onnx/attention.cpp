// SPDX-License-Identifier: Apache-2.0
// Attention and RotaryEmbedding as matrix products, softmax and pointwise ops.
#include <cmath>
#include <limits>

#include "compiler/onnx/context.h"
#include "compiler/onnx/op_table.h"

namespace frit::importer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Dim dim(const Value* v, int i) {
  return v->dims()[static_cast<std::size_t>(i)];
}

// [B, S, heads · size] → [B, heads, S, size]; operands of rank 4 have that form already.
Value* split_heads(NodeContext& c, Value* x, const char* heads_attr) {
  if (x->rank() == 4) return x;
  if (x->rank() != 3)
    c.invalid("an operand has the type {}; expected rank 3 or 4", ir::to_string(x->type));
  const std::int64_t heads = c.integer(heads_attr);
  const std::int64_t width = c.number(dim(x, 2), "the hidden size");
  if (heads <= 0 || width % heads != 0)
    c.invalid("\"{}\" is {}, which does not divide the hidden size {}", heads_attr, heads, width);
  return c.transpose(c.reshape(x, {dim(x, 0), dim(x, 1), heads, width / heads}), {0, 2, 1, 3});
}

Value* merge_heads(NodeContext& c, Value* x) {
  Value* rows = c.transpose(x, {0, 2, 1, 3});
  return c.reshape(rows, {dim(rows, 0), dim(rows, 1), dim(rows, 2) * dim(rows, 3)});
}

// Each key or value head serves `count` query heads.
Value* repeat_heads(NodeContext& c, Value* x, std::int64_t count) {
  if (count == 1) return x;
  Value* apart = c.reshape(x, {dim(x, 0), dim(x, 1), 1, dim(x, 2), dim(x, 3)});
  Value* many = c.expand(apart, {dim(x, 0), dim(x, 1), count, dim(x, 2), dim(x, 3)});
  return c.reshape(many, {dim(x, 0), dim(x, 1) * Dim(count), dim(x, 2), dim(x, 3)});
}

Value* positions(NodeContext& c, std::int64_t count, Shape dims) {
  constexpr std::int64_t kLongest = 1 << 24;
  if (count > kLongest) c.unsupported("sequences of more than {} are not covered", kLongest);
  Ints numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return c.reshape(c.constant(Tensor::from_i64(numbers)), std::move(dims));
}

// allowed → 0, else -inf
Value* as_bias(NodeContext& c, Value* allowed, DType type) {
  return c.emit(ops::where, {allowed, c.scalar(type, 0), c.scalar(type, -kInfinity)});
}

Value* both(NodeContext& c, Value* a, Value* b) {
  return a == nullptr ? b : c.emit(ops::logical_and, {a, b});
}

// The scores' operands and the rules that hide keys from queries.
struct Scores {
  Value* q;
  Value* k;
  Value* past;    // null without a cache
  Value* nonpad;  // null, or the number of valid keys of each batch
};

// Which keys each query may see by position: causality, windows, padding. Null if all.
Value* visible(NodeContext& c, const Scores& s) {
  const bool causal = c.flag("is_causal", false);
  const std::int64_t left = c.integer("left_window_size", -1);
  const std::int64_t right = c.integer("right_window_size", -1);
  if (!causal && left < 0 && right < 0 && s.nonpad == nullptr) return nullptr;
  const std::int64_t queries = c.number(dim(s.q, 2), "the number of queries");
  const std::int64_t keys = c.number(dim(s.k, 2), "the number of keys");
  Value* key = positions(c, keys, {keys});
  Value* allowed = nullptr;
  Value* valid = nullptr;
  if (s.nonpad != nullptr) valid = c.reshape(s.nonpad, {dim(s.nonpad, 0), 1, 1, 1});
  if (causal || left >= 0 || right >= 0) {
    Value* query = positions(c, queries, {queries, 1});
    if (s.past != nullptr) {
      const std::int64_t past = c.number(dim(s.past, 2), "the number of cached keys");
      query = c.add(query, c.scalar(DType::i64, static_cast<double>(past)));
    } else if (valid != nullptr) {
      Value* count = c.scalar(DType::i64, static_cast<double>(queries));
      query = c.add(query, c.sub(valid, count));
    }
    const auto shifted = [&](std::int64_t by) {
      return by == 0 ? query : c.add(query, c.scalar(DType::i64, static_cast<double>(by)));
    };
    if (causal) allowed = c.emit(ops::less_equal, {key, query});
    if (left >= 0) allowed = both(c, allowed, c.emit(ops::greater_equal, {key, shifted(-left)}));
    if (right >= 0) allowed = both(c, allowed, c.emit(ops::less_equal, {key, shifted(right)}));
  }
  if (valid != nullptr) allowed = both(c, allowed, c.emit(ops::less, {key, valid}));
  return allowed;
}

// The mask operand as a bias over all keys; keys beyond its end are hidden.
Value* mask_bias(NodeContext& c, Value* mask, const Dim& keys, DType type) {
  const int last = mask->rank() - 1;
  if (last < 0) c.invalid("the mask is a scalar; expected the dims of the scores");
  if (dim(mask, last) != keys && dim(mask, last) != Dim(1)) {
    const std::int64_t missing =
        c.number(keys, "the number of keys") - c.number(dim(mask, last), "the width of the mask");
    if (missing < 0)
      c.invalid("the mask has {} columns for {} keys", dim(mask, last).to_string(),
                keys.to_string());
    Ints pads(2 * static_cast<std::size_t>(mask->rank()), 0);
    pads.back() = missing;
    std::vector<Value*> operands{mask};
    if (mask->dtype() != DType::boolean) operands.push_back(c.scalar(mask->dtype(), -kInfinity));
    mask = c.emit(ops::pad, std::move(operands),
                  {{"mode", std::string("constant")}, {"pads", std::move(pads)}});
  }
  return mask->dtype() == DType::boolean ? as_bias(c, mask, type) : c.cast(mask, type);
}

Value* softmax_rows(NodeContext& c, Value* x) {
  const std::int64_t axis = x->rank() - 1;
  return c.emit(ops::softmax, {x}, {{"axis", axis}, {"log", std::int64_t{0}}});
}

// softmax(scores + bias); rows in which nothing is visible become zero.
Value* probabilities(NodeContext& c, Value* scores, Value* bias, bool guard, DType type) {
  Value* x = scores;
  if (c.integer("softmax_precision", 0) != 0) x = c.cast(x, c.dtype("softmax_precision"));
  x = softmax_rows(c, x);
  if (guard) {
    Value* best = c.reduce("max", bias, {bias->rank() - 1}, true);
    Value* hidden = c.emit(ops::equal, {best, c.scalar(bias->dtype(), -kInfinity)});
    x = c.emit(ops::where, {hidden, c.scalar(x->dtype(), 0), x});
  }
  return c.cast(x, type);
}

}  // namespace

void import_attention(NodeContext& c) {
  Value* operand = c.input(0);
  const bool flat = operand->rank() == 3;
  Value* q = split_heads(c, operand, "q_num_heads");
  Value* k = split_heads(c, c.input(1), "kv_num_heads");
  Value* v = split_heads(c, c.input(2), "kv_num_heads");
  const DType type = q->dtype();
  Value* past = c.optional(4);
  const auto joined = [&](Value* old, Value* now) {
    return old == nullptr ? now : c.emit(ops::concat, {old, now}, {{"axis", std::int64_t{2}}});
  };
  k = joined(past, k);
  v = joined(c.optional(5), v);
  c.set(1, k);
  c.set(2, v);
  Scores s{q, k, past, c.optional(6)};
  if (s.nonpad != nullptr && s.nonpad->rank() != 1)
    c.invalid("nonpad_kv_seqlen has the type {}; expected rank 1", ir::to_string(s.nonpad->type));
  const std::int64_t q_heads = c.number(dim(q, 1), "the number of heads");
  const std::int64_t kv_heads = c.number(dim(k, 1), "the number of key heads");
  if (kv_heads <= 0 || q_heads % kv_heads != 0)
    c.invalid("{} query heads do not divide among {} key heads", q_heads, kv_heads);
  Value* keys = repeat_heads(c, k, q_heads / kv_heads);
  Value* values = repeat_heads(c, v, q_heads / kv_heads);

  const auto size = static_cast<double>(c.number(dim(q, 3), "the head size"));
  // Half of the scale on each side keeps 16-bit products in range.
  const double half = std::sqrt(c.real("scale", 1 / std::sqrt(size)));
  Value* scores = c.emit(ops::matmul, {c.scale(q, half), c.scale(keys, half)},
                         {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{1}}});
  const std::int64_t mode = c.integer("qk_matmul_output_mode", 0);
  if (mode == 0) c.set(3, scores);
  if (const double cap = c.real("softcap", 0); cap != 0)
    scores = c.scale(c.emit(ops::tanh, {c.scale(scores, 1 / cap)}), cap);
  if (mode == 1) c.set(3, scores);

  Value* bias = nullptr;
  Value* mask = c.optional(3);
  if (Value* allowed = visible(c, s)) bias = as_bias(c, allowed, type);
  if (mask != nullptr) {
    Value* given = mask_bias(c, mask, dim(k, 2), type);
    bias = bias == nullptr ? given : c.add(bias, given);
  }
  if (bias != nullptr) scores = c.add(scores, bias);
  if (mode == 2) c.set(3, scores);
  // Causality alone always leaves a key; the other rules may hide all of them.
  const bool guard = mask != nullptr || s.nonpad != nullptr || c.has_attr("left_window_size") ||
                     c.has_attr("right_window_size");
  Value* weights = probabilities(c, scores, bias, bias != nullptr && guard, type);
  if (mode == 3) c.set(3, weights);
  Value* y = c.emit(ops::matmul, {weights, values},
                    {{"trans_a", std::int64_t{0}}, {"trans_b", std::int64_t{0}}});
  c.set(0, flat ? merge_heads(c, y) : y);
}

// Rotates pairs of features by angles that depend on the position.
void import_rotary_embedding(NodeContext& c) {
  Value* x = c.input(0);
  const bool flat = x->rank() == 3;
  if (!flat && x->rank() != 4)
    c.invalid("the operand has the type {}; expected rank 3 or 4", ir::to_string(x->type));
  Value* heads = flat ? nullptr : c.transpose(x, {0, 2, 1, 3});
  if (flat) {
    const std::int64_t count = c.integer("num_heads");
    const std::int64_t width = c.number(dim(x, 2), "the hidden size");
    if (count <= 0 || width % count != 0)
      c.invalid("\"num_heads\" is {}, which does not divide the hidden size {}", count, width);
    heads = c.reshape(x, {dim(x, 0), dim(x, 1), count, width / count});
  }
  const std::int64_t size = c.number(dim(heads, 3), "the head size");
  std::int64_t rotated = c.integer("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2 != 0)
    c.invalid("\"rotary_embedding_dim\" is {}; expected an even number up to {}", rotated, size);
  const std::int64_t half = rotated / 2;
  const auto table = [&](int operand) {
    Value* cache = c.input(operand);
    if (Value* ids = c.optional(3))
      cache = c.emit(ops::gather, {cache, ids}, {{"axis", std::int64_t{0}}});
    if (cache->rank() != 3 || dim(cache, 2).never_equals(half))
      c.invalid("a cache has the type {}; expected rank 3 and {} columns",
                ir::to_string(cache->type), half);
    return c.reshape(cache, {dim(cache, 0), dim(cache, 1), 1, dim(cache, 2)});
  };
  Value* cosine = table(1);
  Value* sine = table(2);
  const bool interleaved = c.flag("interleaved", false);
  Value* a = c.slice(heads, 3, 0, half, interleaved ? 2 : 1);
  Value* b = c.slice(heads, 3, interleaved ? 1 : half, half, interleaved ? 2 : 1);
  Value* real = c.sub(c.mul(cosine, a), c.mul(sine, b));
  Value* imaginary = c.add(c.mul(sine, a), c.mul(cosine, b));
  const auto concat = [&](std::vector<Value*> parts, std::int64_t axis) {
    return c.emit(ops::concat, std::move(parts), {{"axis", axis}});
  };
  const Shape outer{dim(heads, 0), dim(heads, 1), dim(heads, 2)};
  Value* turned;
  if (interleaved) {
    const Shape column{outer[0], outer[1], outer[2], half, 1};
    turned = c.reshape(concat({c.reshape(real, column), c.reshape(imaginary, column)}, 4),
                       {outer[0], outer[1], outer[2], rotated});
  } else {
    turned = concat({real, imaginary}, 3);
  }
  if (rotated < size) turned = concat({turned, c.slice(heads, 3, rotated, size - rotated)}, 3);
  c.set(flat ? c.reshape(turned, x->dims()) : c.transpose(turned, {0, 2, 1, 3}));
}

}  // namespace frit::importer
