// SPDX-License-Identifier: Apache-2.0
// The C ABI: engines and contexts.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "runtime/c_status.h"
#include "runtime/context.h"
#include "runtime/engine.h"

using frit::Code;
using frit::Result;
using frit::Status;
using frit::runtime::report;

struct frit_engine {
  std::shared_ptr<const frit::runtime::Engine> engine;
  std::vector<std::vector<std::int64_t>> binding_dims;  ///< with -1 for symbols
  std::vector<std::vector<const char*>> step_origins;
};

struct frit_context {
  std::unique_ptr<frit::runtime::Context> context;
};

static_assert(sizeof(frit_step_profile) == sizeof(frit::runtime::cpu::StepTime));
static_assert(offsetof(frit_step_profile, total_ns) ==
              offsetof(frit::runtime::cpu::StepTime, total_ns));

namespace {

// The smallest `size` any version of an option or info struct ever had.
constexpr std::size_t kMinStruct = sizeof(std::size_t) + 1;

Status null_argument(const char* name) noexcept {
  return Status::error(Code::invalid_argument, "argument '%s' must not be null", name);
}

Status out_of_range(const char* what, std::int32_t index, std::size_t count) noexcept {
  return Status::error(Code::invalid_argument, "%s: expected 0 to %lld, found %d", what,
                       static_cast<long long>(count) - 1, index);
}

bool in_range(std::int32_t index, std::size_t count) noexcept {
  return index >= 0 && static_cast<std::size_t>(index) < count;
}

Status bad_size(const char* what, std::size_t size) noexcept {
  return Status::error(Code::invalid_argument,
                       "%s: expected its `size` set to sizeof of the struct, found %zu", what,
                       size);
}

// Reads an option struct of whatever version; fields the caller does not know keep defaults.
template <class T>
Status read_options(const T* given, T& out, const char* what) noexcept {
  if (given == nullptr) return {};
  if (given->size < kMinStruct || given->size > 4096) return bad_size(what, given->size);
  std::memcpy(&out, given, std::min(given->size, sizeof out));
  return {};
}

// Writes as much of an info struct as the caller's version has, and says so in its `size`.
template <class T>
Status write_info(const T& from, T* to, const char* what) noexcept {
  const std::size_t size = to->size;
  if (size < kMinStruct || size > 4096) return bad_size(what, size);
  std::memcpy(to, &from, std::min(size, sizeof from));
  to->size = std::min(size, sizeof from);
  return {};
}

Result<frit_engine*> wrap(std::shared_ptr<const frit::runtime::Engine> engine) noexcept {
  try {
    auto handle = std::make_unique<frit_engine>();
    for (const frit::plan::Binding& b : engine->plan().bindings) {
      auto& dims = handle->binding_dims.emplace_back(b.dims);
      for (std::int64_t& d : dims) d = std::max<std::int64_t>(d, -1);
    }
    for (const frit::plan::Step* s : engine->steps()) {
      auto& names = handle->step_origins.emplace_back();
      for (const std::string& o : s->origin) names.push_back(o.c_str());
    }
    handle->engine = std::move(engine);
    return handle.release();
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, "not enough memory for an engine");
  }
}

template <class Load>
Status load_engine(const frit_engine_options* options, frit_engine** out, Load load) noexcept {
  if (out == nullptr) return null_argument("engine");
  *out = nullptr;
  frit_engine_options given = {};
  FRIT_TRY(read_options(options, given, "frit_engine_options"));
  frit::runtime::EngineOptions o;
  o.cpu_threads = given.cpu_threads;
  o.check_weights = given.skip_checksums == 0;
  o.borrow_memory = given.borrow_memory != 0;
  o.module_dir = given.module_dir;
  Result<std::shared_ptr<const frit::runtime::Engine>> engine = load(o);
  FRIT_TRY(engine);
  Result<frit_engine*> handle = wrap(std::move(*engine));
  FRIT_TRY(handle);
  *out = *handle;
  return {};
}

Status engine_info(const frit_engine* engine, frit_engine_info* info) noexcept {
  if (engine == nullptr || info == nullptr) return null_argument("engine or info");
  const frit::runtime::Engine& e = *engine->engine;
  const frit::plan::Plan& p = e.plan();
  frit_engine_info i = {};
  i.name = p.name.c_str();
  i.backend = p.backend.c_str();
  i.target = p.target.c_str();
  i.producer = p.producer.c_str();
  i.build_info = p.build_info.c_str();
  i.format_major = e.contents().format_major;
  i.format_minor = e.contents().format_minor;
  i.binding_count = static_cast<std::int32_t>(p.bindings.size());
  i.profile_count = static_cast<std::int32_t>(p.profiles.size());
  i.step_count = static_cast<std::int32_t>(e.steps().size());
  i.cpu_threads = e.threads();
  i.fingerprint = e.contents().fingerprint;
  i.weights_bytes = e.contents().weights.size();
  i.arena_bytes = p.arena_bytes;
  i.context_bytes = e.context_bytes();
  i.verification_count = static_cast<std::int32_t>(p.verification.size());
  return write_info(i, info, "frit_engine_info");
}

