// SPDX-License-Identifier: Apache-2.0
#include "runtime/context.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "runtime/step_error.h"

namespace frit::runtime {
namespace {

// "[1, 3, 224, 224]" into a fixed buffer.
struct DimsText {
  char text[256] = "[";
  explicit DimsText(std::span<const std::int64_t> dims) noexcept {
    std::size_t used = 1;
    for (std::size_t i = 0; i < dims.size() && used < sizeof text - 24; ++i)
      used += static_cast<std::size_t>(std::snprintf(text + used, sizeof text - used, "%s%lld",
                                                     i == 0 ? "" : ", ",
                                                     static_cast<long long>(dims[i])));
    std::snprintf(text + used, sizeof text - used, "]");
  }
};

// Alignment that kernels rely on: whole elements.
std::uintptr_t element_alignment(DType dtype) noexcept {
  const int bytes = dtype_bits(dtype) / 8;
  return static_cast<std::uintptr_t>(std::clamp(bytes, 1, 8));
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Engine> engine,
                                                 const ContextOptions& options) noexcept {
  try {
    std::unique_ptr<Context> context(new Context(std::move(engine)));
    FRIT_TRY(context->init(options));
    return context;
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, "not enough memory for an execution context");
  }
}

Status Context::init(const ContextOptions& options) {
  const plan::Plan& plan = engine_->plan();
  const int profiles = std::max(1, static_cast<int>(plan.profiles.size()));
  if (options.profile < 0 || options.profile >= profiles)
    return Status::error(Code::invalid_argument, "profile: expected 0 to %d, found %d",
                         profiles - 1, options.profile);
  auto* arena = static_cast<std::byte*>(options.memory);
  const std::uint64_t needed = engine_->context_bytes();
  if (arena == nullptr) {
    Result<HostBuffer> memory = HostBuffer::allocate(needed, "activations");
    FRIT_TRY(memory);
    memory_ = std::move(*memory);
    arena = memory_.data();
  } else if (options.memory_bytes < needed ||
             reinterpret_cast<std::uintptr_t>(arena) % plan::kTensorAlignment != 0) {
    return Status::error(Code::invalid_argument,
                         "context memory: expected %llu bytes aligned to 64, found %llu at %p",
                         static_cast<unsigned long long>(needed),
                         static_cast<unsigned long long>(options.memory_bytes), options.memory);
  }
  std::byte* const extra = arena + align_up(plan.arena_bytes, plan::kTensorAlignment);
  const cpu::Program& program = engine_->program();
  slots_.reserve(program.slots.size());
  for (const cpu::Slot& s : program.slots) {
    void* pointer = nullptr;
    if (s.base == cpu::Slot::Base::arena) pointer = arena + s.offset;
    if (s.base == cpu::Slot::Base::extra) pointer = extra;
    // Kernels take operands as const pointers; the slot table serves both directions.
    if (s.base == cpu::Slot::Base::constant)
      pointer = const_cast<std::byte*>(engine_->contents().weights.data() + s.offset);
    slots_.push_back(pointer);
  }
  bound_.resize(plan.bindings.size());
  complete_ = bound_.empty();
  counters_.resize(program.counters);
  if (options.profile_steps) times_.resize(program.steps.size());
  return {};
}

Status Context::check_binding(int binding) const noexcept {
  const auto count = static_cast<int>(engine_->plan().bindings.size());
  if (binding >= 0 && binding < count) return {};
  return Status::error(Code::invalid_argument, "binding: expected 0 to %d, found %d", count - 1,
                       binding);
}

Status Context::set_input_shape(int binding, std::span<const std::int64_t> dims) noexcept {
  FRIT_TRY(check_binding(binding));
  const plan::Binding& b = engine_->plan().bindings[static_cast<std::size_t>(binding)];
  if (!b.is_input)
    return Status::error(Code::invalid_argument,
                         "'%s' is an output; its shape follows from the inputs", b.name.c_str());
  if (std::equal(dims.begin(), dims.end(), b.dims.begin(), b.dims.end())) return {};
  return Status::error(Code::shape_mismatch,
                       "input '%s': expected dims %s, found %s; build an engine for that shape",
                       b.name.c_str(), DimsText(b.dims).text, DimsText(dims).text);
}

std::span<const std::int64_t> Context::shape(int binding) const noexcept {
  return engine_->plan().bindings[static_cast<std::size_t>(binding)].dims;
}

Status Context::set_address(int binding, void* address, std::uint64_t bytes) noexcept {
  FRIT_TRY(check_binding(binding));
  const auto number = static_cast<std::size_t>(binding);
  const plan::Binding& b = engine_->plan().bindings[number];
  const std::uint64_t needed = engine_->binding_bytes(binding);
  if (bytes < needed || (address == nullptr && needed > 0))
    return Status::error(Code::invalid_argument,
                         "'%s': expected memory of %llu bytes, found %llu at %p", b.name.c_str(),
                         static_cast<unsigned long long>(needed),
                         static_cast<unsigned long long>(bytes), address);
  Bound& bound = bound_[number];
  const bool staged =
      reinterpret_cast<std::uintptr_t>(address) % element_alignment(b.dtype) != 0 && needed > 0;
  if (staged && bound.staging.size() == 0) {
    Result<HostBuffer> buffer = HostBuffer::allocate(needed, b.name.c_str());
    FRIT_TRY(buffer);
    bound.staging = std::move(*buffer);
  }
  bound.staged = staged;
  // An empty tensor may come without memory; a non-null address still marks it as bound.
  bound.address = address != nullptr ? address : this;
  point(binding, staged ? bound.staging.data() : bound.address);
  complete_ = std::all_of(bound_.begin(), bound_.end(),
                          [](const Bound& other) { return other.address != nullptr; });
  return {};
}

void Context::point(int binding, void* base) noexcept {
  const cpu::Program& program = engine_->program();
  for (const std::uint32_t slot : program.uses[static_cast<std::size_t>(binding)])
    slots_[slot] = static_cast<std::byte*>(base) + program.slots[slot].offset;
}

Status Context::check_bound() noexcept {
  if (complete_) return {};
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    if (bound_[i].address != nullptr) continue;
    std::snprintf(message_, sizeof message_,
                  "'%s' has no memory; set the address of every binding before the first run",
                  engine_->plan().bindings[i].name.c_str());
    break;
  }
  return Status::borrowed(Code::invalid_argument, message_);
}

