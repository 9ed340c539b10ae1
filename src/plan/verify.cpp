// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <string_view>
#include <unordered_set>

#include "base/dtypes.h"
#include "plan/dataflow.h"
#include "plan/verify_steps.h"

namespace frit::plan {
namespace {

using Dims = std::vector<std::int64_t>;
constexpr std::int64_t kMaxDim = std::int64_t{1} << 48;

std::size_t index(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

template <class T>
bool in_range(std::int32_t i, const std::vector<T>& list) {
  return i >= 0 && index(i) < list.size();
}

bool is_rank(const Dims& dims) {
  return dims.size() <= kernels::kMaxRank;
}

// Each dim with symbols at their upper bounds. False if a dim names no symbol.
bool largest_dims(const Plan& plan, const Dims& dims, std::int64_t* out) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    out[i] = dims[i];
    if (!is_symbol_dim(dims[i])) continue;
    const std::uint64_t symbol = static_cast<std::uint64_t>(symbol_of_dim(dims[i]));
    if (symbol >= plan.symbols.size()) return false;
    out[i] = plan.symbols[symbol].max;
  }
  return true;
}

bool is_static(const Dims& dims) {
  return std::none_of(dims.begin(), dims.end(), is_symbol_dim);
}

Status check_symbols(const Plan& plan) {
  for (std::size_t i = 0; i < plan.symbols.size(); ++i) {
    const Symbol& s = plan.symbols[i];
    if (s.min < 0 || s.max < s.min || s.max > kMaxDim)
      return plan_error("symbol %zu: expected 0 <= min <= max <= 2^48", i);
    if (!in_range(s.value, plan.shape_program))
      return plan_error("symbol %zu: its value is not an instruction of the shape program", i);
  }
  for (std::size_t i = 0; i < plan.shape_program.size(); ++i) {
    const ShapeInstruction& s = plan.shape_program[i];
    bool good = s.op <= ShapeOp::max;
    if (s.op == ShapeOp::input_dim || s.op == ShapeOp::input_value) {
      good = good && in_range(s.a, plan.bindings) && plan.bindings[index(s.a)].is_input && s.b >= 0;
      if (good && s.op == ShapeOp::input_dim) {
        good = index(s.b) < plan.bindings[index(s.a)].dims.size();
      } else if (good) {
        const Binding& b = plan.bindings[index(s.a)];
        const Result<std::uint64_t> count = element_count(b.dims);
        good = b.is_shape && count.ok() && static_cast<std::uint64_t>(s.b) < *count &&
               (b.dtype == DType::i64 || b.dtype == DType::i32);
      }
    } else if (good && s.op != ShapeOp::constant) {
      good = s.a >= 0 && index(s.a) < i && s.b >= 0 && index(s.b) < i;
    }
    if (!good) return plan_error("shape program: instruction %zu is not valid", i);
  }
  return {};
}

Status check_bindings(const Plan& plan) {
  std::unordered_set<std::string_view> names;
  bool outputs = false;
  for (std::size_t i = 0; i < plan.bindings.size(); ++i) {
    const Binding& b = plan.bindings[i];
    if (b.name.empty() || !names.insert(b.name).second)
      return plan_error("binding %zu: expected a name of its own, found '%s'", i, b.name.c_str());
    if (b.is_input && outputs) return plan_error("binding %zu: inputs must come before outputs", i);
    outputs = outputs || !b.is_input;
    if (!in_range(b.tensor, plan.tensors))
      return plan_error("binding '%s': its tensor is out of range", b.name.c_str());
    const Tensor& t = plan.tensors[index(b.tensor)];
    if (t.location != Location::binding || t.index != static_cast<std::int32_t>(i) ||
        t.offset != 0 || t.dtype != b.dtype || t.dims != b.dims || !t.strides.empty() ||
        t.alias_of != kNone)
      return plan_error("binding '%s' and its tensor %d differ", b.name.c_str(), b.tensor);
  }
  return {};
}

Status check_profiles(const Plan& plan) {
  for (const Profile& p : plan.profiles)
    for (const ProfileInput& in : p.inputs) {
      if (!in_range(in.binding, plan.bindings) || !plan.bindings[index(in.binding)].is_input)
        return plan_error("profile '%s': expected inputs, found binding %d", p.name.c_str(),
                          in.binding);
      const Dims& dims = plan.bindings[index(in.binding)].dims;
      bool good = in.min.size() == dims.size() && in.opt.size() == dims.size() &&
                  in.max.size() == dims.size();
      for (std::size_t i = 0; good && i < dims.size(); ++i)
        good = in.min[i] >= 0 && in.min[i] <= in.opt[i] && in.opt[i] <= in.max[i] &&
               in.max[i] <= kMaxDim &&
               (is_symbol_dim(dims[i]) || (in.min[i] == dims[i] && in.max[i] == dims[i]));
      if (!good)
        return plan_error("profile '%s': the range of input '%s' is not valid", p.name.c_str(),
                          plan.bindings[index(in.binding)].name.c_str());
    }
  return {};
}

// Bytes from the first to the last element; 0 when there are none.
Result<std::uint64_t> extent(const Plan& plan, const Tensor& t) {
  std::int64_t dims[kernels::kMaxRank];
  if (!largest_dims(plan, t.dims, dims)) return plan_error("a dim names an unknown symbol");
  const std::span<const std::int64_t> shape(dims, t.dims.size());
  Result<std::uint64_t> bytes = storage_bytes(t.dtype, shape);
  if (!bytes.ok() || *bytes == 0 || t.strides.empty()) return bytes;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t stride = t.strides[i];
    const auto steps = static_cast<std::uint64_t>(shape[i] - 1);
    if (stride < 0 || (steps > 0 && static_cast<std::uint64_t>(stride) > kMaxBytes / steps))
      return plan_error("a stride is negative or too large");
    last += steps * static_cast<std::uint64_t>(stride);
  }
  if (last >= kMaxBytes) return plan_error("the strides reach too far");
  return storage_bytes(t.dtype, last + 1);
}

