// SPDX-License-Identifier: Apache-2.0
// The contract with optional modules: shared libraries `libfrit_<name>.so` opened when an engine
// needs them (or the builder wants their tactics). A module exports one C symbol, `frit_module_v1`.
//
// Packed constants. A kernel may want a constant operand in a layout of its own. The builder asks
// `pack_query` for size and format, stores what `pack` writes as a u8 constant [bytes], and gives
// the step three attributes for operand k: `packed<k>_format` (text), `packed<k>_dims` (ints) and
// `packed<k>_dtype` (int) - the format and the operand's original dims and type. `prepare` compares
// the format to the one it would choose on this machine and refuses when they differ, with a
// message that tells the user to rebuild the engine here.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/common/kernel.h"

namespace frit::runtime {

/// Bumped with every incompatible change of the structs below or of kernels::Kernel.
inline constexpr std::uint32_t kModuleAbi = 1;

/// A step whose operand number `operand` the builder wants to pack. `in` describes the operands as
/// the model has them (not packed); in[operand].constant holds the data.
struct PackRequest {
  const char* kernel = nullptr;
  std::span<const kernels::Attr> attrs;
  std::span<const kernels::TensorDesc> in;
  std::span<const kernels::TensorDesc> out;
  int operand = 0;
  int threads = 1;
  std::span<char> message;  ///< room for a formatted refusal
};

/// How a module would pack an operand. bytes == 0: it gains nothing from packing.
struct PackAnswer {
  std::uint64_t bytes = 0;
  char format[256] = {};  ///< identifies layout and, where it matters, instruction set
};

/// What `frit_module_v1` returns: constant data that lives as long as the library.
struct Module {
  std::uint32_t abi_version = kModuleAbi;
  const char* name = nullptr;         ///< "onednn"; kernels are named "<name>.<op>"
  const char* fingerprint = nullptr;  ///< version of the library behind it, e.g. "oneDNN 2.6.3"
  const kernels::Kernel* kernels = nullptr;
  std::int32_t kernel_count = 0;

  /// Loops of the module's own thread pool (OpenMP); null to use ours. When given, every kernel of
  /// an engine that loads the module runs on it, so that there is one pool.
  kernels::Parallel (*make_parallel)(int threads) = nullptr;

  /// Called by the thread that enqueues, before the first step; cheap, allocates nothing.
  void (*thread_begin)(int threads) = nullptr;

  /// Answers how operand `operand` would be packed; null on success, else a message.
  const char* (*pack_query)(const PackRequest& request, PackAnswer& answer) = nullptr;

  /// Writes the packed operand (answer.bytes bytes, 64-byte aligned); null on success.
  const char* (*pack)(const PackRequest& request, void* packed) = nullptr;
};

/// Type and name of the symbol a module exports.
using ModuleEntry = const Module* (*)();
inline constexpr const char* kModuleSymbol = "frit_module_v1";

}  // namespace frit::runtime
