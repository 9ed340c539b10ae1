// SPDX-License-Identifier: Apache-2.0
// The contents of an engine: flat data that the compiler fills and the runtime obeys.
// docs/engine-format.md describes the file; the structs here mirror plan.fbs one to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "frit/types.h"
#include "kernels/common/kernel.h"

namespace frit::plan {

inline constexpr std::uint16_t kFormatMajor = 1;  ///< readers refuse any other
inline constexpr std::uint16_t kFormatMinor = 0;  ///< readers accept this and older

inline constexpr std::int32_t kNone = -1;               ///< "no tensor", "no index"
inline constexpr std::uint64_t kTensorAlignment = 64;   ///< of roots and workspaces in the arena
inline constexpr std::uint64_t kWeightAlignment = 256;  ///< of constants and code in the file
inline constexpr std::uint64_t kMaxArenaBytes = std::uint64_t{1} << 40;

/// A dim is a number >= 0, or a reference to symbol k written as -1-k.
constexpr std::int64_t symbol_dim(std::int64_t symbol) {
  return -1 - symbol;
}
constexpr bool is_symbol_dim(std::int64_t dim) {
  return dim < 0;
}
constexpr std::int64_t symbol_of_dim(std::int64_t dim) {
  return -1 - dim;
}

/// A tensor of the outside: an input or output of the engine. Inputs come first, in model order.
struct Binding {
  std::string name;
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  bool is_input = false;
  bool is_shape = false;        ///< its values determine shapes, so it is read on the host
  std::int32_t tensor = kNone;  ///< the tensor at this binding with offset 0
};

/// The dims one input may take, as numbers.
struct ProfileInput {
  std::int32_t binding = kNone;
  std::vector<std::int64_t> min, opt, max;
};

/// One range of input shapes the engine was built for.
struct Profile {
  std::string name;
  std::vector<ProfileInput> inputs;
};

/// An unknown dim with bounds; `value` is the shape-program instruction that computes it.
struct Symbol {
  std::string name;
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::int32_t value = kNone;
};

enum class ShapeOp : std::uint8_t {
  constant,     ///< imm
  input_dim,    ///< dim `b` of binding `a`
  input_value,  ///< element `b` of the shape binding `a`
  add,          ///< this and the rest: values `a` and `b`
  sub,
  mul,
  floor_div,
  ceil_div,
  mod,
  min,
  max,
};

/// One instruction of the shape program; its result is value number = position in the list, and
/// operands are earlier positions.
struct ShapeInstruction {
  ShapeOp op = ShapeOp::constant;
  std::int32_t a = kNone;
  std::int32_t b = kNone;
  std::int64_t imm = 0;
};

enum class Location : std::uint8_t {
  none,      ///< known dims but no storage
  arena,     ///< `offset` in the arena
  constant,  ///< constant number `index`, `offset` bytes into it
  binding,   ///< memory given for binding `index`, `offset` bytes into it
};

/// A tensor as steps see it. Tensors of one root (through `alias_of`) share storage and contents: a
/// reshape is an alias, a concat written in parts is a root whose parts are aliases.
struct Tensor {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;
  std::vector<std::int64_t> strides;  ///< in elements; empty = dense row-major
  Location location = Location::none;
  std::int32_t index = kNone;  ///< constant or binding number
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;        ///< extent in storage; the upper bound when dims are symbolic
  std::int32_t alias_of = kNone;  ///< tensor of the same location whose range contains this one
};

/// A piece of the weights section. `offset` and `hash` are filled by `write`.
struct Constant {
  std::string name;  ///< for reports; may be empty
  DType dtype = DType::undefined;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  ///< xxh3 of the contents
};

/// Device code (CUDA). `offset` is filled by `write`.
struct CodeImage {
  std::string name;
  std::string format;  ///< "cubin", "ptx"
  std::string target;  ///< "sm_90"
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A named attribute; the kinds are those of kernels::Attr.
struct Attr {
  using Kind = kernels::Attr::Kind;
  std::string name;
  Kind kind = Kind::integer;
  std::int64_t i = 0;
  double f = 0;
  std::string s;
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
};

enum class StepKind : std::uint8_t {
  kernel,       ///< a kernels::Kernel by name, built in or of a module
  copy,         ///< bytes of inputs[0] to outputs[0]
  fill,         ///< attribute `value` (integer: the bits of one element) over outputs[0]
  host_call,    ///< a kernel that runs on the host whatever the backend
  vendor_call,  ///< a kernel of a vendor module
  launch,       ///< device code
  branch,       ///< if: inputs[0] (bool, one element) selects blocks[0] or blocks[1]
  loop,         ///< see docs/engine-format.md
  plugin,       ///< user-supplied kernel
  fork,         ///< `stream` starts waiting for `peer_stream`
  join,         ///< `stream` waits until `peer_stream` is done
};

/// Stable lower-case name of a step kind ("kernel", "if").
const char* step_kind_name(StepKind kind) noexcept;

/// Launch geometry of device code.
struct Launch {
  std::int32_t image = kNone;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
};

/// Output number `output` is allowed to share storage with input number `input`.
struct InPlace {
  std::int32_t input = 0;
  std::int32_t output = 0;
};

struct Block;

/// One thing to do. Inputs and outputs are tensor ids; kNone marks an absent optional operand.
struct Step {
  StepKind kind = StepKind::kernel;
  std::string name;    ///< for reports and profiles; unique by convention
  std::string module;  ///< "" = built in
  std::string kernel;  ///< kernel, or entry point of a launch
  std::vector<Attr> attrs;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::vector<InPlace> in_place;
  std::uint64_t workspace_offset = 0;  ///< in the arena
  std::uint64_t workspace_bytes = 0;   ///< 0: the runtime provides what prepare asks for
  std::int32_t stream = 0;
  std::int32_t peer_stream = 0;
  std::vector<std::string> origin;  ///< ONNX nodes this step computes
  std::vector<Block> blocks;        ///< of if and loop
  Launch launch;
};

/// A nested list of steps.
struct Block {
  std::vector<Step> steps;
};

/// A module the engine cannot run without. `fingerprint` must equal the module's own.
struct ModuleRequirement {
  std::string name;
  std::uint32_t abi_version = 0;
  std::string fingerprint;
};

/// What checking one output at build time found.
struct Verification {
  std::string output;
  double max_abs_error = 0;
  double max_rel_error = 0;
  double atol = 0;
  double rtol = 0;
  bool passed = false;
  std::string covered;  ///< "whole model, batch 1", "12 of 80 steps sampled"
};

/// Everything an engine says, without the bytes of weights and code.
struct Plan {
  std::string producer;  ///< program and version
  std::string name;      ///< of the model
  std::string backend = "cpu";
  std::string target;      ///< instruction set or GPU it was built for; informative
  std::string build_info;  ///< options as text; no times, paths or hosts
  std::vector<Binding> bindings;
  std::vector<Profile> profiles;
  std::vector<Symbol> symbols;
  std::vector<ShapeInstruction> shape_program;
  std::vector<Tensor> tensors;
  std::vector<Constant> constants;
  std::vector<CodeImage> images;
  std::vector<Step> steps;
  std::vector<ModuleRequirement> modules;
  std::vector<Verification> verification;
  std::uint64_t arena_bytes = 0;
  std::uint64_t arena_lower_bound = 0;  ///< largest sum of bytes alive at one step
  std::int32_t streams = 1;
};

/// A plan read from a file image, with views of its raw sections; the image must outlive it.
struct Contents {
  Plan plan;
  std::uint16_t format_major = 0;
  std::uint16_t format_minor = 0;
  std::uint64_t fingerprint = 0;  ///< hash of the whole engine
  std::span<const std::byte> weights;
  std::span<const std::byte> code;