Status check_constants(const Plan& plan, std::uint64_t weights, std::uint64_t code) {
  const auto placed = [](const auto& item, std::uint64_t size) {
    return item.offset % kWeightAlignment == 0 && item.offset <= size &&
           item.bytes <= size - item.offset;
  };
  for (std::size_t i = 0; i < plan.constants.size(); ++i)
    if (!placed(plan.constants[i], weights) || !is_storable(plan.constants[i].dtype))
      return plan_error("constant %zu is misaligned, outside the weights or of no valid type", i);
  for (std::size_t i = 0; i < plan.images.size(); ++i)
    if (!placed(plan.images[i], code))
      return plan_error("code image %zu is misaligned or outside the code section", i);
  return {};
}

// The bytes that exist at the tensor's location.
Result<std::uint64_t> room(const Plan& plan, const Tensor& t) {
  switch (t.location) {
    case Location::none:
      return kMaxBytes;
    case Location::arena:
      return plan.arena_bytes;
    case Location::constant:
      if (in_range(t.index, plan.constants)) return plan.constants[index(t.index)].bytes;
      return plan_error("its constant is out of range");
    case Location::binding:
      if (in_range(t.index, plan.bindings) &&
          in_range(plan.bindings[index(t.index)].tensor, plan.tensors))
        return plan.tensors[index(plan.bindings[index(t.index)].tensor)].bytes;
      return plan_error("its binding is out of range");
  }
  return plan_error("its location is unknown");
}

Status check_tensor(const Plan& plan, const Tensor& t) {
  if (!is_storable(t.dtype) || !is_rank(t.dims) ||
      (!t.strides.empty() && t.strides.size() != t.dims.size()))
    return plan_error("its type, rank or strides are not valid");
  if (!t.strides.empty() && (dtype_bits(t.dtype) < 8 || !is_static(t.dims)))
    return plan_error("strides need fixed dims and elements of whole bytes");
  const Result<std::uint64_t> bytes = extent(plan, t);
  FRIT_TRY(bytes);
  const bool fits = is_static(t.dims) && t.strides.empty() ? t.bytes == *bytes : t.bytes >= *bytes;
  if (!fits)
    return plan_error("expected %llu bytes for its dims, found %llu",
                      static_cast<unsigned long long>(*bytes),
                      static_cast<unsigned long long>(t.bytes));
  const Result<std::uint64_t> available = room(plan, t);
  FRIT_TRY(available);
  const std::uint64_t element = std::max(1, dtype_bits(t.dtype) / 8);
  const std::uint64_t alignment =
      t.location == Location::arena && t.alias_of == kNone ? kTensorAlignment : element;
  if (t.offset > *available || t.bytes > *available - t.offset || t.offset % alignment != 0)
    return plan_error("it is misaligned or leaves its storage");
  return {};
}