Status binding_info(const frit_engine* engine, std::int32_t index,
                    frit_binding_info* info) noexcept {
  if (engine == nullptr || info == nullptr) return null_argument("engine or info");
  const auto& bindings = engine->engine->plan().bindings;
  if (!in_range(index, bindings.size())) return out_of_range("binding", index, bindings.size());
  const frit::plan::Binding& b = bindings[static_cast<std::size_t>(index)];
  frit_binding_info i = {};
  i.name = b.name.c_str();
  i.dtype = static_cast<std::int32_t>(b.dtype);
  i.rank = static_cast<std::int32_t>(b.dims.size());
  i.dims = engine->binding_dims[static_cast<std::size_t>(index)].data();
  i.is_input = b.is_input ? 1 : 0;
  i.is_shape = b.is_shape ? 1 : 0;
  i.bytes = engine->engine->binding_bytes(index);
  return write_info(i, info, "frit_binding_info");
}

Status profile_dims(const frit_engine* engine, std::int32_t profile, std::int32_t binding,
                    std::int32_t which, const int64_t** dims, int32_t* rank) noexcept {
  if (engine == nullptr || dims == nullptr || rank == nullptr)
    return null_argument("engine, dims or rank");
  const auto& profiles = engine->engine->plan().profiles;
  if (!in_range(profile, profiles.size())) return out_of_range("profile", profile, profiles.size());
  if (!in_range(which, 3)) return out_of_range("which (0 min, 1 opt, 2 max)", which, 3);
  for (const frit::plan::ProfileInput& in : profiles[static_cast<std::size_t>(profile)].inputs) {
    if (in.binding != binding) continue;
    const auto& found = which == 0 ? in.min : (which == 1 ? in.opt : in.max);
    *dims = found.data();
    *rank = static_cast<std::int32_t>(found.size());
    return {};
  }
  return Status::error(Code::not_found, "binding %d: profile %d has no range for it", binding,
                       profile);
}

Status step_info(const frit_engine* engine, std::int32_t index, frit_step_info* info) noexcept {
  if (engine == nullptr || info == nullptr) return null_argument("engine or info");
  const auto steps = engine->engine->steps();
  if (!in_range(index, steps.size())) return out_of_range("step", index, steps.size());
  const frit::plan::Step& s = *steps[static_cast<std::size_t>(index)];
  const auto& origins = engine->step_origins[static_cast<std::size_t>(index)];
  frit_step_info i = {};
  i.name = s.name.c_str();
  i.kind = frit::plan::step_kind_name(s.kind);
  i.module = s.module.c_str();
  i.kernel = s.kernel.c_str();
  i.origin_count = static_cast<std::int32_t>(origins.size());
  i.origins = origins.data();
  return write_info(i, info, "frit_step_info");
}

Status verification_info(const frit_engine* engine, std::int32_t index,
                         frit_verification_info* info) noexcept {
  if (engine == nullptr || info == nullptr) return null_argument("engine or info");
  const auto& table = engine->engine->plan().verification;
  if (!in_range(index, table.size())) return out_of_range("verification", index, table.size());
  const frit::plan::Verification& v = table[static_cast<std::size_t>(index)];
  frit_verification_info i = {};
  i.output = v.output.c_str();
  i.covered = v.covered.c_str();
  i.max_abs_error = v.max_abs_error;
  i.max_rel_error = v.max_rel_error;
  i.atol = v.atol;
  i.rtol = v.rtol;
  i.passed = v.passed ? 1 : 0;
  return write_info(i, info, "frit_verification_info");
}

Status create_context(frit_engine* engine, const frit_context_options* options,
                      frit_context** out) noexcept {
  if (engine == nullptr || out == nullptr) return null_argument("engine or context");
  *out = nullptr;
  frit_context_options given = {};
  FRIT_TRY(read_options(options, given, "frit_context_options"));
  frit::runtime::ContextOptions o;
  o.profile = given.profile;
  o.profile_steps = given.profile_steps != 0;
  o.memory = given.memory;
  o.memory_bytes = given.memory_bytes;
  auto context = frit::runtime::Context::create(engine->engine, o);
  FRIT_TRY(context);
  *out = new (std::nothrow) frit_context{std::move(*context)};
  if (*out == nullptr) return Status::borrowed(Code::out_of_memory, "not enough memory");
  return {};
}

}  // namespace

