// SPDX-License-Identifier: Apache-2.0
// The contract between kernels on the CPU and whoever runs them (runtime, evaluator, modules).
//
// A kernel lives in two phases. `prepare` runs once, when an engine is loaded or a node is
// evaluated: it sees types, dims, attributes and constant operands, checks all of them, and fills
// `state`. `run` is called many times, from several threads at once on one const state; it gets
// bare pointers, and neither allocates, locks, throws nor looks anything up by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "frit/types.h"

namespace frit::kernels {

/// Largest rank any kernel accepts.
inline constexpr int kMaxRank = 12;

/// One operand or result as known before running. Elements are dense and row-major unless `strides`
/// says otherwise; types below 8 bits are packed, lowest bits first, as ONNX packs them.
struct TensorDesc {
  DType dtype = DType::undefined;  ///< undefined marks an absent optional operand
  std::int32_t rank = 0;
  const std::int64_t* dims = nullptr;
  const std::int64_t* strides = nullptr;  ///< in elements; null = dense row-major
  const void* constant = nullptr;         ///< contents if fixed at prepare time, else null
  std::uint64_t bytes = 0;                ///< storage size; kernels check it against dims

  bool present() const { return dtype != DType::undefined; }
  std::span<const std::int64_t> shape() const { return {dims, static_cast<std::size_t>(rank)}; }
};

/// A named attribute of the step; names and meanings are those of the IR op (docs/ir-ops.md).
struct Attr {
  enum class Kind : std::uint8_t { integer, real, text, integers, reals };
  const char* name = nullptr;
  Kind kind = Kind::integer;
  std::int64_t i = 0;
  double f = 0;
  const char* s = nullptr;
  const std::int64_t* ints = nullptr;
  const double* floats = nullptr;
  std::int32_t count = 0;  ///< length of ints or floats
};

/// Splits [0, n) into chunks of at least `grain` and calls body(arg, begin, end, worker) on the
/// threads of the pool, 0 <= worker < threads; returns when all are done. Never allocates.
struct Parallel {
  using Body = void (*)(void* arg, std::int64_t begin, std::int64_t end, int worker);
  void* pool = nullptr;
  int threads = 1;
  void (*run)(void* pool, std::int64_t n, std::int64_t grain, Body body, void* arg) = nullptr;

  /// Convenience over `run` for a lambda; serial when there is no pool.
  template <class F>
  void operator()(std::int64_t n, std::int64_t grain, F&& f) const {
    using Fn = std::remove_reference_t<F>;
    if (run == nullptr || threads <= 1 || n <= grain) {
      if (n > 0) f(std::int64_t{0}, n, 0);
      return;
    }
    run(
        pool, n, grain,
        [](void* arg, std::int64_t b, std::int64_t e, int w) { (*static_cast<Fn*>(arg))(b, e, w); },
        const_cast<void*>(static_cast<const void*>(&f)));
  }
};

/// What `prepare` gets and answers.
struct PrepareArgs {
  std::span<const TensorDesc> in;  ///< absent optionals are present()==false entries
  std::span<const TensorDesc> out;
  std::span<const Attr> attrs;
  int threads = 1;              ///< most threads `run` will be given
  std::uint64_t workspace = 0;  ///< answer: scratch bytes `run` needs (64-byte aligned)
  std::span<char> message;      ///< room for a formatted refusal

  const Attr* find(std::string_view name) const {
    for (const Attr& a : attrs)
      if (name == a.name) return &a;
    return nullptr;
  }
};

struct RunArgs {
  const void* const* in = nullptr;  ///< null for absent operands
  void* const* out = nullptr;
  void* workspace = nullptr;
  Parallel parallel;
};

/// A kernel as data. All functions are noexcept in effect; the string returned by prepare and run
/// is null on success, else a message that lives as long as the library (or in
/// PrepareArgs::message).
struct Kernel {
  const char* name = nullptr;  ///< "ref.conv", "cpu.region", "onednn.conv"
  std::size_t state_size = 0;  ///< bytes the caller provides for `state`, 64-byte aligned
  const char* (*prepare)(void* state, PrepareArgs& args) = nullptr;
  const char* (*run)(const void* state, const RunArgs& args) = nullptr;
  void (*destroy)(void* state) = nullptr;  ///< only after a successful prepare; may be null
};

/// Looks `name` up among the kernels compiled into this binary; null if there is none.
const Kernel* find_kernel(std::string_view name) noexcept;

/// All kernels compiled into this binary, in the order of kernels/cpu/kernels.def.
std::span<const Kernel* const> all_kernels() noexcept;

}  // namespace frit::kernels
