// SPDX-License-Identifier: Apache-2.0
// The interpreter of region programs, shared by the kernels that differ in their loops.
#pragma once

#include <algorithm>
#include <memory>
#include <new>

#include "kernels/cpu/ref/pointwise.h"
#include "kernels/cpu/ref/state.h"

namespace frit::kernels::ref {

/// Limits that no region of a real network comes near.
inline constexpr int kMaxInstructions = 4096;
inline constexpr int kMaxTensors = 1024;

/// A value of a program: an operand or the result of an instruction.
struct RegionValue {
  DType dtype = DType::undefined;
  int last_use = -1;  ///< last instruction that reads it; kMaxInstructions for results
  int slot = -1;      ///< tile of the workspace that holds it
};

struct RegionInstruction {
  int op = 0;  ///< row of pointwise.def, -1 for cast
  int arity = 0;
  int src[3] = {-1, -1, -1};
  double p[2] = {};
  PointwiseLoop loop = nullptr;
};

/// A program of pointwise instructions, interpreted tile by tile. Each instruction rounds to its
/// own type, as the separate ops would.
struct Region {
  /// Where the loops of rows come from.
  PointwiseLoop (*pick)(int row, Compute c) noexcept = pointwise_loop;
  int operands = 0;
  int results = 0;
  int instructions = 0;
  int slots = 0;
  int direct_from = -1;          ///< instruction that writes straight to a result, -1 for none
  int direct_result = -1;        ///< that result
  std::uint64_t per_worker = 0;  ///< workspace bytes of one thread: tiles, then a pointer per value
  std::int64_t count = 0;
  std::unique_ptr<BroadcastView[]> views;
  std::unique_ptr<RegionValue[]> values;
  std::unique_ptr<RegionInstruction[]> code;
  std::unique_ptr<int[]> stored;  ///< value of each result

  const char* prepare(PrepareArgs& args) {
    Checker c(args, "region");
    if (!c.tensors(0, kMaxTensors, 1, kMaxTensors)) return c.error();
    operands = c.in_count();
    results = c.out_count();
    const Attr* program = list(c, args, "program", Attr::Kind::integers);
    const Attr* params = list(c, args, "params", Attr::Kind::reals);
    const Attr* sources = list(c, args, "results", Attr::Kind::integers);
    if (!c.ok()) return c.error();
    c.require(program->count % 5 == 0 && program->count / 5 <= kMaxInstructions,
              "attribute 'program' has %d numbers; expected five for each of at most %d "
              "instructions",
              program->count, kMaxInstructions);
    instructions = program->count / 5;
    c.require(params->count == 2 * instructions, "attribute 'params' has %d numbers; expected %d",
              params->count, 2 * instructions);
    c.require(sources->count == results, "attribute 'results' has %d numbers; expected %d",
              sources->count, results);
    if (!c.ok()) return c.error();
    if (!allocate()) return "region: out of memory; free some and load again";
    plan_tensors(c);
    for (int j = 0; c.ok() && j < instructions; ++j)
      decode(c, j, program->ints + 5 * j, params->floats + 2 * j);
    for (int r = 0; c.ok() && r < results; ++r) plan_result(c, r, sources->ints[r]);
    if (c.ok()) assign_slots();
    if (c.ok()) find_direct();
    const auto pointers = static_cast<std::uint64_t>(operands + instructions) * sizeof(void*);
    per_worker = static_cast<std::uint64_t>(slots) * sizeof(TileBuffer) + (pointers + 63) / 64 * 64;
    c.scratch(per_worker * static_cast<unsigned>(c.threads()));
    return c.error();
  }

  static const Attr* list(Checker& c, const PrepareArgs& args, const char* name, Attr::Kind kind) {
    const Attr* a = args.find(name);
    if (!c.require(a != nullptr, "attribute '%s' is missing", name)) return nullptr;
    const bool some = a->count > 0;
    const bool there = kind == Attr::Kind::reals ? a->floats != nullptr : a->ints != nullptr;
    c.require(a->count >= 0 && (!some || (a->kind == kind && there)),
              "attribute '%s' is not a list of %s", name,
              kind == Attr::Kind::reals ? "reals" : "integers");
    return a;
  }

