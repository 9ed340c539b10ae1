// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_runner.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

namespace frit::test {
namespace {

/// Bits of an element, independent of the kernels under test.
unsigned element_bits(DType t) {
  switch (t) {
    case DType::u2:
    case DType::i2:
      return 2;
    case DType::u4:
    case DType::i4:
    case DType::f4e2m1:
      return 4;
    case DType::u16:
    case DType::i16:
    case DType::f16:
    case DType::bf16:
      return 16;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 32;
    case DType::f64:
    case DType::i64:
    case DType::u64:
    case DType::c64:
      return 64;
    case DType::c128:
      return 128;
    default:
      return 8;
  }
}

/// A pool that plays its threads one after another, so that splitting is tested deterministically.
void run_split(void* pool, std::int64_t n, std::int64_t grain, kernels::Parallel::Body body,
               void* arg) {
  const int threads = *static_cast<int*>(pool);
  const std::int64_t chunk = std::max(grain, (n + 2 * threads - 1) / (2 * threads));
  int worker = 0;
  for (std::int64_t b = 0; b < n; b += chunk) {
    body(arg, b, std::min(b + chunk, n), worker);
    worker = (worker + 1) % threads;
  }
}

/// 64-byte aligned scratch that ends exactly where the kernel said, for sanitizers.
struct Scratch {
  explicit Scratch(std::size_t bytes)
      : data(static_cast<char*>(
            ::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{64}))) {
    std::fill_n(data, bytes, '\x7f');
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete (data, std::align_val_t{64}); }
  char* data;
};

}  // namespace

KernelCall::Slot& KernelCall::slot(std::deque<Slot>& list, DType dtype, Dims dims,
                                   std::size_t bytes) {
  Slot& s = list.emplace_back();
  s.dtype = dtype;
  s.dims = std::move(dims);
  s.bytes = bytes;
  s.storage.assign(bytes + 2 * kGuard, kGuardByte);
  return s;
}

KernelCall& KernelCall::out(DType dtype, Dims dims) {
  std::size_t elements = 1;
  for (std::int64_t d : dims) elements *= static_cast<std::size_t>(std::max<std::int64_t>(d, 0));
  slot(out_, dtype, std::move(dims), (elements * element_bits(dtype) + 7) / 8);
  return *this;
}

KernelCall::Named& KernelCall::named(const char* name, kernels::Attr::Kind kind) {
  Named& n = attrs_.emplace_back();
  n.name = name;
  n.attr.name = n.name.c_str();
  n.attr.kind = kind;
  return n;
}

KernelCall& KernelCall::attr(const char* name, std::int64_t v) {
  named(name, kernels::Attr::Kind::integer).attr.i = v;
  return *this;
}

KernelCall& KernelCall::attr(const char* name, double v) {
  named(name, kernels::Attr::Kind::real).attr.f = v;
  return *this;
}

KernelCall& KernelCall::attr(const char* name, const char* v) {
  Named& n = named(name, kernels::Attr::Kind::text);
  n.text = v;
  n.attr.s = n.text.c_str();
  return *this;
}

KernelCall& KernelCall::ints(const char* name, std::vector<std::int64_t> v) {
  Named& n = named(name, kernels::Attr::Kind::integers);
  n.ints = std::move(v);
  n.attr.ints = n.ints.data();
  n.attr.count = static_cast<std::int32_t>(n.ints.size());
  return *this;
}

KernelCall& KernelCall::reals(const char* name, std::vector<double> v) {
  Named& n = named(name, kernels::Attr::Kind::reals);
  n.reals = std::move(v);
  n.attr.floats = n.reals.data();
  n.attr.count = static_cast<std::int32_t>(n.reals.size());
  return *this;
}

bool KernelCall::guards_hold(const Slot& s) {
  const auto good = [](std::uint8_t b) { return b == kGuardByte; };
  return s.storage.empty() || (std::all_of(s.storage.begin(), s.storage.begin() + kGuard, good) &&
                               std::all_of(s.storage.end() - kGuard, s.storage.end(), good));
}

std::string KernelCall::run() {
  const kernels::Kernel* kernel = kernels::find_kernel(name_);
  if (kernel == nullptr) return "no kernel is called " + name_;
  const auto describe = [](const std::deque<Slot>& slots) {
    std::vector<kernels::TensorDesc> descs;
    for (const Slot& s : slots) {
      kernels::TensorDesc& d = descs.emplace_back();
      d.dtype = s.dtype;
      d.rank = static_cast<std::int32_t>(s.dims.size());
      d.dims = s.dims.data();
      d.constant = s.constant ? s.data() : nullptr;
      d.bytes = s.bytes;
    }
    return descs;
  };
  const std::vector<kernels::TensorDesc> in = describe(in_);
  const std::vector<kernels::TensorDesc> out = describe(out_);
  std::vector<kernels::Attr> attrs;
  for (const Named& n : attrs_) attrs.push_back(n.attr);
  std::array<char, 512> message{};
  kernels::PrepareArgs prepare;
  prepare.in = in;
  prepare.out = out;
  prepare.attrs = attrs;
  prepare.threads = threads_;
  prepare.message = message;
  const Scratch state(kernel->state_size);
  if (const char* error = kernel->prepare(state.data, prepare)) return error;

  const Scratch workspace(prepare.workspace);
  std::vector<const void*> in_data;
  std::vector<void*> out_data;
  for (const Slot& s : in_) in_data.push_back(s.dtype == DType::undefined ? nullptr : s.data());
  for (Slot& s : out_) out_data.push_back(s.dtype == DType::undefined ? nullptr : s.data());
  kernels::RunArgs args;
  args.in = in_data.data();
  args.out = out_data.data();
  args.workspace = workspace.data;
  args.parallel = {&threads_, threads_, run_split};
  const char* error = kernel->run(state.data, args);
  std::string result = error != nullptr ? error : "";
  if (kernel->destroy != nullptr) kernel->destroy(state.data);
  for (const Slot& s : in_)
    if (!guards_hold(s)) result = name_ + " wrote beside an operand";
  for (const Slot& s : out_)
    if (!guards_hold(s)) result = name_ + " wrote beside a result";
  return result;
}

}  // namespace frit::test