  std::span<const std::byte> constant(std::size_t i) const {
    return weights.subspan(plan.constants[i].offset, plan.constants[i].bytes);
  }
  std::span<const std::byte> image(std::size_t i) const {
    return code.subspan(plan.images[i].offset, plan.images[i].bytes);
  }
};

/// Bytes to put into a raw section; one per constant or image, of exactly the declared size.
using Blob = std::span<const std::byte>;

/// Serializes to memory. Assigns offsets and hashes (equal contents are stored once), then checks
/// the result with `verify`. Equal arguments give equal bytes.
Result<std::vector<std::byte>> write(Plan plan, std::span<const Blob> constants,
                                     std::span<const Blob> images = {}) noexcept;

/// As `write`, straight to a file that appears complete or not at all.
Status write_file(const char* path, Plan plan, std::span<const Blob> constants,
                  std::span<const Blob> images = {}) noexcept;

/// Which checks `read` makes beyond those that memory safety needs.
struct ReadOptions {
  bool check_weights = true;   ///< checksum of weights and code
  kernels::Parallel parallel;  ///< threads for the checksums
};

/// Reads an image aligned to 256 bytes. Anything wrong with it is one invalid_engine error.
Result<Contents> read(std::span<const std::byte> image, const ReadOptions& options = {}) noexcept;

/// Checks that a plan is consistent: ids, offsets, sizes, order of definition and use, overlaps.
/// `read` and `write` call it; after it the runtime trusts every number.
Status verify(const Plan& plan, std::uint64_t weights_bytes, std::uint64_t code_bytes) noexcept;

}  // namespace frit::plan