  bool allocate() {
    const auto size = [](int n) { return static_cast<std::size_t>(std::max(n, 1)); };
    views.reset(new (std::nothrow) BroadcastView[size(operands)]);
    values.reset(new (std::nothrow) RegionValue[size(operands + instructions)]);
    code.reset(new (std::nothrow) RegionInstruction[size(instructions)]);
    stored.reset(new (std::nothrow) int[size(results)]);
    return views && values && code && stored;
  }

  void plan_tensors(Checker& c) {
    const Dims dims = c.dims_out(0);
    count = dims.volume();
    for (int r = 0; r < results; ++r)
      if (c.require(c.out(r).present(), "result %d is absent", r)) c.shape_out(r, dims);
    for (int i = 0; c.ok() && i < operands; ++i) {
      c.require(c.in(i).present() && compute_of(c.in(i).dtype) != Compute::none,
                "operand %d has type %s; expected a number or bool", i, dtype_name(c.in(i).dtype));
      values[static_cast<std::size_t>(i)].dtype = c.in(i).dtype;
      views[static_cast<std::size_t>(i)].plan(c, i, dims);
    }
  }

  RegionValue& value(std::int64_t v) const { return values[static_cast<std::size_t>(v)]; }

  void decode(Checker& c, int j, const std::int64_t* words, const double* params) {
    RegionInstruction& in = code[static_cast<std::size_t>(j)];
    const auto type = static_cast<DType>(words[1]);
    if (!c.require(words[0] >= -1 && words[0] < kPointwiseRows,
                   "instruction %d has op %lld; expected -1 to %d", j,
                   static_cast<long long>(words[0]), kPointwiseRows - 1) ||
        !c.require(words[1] >= 0 && words[1] < kDTypeCount && compute_of(type) != Compute::none,
                   "instruction %d has type code %lld, which has no arithmetic", j,
                   static_cast<long long>(words[1])))
      return;
    in.op = static_cast<int>(words[0]);
    in.arity = in.op < 0 ? 1 : pointwise_row(in.op).arity;
    DType types[3] = {};
    for (int i = 0; i < 3; ++i) {
      const std::int64_t s = words[2 + i];
      if (!c.require(i < in.arity ? s >= 0 && s < operands + j : s == -1,
                     "instruction %d has source %lld in place %d, which is not a value before it",
                     j, static_cast<long long>(s), i))
        return;
      in.src[i] = static_cast<int>(s);
      if (s < 0) continue;
      types[i] = value(s).dtype;
      value(s).last_use = j;
    }
    value(operands + j).dtype = type;
    in.p[0] = params[0];
    in.p[1] = params[1];
    if (in.op < 0) return;
    const Compute compute = check_pointwise_types(c, in.op, types, type);
    if (!c.ok()) return;
    for (double& p : in.p) p = bind_parameter(types[0], p);
    in.loop = pick(in.op, compute);
    c.require(in.loop != nullptr, "instruction %d has no loop for type %s", j,
              dtype_name(types[0]));
  }

  void plan_result(Checker& c, int r, std::int64_t source) {
    if (!c.require(source >= 0 && source < operands + instructions,
                   "result %d stores value %lld; expected 0 to %d", r,
                   static_cast<long long>(source), operands + instructions - 1))
      return;
    stored[static_cast<std::size_t>(r)] = static_cast<int>(source);
    value(source).last_use = kMaxInstructions;
    c.dtype_out(r, value(source).dtype);
  }