// Follows alias chains to their ends, each tensor once.
Status find_roots(const Plan& plan, std::vector<std::int32_t>& roots) {
  constexpr std::int32_t kUnknown = -2, kActive = -3;
  roots.assign(plan.tensors.size(), kUnknown);
  std::vector<std::int32_t> chain;
  for (std::size_t i = 0; i < plan.tensors.size(); ++i) {
    std::int32_t at = static_cast<std::int32_t>(i);
    chain.clear();
    while (roots[index(at)] == kUnknown) {
      roots[index(at)] = kActive;
      chain.push_back(at);
      const std::int32_t next = plan.tensors[index(at)].alias_of;
      if (next == kNone) break;
      if (!in_range(next, plan.tensors) || roots[index(next)] == kActive)
        return plan_error("tensor %d: its alias is out of range or goes in a circle", at);
      const Tensor &t = plan.tensors[index(at)], &base = plan.tensors[index(next)];
      if (t.location != base.location || t.index != base.index || t.offset < base.offset ||
          t.offset + t.bytes > base.offset + base.bytes)
        return plan_error("tensor %d: expected it within the tensor %d that it aliases", at, next);
      at = next;
    }
    const std::int32_t root = roots[index(at)] == kActive ? at : roots[index(at)];
    for (const std::int32_t t : chain) roots[index(t)] = root;
  }
  return {};
}

Status check_modules(const Plan& plan) {
  std::unordered_set<std::string_view> names;
  for (const ModuleRequirement& m : plan.modules) {
    // The name becomes part of a file name.
    const bool good =
        !m.name.empty() && m.name.size() <= 64 &&
        m.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!good || !names.insert(m.name).second)
      return plan_error("expected module names of [a-z0-9_], each once, found '%.64s'",
                        m.name.c_str());
  }
  return {};
}

Status check_all(const Plan& plan, std::uint64_t weights, std::uint64_t code) {
  constexpr std::size_t kMaxItems = std::size_t{1} << 30;
  if (plan.tensors.size() > kMaxItems || plan.bindings.size() > kMaxItems)
    return plan_error("expected at most 2^30 tensors and bindings, found more");
  if (plan.backend.empty()) return plan_error("expected the name of a backend, found none");
  if (plan.arena_bytes > kMaxArenaBytes || plan.arena_lower_bound > plan.arena_bytes)
    return plan_error("expected an arena of at most 2^40 bytes and its lower bound below it");
  if (plan.streams < 1 || plan.streams > kMaxStreams)
    return plan_error("expected 1 to %d streams, found %d", kMaxStreams, plan.streams);
  FRIT_TRY(check_symbols(plan));
  FRIT_TRY(check_constants(plan, weights, code));
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    if (const Status s = check_tensor(plan, plan.tensors[i]); !s.ok())
      return Status::error(Code::invalid_engine, "%s (tensor %zu)", s.message(), i);
  FRIT_TRY(check_bindings(plan));
  FRIT_TRY(check_profiles(plan));
  FRIT_TRY(check_modules(plan));
  std::vector<std::int32_t> roots;
  FRIT_TRY(find_roots(plan, roots));
  FRIT_TRY(verify_steps(plan));
  return verify_dataflow(plan, roots);
}

}  // namespace

const char* step_kind_name(StepKind kind) noexcept {
  switch (kind) {
    case StepKind::kernel:
      return "kernel";
    case StepKind::copy:
      return "copy";
    case StepKind::fill:
      return "fill";
    case StepKind::host_call:
      return "host_call";
    case StepKind::vendor_call:
      return "vendor_call";
    case StepKind::launch:
      return "launch";
    case StepKind::branch:
      return "if";
    case StepKind::loop:
      return "loop";
    case StepKind::plugin:
      return "plugin";
    case StepKind::fork:
      return "fork";
    case StepKind::join:
      return "join";
  }
  return "unknown";
}

Status plan_error(const char* format, ...) noexcept {
  char text[768];
  std::va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return Status::error(Code::invalid_engine, "engine plan: %s", text);
}

Status verify(const Plan& plan, std::uint64_t weights_bytes, std::uint64_t code_bytes) noexcept {
  try {
    return check_all(plan, weights_bytes, code_bytes);
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, "not enough memory to verify the engine");
  }
}

}  // namespace frit::plan