Status Context::enqueue(void* stream) noexcept {
  if (stream != nullptr)
    return Status::borrowed(Code::invalid_argument,
                            "stream: the CPU backend has none, expected null");
  FRIT_TRY(check_bound());
  engine_->thread_begin();
  const std::vector<plan::Binding>& bindings = engine_->plan().bindings;
  for (std::size_t i = 0; i < bound_.size(); ++i)
    if (bound_[i].staged && bindings[i].is_input)
      std::memcpy(bound_[i].staging.data(), bound_[i].address, bound_[i].staging.size());

  cpu::Frame frame;
  frame.slots = slots_.data();
  frame.counters = counters_.data();
  frame.times = times_;
  frame.parallel = engine_->parallel();
  const cpu::Failure failure = cpu::execute(engine_->program(), frame);
  if (failure.step >= 0) {
    format_step_error(message_, *engine_->steps()[static_cast<std::size_t>(failure.step)],
                      failure.message);
    return Status::borrowed(Code::execution_failed, message_);
  }
  for (std::size_t i = 0; i < bound_.size(); ++i)
    if (bound_[i].staged && !bindings[i].is_input)
      std::memcpy(bound_[i].address, bound_[i].staging.data(), bound_[i].staging.size());
  return {};
}

void Context::reset_times() noexcept {
  std::fill(times_.begin(), times_.end(), cpu::StepTime());
}

}  // namespace frit::runtime
