// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine.h"

#include <cstring>
#include <new>

#include "runtime/module_loader.h"

namespace frit::runtime {
namespace {

constexpr const char* kNoMemory = "not enough memory to load the engine";

Status check_backend(const plan::Plan& plan) noexcept {
  if (plan.backend != "cpu")
    return Status::error(Code::unsupported,
                         "engine '%s': expected one for the backend 'cpu', found '%s'; build it "
                         "with --backend=cpu",
                         plan.name.c_str(), plan.backend.c_str());
  for (const plan::Tensor& t : plan.tensors)
    for (const std::int64_t dim : t.dims)
      if (plan::is_symbol_dim(dim))
        return Status::error(Code::unsupported,
                             "engine '%s': expected fixed shapes, found a dim that depends on the "
                             "input shapes, which this version cannot run; build it with one shape "
                             "per input",
                             plan.name.c_str());
  return {};
}

}  // namespace

Result<std::shared_ptr<const Engine>> Engine::load_file(const char* path,
                                                        const EngineOptions& options) noexcept {
  Result<MappedFile> file = MappedFile::open(path);
  FRIT_TRY(file);
  const std::span<const std::byte> image = file->bytes();
  Result<std::shared_ptr<const Engine>> engine =
      load(std::move(*file), HostBuffer(), image, options);
  if (!engine.ok())
    return Status::error(engine.status().code(), "'%s': %s", path, engine.status().message());
  return engine;
}

Result<std::shared_ptr<const Engine>> Engine::load_memory(std::span<const std::byte> image,
                                                          const EngineOptions& options) noexcept {
  // plan::read refuses borrowed memory that is not aligned.
  if (options.borrow_memory) return load(MappedFile(), HostBuffer(), image, options);
  Result<HostBuffer> copy = HostBuffer::allocate(image.size(), "a copy of the engine");
  FRIT_TRY(copy);
  if (!image.empty()) std::memcpy(copy->data(), image.data(), image.size());
  const std::span<const std::byte> bytes(copy->data(), image.size());
  return load(MappedFile(), std::move(*copy), bytes, options);
}

Result<std::shared_ptr<const Engine>> Engine::load(MappedFile file, HostBuffer copy,
                                                   std::span<const std::byte> image,
                                                   const EngineOptions& options) noexcept {
  try {
    std::shared_ptr<Engine> engine(new Engine);
    engine->file_ = std::move(file);
    engine->copy_ = std::move(copy);
    FRIT_TRY(engine->build(image, options));
    return std::shared_ptr<const Engine>(std::move(engine));
  } catch (const std::bad_alloc&) {
    return Status::borrowed(Code::out_of_memory, kNoMemory);
  }
}

Status Engine::build(std::span<const std::byte> image, const EngineOptions& options) {
  Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::create(options.cpu_threads);
  FRIT_TRY(pool);
  pool_ = std::move(*pool);
  threads_ = pool_->threads();
  parallel_ = pool_->parallel();

  plan::ReadOptions read_options;
  read_options.check_weights = options.check_weights;
  read_options.parallel = parallel_;
  Result<plan::Contents> contents = plan::read(image, read_options);
  FRIT_TRY(contents);
  contents_ = std::move(*contents);
  FRIT_TRY(check_backend(contents_.plan));
  FRIT_TRY(open_modules(options));
  return program_.build(contents_, modules_, threads_);
}

Status Engine::open_modules(const EngineOptions& options) {
  for (const plan::ModuleRequirement& m : contents_.plan.modules) {
    const Result<const Module*> opened = open_module(m.name.c_str(), options.module_dir);
    FRIT_TRY(opened);
    const Module& module = **opened;
    if (m.abi_version != module.abi_version || m.fingerprint != module.fingerprint)
      return Status::error(Code::unsupported,
                           "module '%s': the engine was built with '%.200s' (ABI %u), found "
                           "'%.200s' (ABI %u); build the engine again on this machine or install "
                           "the module it was built with",
                           m.name.c_str(), m.fingerprint.c_str(), m.abi_version, module.fingerprint,
                           module.abi_version);
    modules_.push_back(&module);
    if (module.make_parallel != nullptr && pool_ != nullptr) {
      parallel_ = module.make_parallel(threads_);
      pool_.reset();  // two pools would fight for the same processors
    }
  }
  return {};
}

int Engine::find_binding(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < plan().bindings.size(); ++i)
    if (plan().bindings[i].name == name) return static_cast<int>(i);
  return -1;
}

std::uint64_t Engine::binding_bytes(int binding) const noexcept {
  const plan::Binding& b = plan().bindings[static_cast<std::size_t>(binding)];
  return plan().tensors[static_cast<std::size_t>(b.tensor)].bytes;
}

std::uint64_t Engine::context_bytes() const noexcept {
  return align_up(plan().arena_bytes, plan::kTensorAlignment) + program_.extra_bytes;
}

void Engine::thread_begin() const noexcept {
  for (const Module* m : modules_)
    if (m->thread_begin != nullptr) m->thread_begin(threads_);
}

}  // namespace frit::runtime
