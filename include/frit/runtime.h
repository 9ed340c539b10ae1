// SPDX-License-Identifier: Apache-2.0
// C++ over the C ABI of runtime_c.h: move-only handles, nothing thrown, header-only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "frit/runtime_c.h"
#include "frit/types.h"

namespace frit {

/// Success or a code with the library's message.
class [[nodiscard]] RuntimeStatus {
 public:
  RuntimeStatus() = default;
  /// Takes the message of the call that just failed on this thread.
  explicit RuntimeStatus(frit_status status)
      : code_(static_cast<Code>(status)), message_(status == FRIT_OK ? "" : frit_last_error()) {}

  bool ok() const { return code_ == Code::ok; }
  explicit operator bool() const { return ok(); }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  Code code_ = Code::ok;
  std::string message_;
};

/// An input or output of an engine. `dims` holds -1 where the size depends on the input shapes.
struct BindingInfo {
  const char* name = "";
  DType dtype = DType::undefined;
  std::span<const std::int64_t> dims;
  bool is_input = false;
  bool is_shape = false;
  std::uint64_t bytes = 0;
};

/// A loaded engine; share it among threads by reference.
class RuntimeEngine {
 public:
  /// How to load; see frit_engine_options.
  struct Options {
    int cpu_threads = 0;
    bool skip_checksums = false;
    const char* module_dir = nullptr;
    bool borrow_memory = false;
  };

  RuntimeEngine() = default;
  RuntimeEngine(RuntimeEngine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  RuntimeEngine& operator=(RuntimeEngine&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~RuntimeEngine() { frit_engine_destroy(handle_); }

  /// Loads a file into this object, replacing what it held.
  RuntimeStatus load(const char* path) { return load(path, Options()); }
  RuntimeStatus load(const char* path, const Options& options) {
    const frit_engine_options o = convert(options);
    frit_engine* handle = nullptr;
    const frit_status status = frit_engine_load_file(path, &o, &handle);
    return take(status, handle);
  }
  /// Loads from memory: a copy, or in place with borrow_memory (see frit_engine_load_memory).
  RuntimeStatus load(std::span<const std::byte> image) { return load(image, Options()); }
  RuntimeStatus load(std::span<const std::byte> image, const Options& options) {
    const frit_engine_options o = convert(options);
    frit_engine* handle = nullptr;
    const frit_status status = frit_engine_load_memory(image.data(), image.size(), &o, &handle);
    return take(status, handle);
  }

  explicit operator bool() const { return handle_ != nullptr; }
  frit_engine* handle() const { return handle_; }

  frit_engine_info info() const {
    frit_engine_info info = {};
    info.size = sizeof info;
    static_cast<void>(frit_engine_get_info(handle_, &info));
    return info;
  }
  int binding_count() const { return info().binding_count; }
  /// Index of that name, or -1.
  int find_binding(const char* name) const { return frit_engine_find_binding(handle_, name); }
  /// Describes binding `index`; all empty if there is none.
  BindingInfo binding(int index) const {
    frit_binding_info b = {};
    b.size = sizeof b;
    if (frit_engine_get_binding(handle_, index, &b) != FRIT_OK) return {};
    BindingInfo info;
    info.name = b.name;
    info.dtype = static_cast<DType>(b.dtype);
    info.dims = {b.dims, static_cast<std::size_t>(b.rank)};
    info.is_input = b.is_input != 0;
    info.is_shape = b.is_shape != 0;
    info.bytes = b.bytes;
    return info;
  }
  frit_step_info step(int index) const {
    frit_step_info s = {};
    s.size = sizeof s;
    static_cast<void>(frit_engine_get_step(handle_, index, &s));
    return s;
  }

 private:
  static frit_engine_options convert(const Options& options) {
    frit_engine_options o = {};
    o.size = sizeof o;
    o.cpu_threads = options.cpu_threads;
    o.skip_checksums = options.skip_checksums ? 1 : 0;
    o.module_dir = options.module_dir;
    o.borrow_memory = options.borrow_memory ? 1 : 0;
    return o;
  }
  RuntimeStatus take(frit_status status, frit_engine* handle) {
    if (status != FRIT_OK) return RuntimeStatus(status);
    frit_engine_destroy(handle_);
    handle_ = handle;
    return {};
  }

  frit_engine* handle_ = nullptr;
};

/// One execution at a time; use one per thread. Keeps the engine's data alive by itself.
class RuntimeContext {
 public:
  RuntimeContext() = default;
  RuntimeContext(RuntimeContext&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  RuntimeContext& operator=(RuntimeContext&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~RuntimeContext() { frit_context_destroy(handle_); }

  /// Makes the context, replacing what this object held.
  RuntimeStatus create(const RuntimeEngine& engine, bool profile_steps = false) {
    frit_context_options o = {};
    o.size = sizeof o;
    o.profile_steps = profile_steps ? 1 : 0;
    frit_context* handle = nullptr;
    const frit_status status = frit_context_create(engine.handle(), &o, &handle);
    if (status != FRIT_OK) return RuntimeStatus(status);
    frit_context_destroy(handle_);
    handle_ = handle;
    return {};
  }

  explicit operator bool() const { return handle_ != nullptr; }
  frit_context* handle() const { return handle_; }

  RuntimeStatus set_input_shape(int binding, std::span<const std::int64_t> dims) {
    return RuntimeStatus(frit_context_set_input_shape(handle_, binding, dims.data(),
                                                      static_cast<std::int32_t>(dims.size())));
  }
  /// Dims under the shapes set so far; empty for a bad index too.
  std::span<const std::int64_t> shape(int binding) const {
    const std::int64_t* dims = nullptr;
    std::int32_t rank = 0;
    if (frit_context_get_shape(handle_, binding, &dims, &rank) != FRIT_OK) return {};
    return {dims, static_cast<std::size_t>(rank)};
  }
  /// Gives memory to a binding; it stays the caller's.
  RuntimeStatus set_address(int binding, void* address, std::uint64_t bytes) {
    return RuntimeStatus(frit_context_set_address(handle_, binding, address, bytes));
  }
  RuntimeStatus set_address(int binding, const void* address, std::uint64_t bytes) {
    return set_address(binding, const_cast<void*>(address), bytes);
  }
  template <class T>
  RuntimeStatus set_address(int binding, std::span<T> memory) {
    return set_address(binding, memory.data(), memory.size_bytes());
  }
  /// Runs; the outputs are complete on return (CPU). Allocates only to report an error.
  RuntimeStatus enqueue(void* stream = nullptr) {
    return RuntimeStatus(frit_context_enqueue(handle_, stream));
  }
  RuntimeStatus synchronize() { return RuntimeStatus(frit_context_synchronize(handle_)); }
  /// Times by step number; empty if not recorded.
  std::span<const frit_step_profile> profile() const {
    const frit_step_profile* steps = nullptr;
    std::int32_t count = 0;
    if (frit_context_get_profile(handle_, &steps, &count) != FRIT_OK) return {};
    return {steps, static_cast<std::size_t>(count)};
  }
  RuntimeStatus reset_profile() { return RuntimeStatus(frit_context_reset_profile(handle_)); }

 private:
  frit_context* handle_ = nullptr;
};

}  // namespace frit