extern "C" {

frit_status frit_engine_load_file(const char* path, const frit_engine_options* options,
                                  frit_engine** engine) noexcept {
  if (path == nullptr) return report(null_argument("path"));
  return report(load_engine(options, engine, [&](const frit::runtime::EngineOptions& o) {
    return frit::runtime::Engine::load_file(path, o);
  }));
}

frit_status frit_engine_load_memory(const void* data, size_t bytes,
                                    const frit_engine_options* options,
                                    frit_engine** engine) noexcept {
  if (data == nullptr) return report(null_argument("data"));
  return report(load_engine(options, engine, [&](const frit::runtime::EngineOptions& o) {
    return frit::runtime::Engine::load_memory({static_cast<const std::byte*>(data), bytes}, o);
  }));
}

void frit_engine_destroy(frit_engine* engine) noexcept {
  delete engine;
}

frit_status frit_engine_get_info(const frit_engine* engine, frit_engine_info* info) noexcept {
  return report(engine_info(engine, info));
}

frit_status frit_engine_get_binding(const frit_engine* engine, int32_t index,
                                    frit_binding_info* info) noexcept {
  return report(binding_info(engine, index, info));
}

int32_t frit_engine_find_binding(const frit_engine* engine, const char* name) noexcept {
  return engine == nullptr || name == nullptr ? -1 : engine->engine->find_binding(name);
}

frit_status frit_engine_get_profile(const frit_engine* engine, int32_t profile, int32_t binding,
                                    int32_t which, const int64_t** dims, int32_t* rank) noexcept {
  return report(profile_dims(engine, profile, binding, which, dims, rank));
}

frit_status frit_engine_get_step(const frit_engine* engine, int32_t index,
                                 frit_step_info* info) noexcept {
  return report(step_info(engine, index, info));
}

frit_status frit_engine_get_verification(const frit_engine* engine, int32_t index,
                                         frit_verification_info* info) noexcept {
  return report(verification_info(engine, index, info));
}

frit_status frit_context_create(frit_engine* engine, const frit_context_options* options,
                                frit_context** context) noexcept {
  return report(create_context(engine, options, context));
}

void frit_context_destroy(frit_context* context) noexcept {
  delete context;
}

frit_status frit_context_set_input_shape(frit_context* context, int32_t binding,
                                         const int64_t* dims, int32_t rank) noexcept {
  if (context == nullptr || (dims == nullptr && rank != 0))
    return report(null_argument("context or dims"));
  if (rank < 0) return report(out_of_range("rank", rank, frit::kernels::kMaxRank));
  return report(context->context->set_input_shape(binding, {dims, static_cast<std::size_t>(rank)}));
}

frit_status frit_context_get_shape(const frit_context* context, int32_t binding,
                                   const int64_t** dims, int32_t* rank) noexcept {
  if (context == nullptr || dims == nullptr || rank == nullptr)
    return report(null_argument("context, dims or rank"));
  const std::size_t count = context->context->engine().plan().bindings.size();
  if (!in_range(binding, count)) return report(out_of_range("binding", binding, count));
  const auto shape = context->context->shape(binding);
  *dims = shape.data();
  *rank = static_cast<std::int32_t>(shape.size());
  return FRIT_OK;
}

frit_status frit_context_set_address(frit_context* context, int32_t binding, void* address,
                                     uint64_t bytes) noexcept {
  if (context == nullptr) return report(null_argument("context"));
  return report(context->context->set_address(binding, address, bytes));
}

frit_status frit_context_enqueue(frit_context* context, void* stream) noexcept {
  if (context == nullptr) return report(null_argument("context"));
  return report(context->context->enqueue(stream));
}

frit_status frit_context_synchronize(frit_context* context) noexcept {
  return context == nullptr ? report(null_argument("context")) : FRIT_OK;
}

frit_status frit_context_get_profile(const frit_context* context, const frit_step_profile** steps,
                                     int32_t* count) noexcept {
  if (context == nullptr || steps == nullptr || count == nullptr)
    return report(null_argument("context, steps or count"));
  const auto times = context->context->times();
  if (times.empty() && !context->context->engine().steps().empty())
    return report(Status::error(Code::invalid_argument,
                                "the context records no times; make it with profile_steps = 1"));
  *steps = reinterpret_cast<const frit_step_profile*>(times.data());
  *count = static_cast<std::int32_t>(times.size());
  return FRIT_OK;
}

frit_status frit_context_reset_profile(frit_context* context) noexcept {
  if (context == nullptr) return report(null_argument("context"));
  context->context->reset_times();
  return FRIT_OK;
}

}  // extern "C"
