// SPDX-License-Identifier: Apache-2.0
// What all kernels of the module share: a primitive with its memories, packed constants, reorders.
#pragma once

#include <dnnl.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/common/kernel.h"
#include "runtime/module.h"

namespace frit::onednn {

using kernels::PrepareArgs;
using kernels::RunArgs;
using kernels::TensorDesc;

/// Thrown inside prepare only; becomes the refusal.
struct Refusal {
  std::string message;
};
[[noreturn]] void refuse(std::string message);

/// The CPU engine, made once.
const dnnl::engine& cpu_engine();

// Attributes; refusals name what is missing.
std::int64_t int_attr(std::span<const kernels::Attr> attrs, std::string_view name,
                      std::int64_t otherwise);
std::vector<std::int64_t> ints_attr(std::span<const kernels::Attr> attrs, std::string_view name);

/// The operand as the model has it: for a packed operand, what packed<k>_dims and _dtype say.
struct Operand {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  std::string packed_format;  ///< "" = plain
  std::uint64_t bytes = 0;
  bool present() const { return dtype != DType::undefined; }
};
Operand operand_of(std::span<const TensorDesc> in, std::span<const kernels::Attr> attrs, int index);

/// Plain row-major memory of f32.
dnnl::memory::desc plain(const std::vector<std::int64_t>& dims);
/// Text that identifies a layout on this kind of machine.
std::string format_text(const dnnl::memory::desc& desc);
/// Refuses unless the desc is f32, static and as large as its dims say.
void require_f32(const Operand& operand, const char* name);

/// One argument of a primitive: a DNNL_ARG_* and where its bytes are.
struct Argument {
  int arg = 0;
  dnnl::memory::desc desc;
  enum class From : std::uint8_t { in, out, workspace } from = From::in;
  int index = 0;             ///< of in or out
  std::uint64_t offset = 0;  ///< in the workspace
};

/// A primitive with its arguments.
struct Call {
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
};

/// A prepared step: primitives in order. Immutable but for the slots, which hold oneDNN's memory
/// objects (they carry addresses, so each run needs a set of its own).
class Step {
 public:
  /// Room in the workspace; 64-byte aligned.
  std::uint64_t reserve(std::uint64_t bytes);
  void add(Call call) { calls_.push_back(std::move(call)); }
  std::uint64_t workspace() const { return workspace_; }
  /// Makes the slots; call last.
  void finish();
  const char* run(const RunArgs& args) const;

 private:
  struct Slot {
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
    dnnl::stream stream;
    std::vector<std::vector<dnnl::memory>> memories;      // per call, per argument
    std::vector<std::vector<dnnl_exec_arg_t>> arguments;  // the same for the C interface
  };
  const char* run_in(Slot& slot, const RunArgs& args) const;

  static constexpr int kSlots = 16;
  std::vector<Call> calls_;
  std::uint64_t workspace_ = 0;
  std::unique_ptr<Slot[]> slots_;
};

/// Adds a reorder when the layouts differ and returns where the primitive finds its source.
Argument source_argument(Step& step, int arg, const dnnl::memory::desc& wanted,
                         const dnnl::memory::desc& given, int in_index);
/// The mirror for a result: primitive writes the workspace, `after` receives the reorder.
Argument result_argument(Step& step, int arg, const dnnl::memory::desc& made,
                         const dnnl::memory::desc& wanted, int out_index, std::vector<Call>& after);

/// Runs `body`, turning exceptions into a refusal in args.message; sets OpenMP's thread count.
const char* guarded(PrepareArgs& args, const std::function<void()>& body);

}  // namespace frit::onednn
