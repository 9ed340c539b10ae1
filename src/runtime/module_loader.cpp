// SPDX-License-Identifier: Apache-2.0
#include "runtime/module_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/log.h"

namespace frit::runtime {
namespace {

using Path = char[PATH_MAX];

// Folder of the binary this code is linked into; "." if unknown.
void own_folder(Path& out) noexcept {
  Dl_info info = {};
  std::strcpy(out, ".");
  if (dladdr(reinterpret_cast<const void*>(&open_module), &info) == 0 || info.dli_fname == nullptr)
    return;
  if (realpath(info.dli_fname, out) == nullptr) std::strcpy(out, ".");
  if (char* slash = std::strrchr(out, '/')) *slash = '\0';
}

bool join(Path& out, const char* folder, const char* between, const char* name) noexcept {
  const int n = std::snprintf(out, sizeof out, "%s%s/libfrit_%s.so", folder, between, name);
  return n > 0 && static_cast<std::size_t>(n) < sizeof out;
}

Result<const Module*> open_at(const char* path, const char* name) noexcept {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    return Status::error(Code::not_found,
                         "module '%s': cannot open '%s': %s; install the libraries it needs", name,
                         path, dlerror());
  void* const symbol = dlsym(library, kModuleSymbol);
  ModuleEntry entry = nullptr;
  std::memcpy(&entry, &symbol, sizeof entry);
  const Module* module = entry != nullptr ? entry() : nullptr;
  if (module == nullptr)
    return Status::error(Code::unsupported,
                         "module '%s': '%s' does not offer %s on this machine; use the file that "
                         "came with this version of Frit",
                         name, path, kModuleSymbol);
  if (module->abi_version != kModuleAbi)
    return Status::error(Code::unsupported,
                         "module '%s': expected ABI %u, found %u in '%s'; install the module that "
                         "came with this version of Frit",
                         name, kModuleAbi, module->abi_version, path);
  log(LogLevel::info, "module '%s' (%s) opened from %s", name, module->fingerprint, path);
  return module;
}

}  // namespace

Result<const Module*> open_module(const char* name, const char* directory) noexcept {
  Path path;
  if (directory != nullptr && directory[0] != '\0') {
    if (join(path, directory, "", name) && access(path, F_OK) == 0) return open_at(path, name);
    return Status::error(Code::not_found,
                         "module '%s': expected libfrit_%s.so in '%s', found none; install the "
                         "module there or pass the right module directory",
                         name, name, directory);
  }
  Path folder;
  own_folder(folder);
  for (const char* between : {"", "/../lib"})
    if (join(path, folder, between, name) && access(path, F_OK) == 0) return open_at(path, name);
  return Status::error(Code::not_found,
                       "module '%s': expected libfrit_%s.so in '%s' or its ../lib, found none; "
                       "install the module there or pass a module directory",
                       name, name, folder);
}

const kernels::Kernel* find_kernel(const Module& module, const char* name) noexcept {
  for (std::int32_t i = 0; i < module.kernel_count; ++i)
    if (std::strcmp(module.kernels[i].name, name) == 0) return &module.kernels[i];
  return nullptr;
}

}  // namespace frit::runtime