  /// Gives every value a tile, shared by values that are not alive together. A result never shares
  /// with a source of its instruction.
  void assign_slots() {
    int free_slots[kMaxTensors + kMaxInstructions];
    int free_count = 0;
    const auto take = [&] { return free_count > 0 ? free_slots[--free_count] : slots++; };
    for (int i = 0; i < operands; ++i)
      if (value(i).last_use >= 0) value(i).slot = take();
    for (int j = 0; j < instructions; ++j) {
      RegionValue& v = value(operands + j);
      v.slot = take();
      const RegionInstruction& in = code[static_cast<std::size_t>(j)];
      for (int i = 0; i < in.arity; ++i) {
        RegionValue& s = value(in.src[i]);
        if (s.last_use != j) continue;
        free_slots[free_count++] = s.slot;
        s.last_use = -1;  // one source may be named twice
      }
      if (v.last_use < 0) free_slots[free_count++] = v.slot;
    }
  }

  /// A cast carries `saturate` and `round_up` in its parameters.
  static CastMode mode_of(const RegionInstruction& in) {
    return {in.p[0] == 0 ? Overflow::natural : Overflow::saturate, in.p[1] == 1 ? Rounding::up
                                                                   : in.p[1] == 2
                                                                       ? Rounding::down
                                                                       : Rounding::nearest};
  }

  /// A result that alone stores the last instruction, in the form it is computed in, needs no tile.
  void find_direct() {
    const int last = operands + instructions - 1;
    if (instructions == 0 || !is_native_tile(value(last).dtype)) return;
    for (int r = 0; r < results; ++r)
      if (stored[static_cast<std::size_t>(r)] == last) direct_result = r;
    if (direct_result >= 0 && results == 1) direct_from = instructions - 1;
    if (direct_from < 0) direct_result = -1;
  }

  static void* element(void* data, DType t, std::int64_t index) {
    return static_cast<char*>(data) + index * (t == DType::f32 ? 4 : 8);
  }

  void run_tile(const RunArgs& args, TileBuffer* tiles, const void** at, std::int64_t begin,
                std::int64_t n) const {
    for (int i = 0; i < operands; ++i)
      if (value(i).slot >= 0)
        at[i] = views[static_cast<std::size_t>(i)].tile(args.in[i], begin, n, tiles[value(i).slot]);
    for (int j = 0; j < instructions; ++j) {
      const RegionInstruction& in = code[static_cast<std::size_t>(j)];
      const RegionValue& v = value(operands + j);
      // The last instruction may write in place: by then every operand has been read, or is read
      // element by element.
      void* dst =
          j == direct_from ? element(args.out[direct_result], v.dtype, begin) : tiles[v.slot].bytes;
      const void* src[3] = {};
      for (int i = 0; i < in.arity; ++i) src[i] = at[in.src[i]];
      if (in.op < 0)
        cast_tile(value(in.src[0]).dtype, v.dtype, mode_of(in), src[0], dst, n);
      else
        in.loop(n, src, dst, in.p[0], in.p[1]);
      narrow_tile(v.dtype, dst, n);
      at[operands + j] = dst;
    }
    for (int r = 0; r < results; ++r) {
      const int s = stored[static_cast<std::size_t>(r)];
      if (r == direct_result) continue;
      store_tile(value(s).dtype, at[s], args.out[r], begin, n);
    }
  }

  const char* run(const RunArgs& args) const {
    const std::int64_t all = (count + kTile - 1) / kTile;
    args.parallel(all, 8, [&](std::int64_t first, std::int64_t last, int worker) {
      auto* base =
          static_cast<std::byte*>(args.workspace) + per_worker * static_cast<std::uint64_t>(worker);
      auto* tiles = reinterpret_cast<TileBuffer*>(base);
      auto* at = reinterpret_cast<const void**>(tiles + slots);
      for (std::int64_t t = first; t < last; ++t)
        run_tile(args, tiles, at, t * kTile, std::min(kTile, count - t * kTile));
    });
    return nullptr;
  }
};

}  // namespace frit::kernels::ref
