// SPDX-License-Identifier: Apache-2.0
#include "tests/support/kernel_runner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
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
  return *this;
}

KernelCall& KernelCall::ints(const char* name, std::vector<std::int64_t> v) {
  Named& n = named(name, kernels::Attr::Kind::integers);
  n.ints = std::move(v);
  n.attr.count = static_cast<std::int32_t>(n.ints.size());
  return *this;
}

KernelCall& KernelCall::reals(const char* name, std::vector<double> v) {
  Named& n = named(name, kernels::Attr::Kind::reals);
  n.reals = std::move(v);
  n.attr.count = static_cast<std::int32_t>(n.reals.size());
  return *this;
}

void KernelCall::scramble_slot(Slot& s, std::mt19937& random) {
  const auto pick = [&](std::size_t n) { return random() % n; };
  if (!s.dims.empty() && pick(2) == 0) {
    constexpr std::int64_t kOdd[] = {
        0, 1, 2, 3, 7, -1, INT64_MAX, INT64_MIN, std::int64_t{1} << 32};
    s.dims[pick(s.dims.size())] = kOdd[pick(std::size(kOdd))];
  } else if (pick(4) == 0) {
    s.dtype = static_cast<DType>(1 + pick(28));
  } else if (pick(3) == 0) {
    s.dims.insert(s.dims.begin() + static_cast<std::ptrdiff_t>(pick(s.dims.size() + 1)),
                  1 + pick(2));
  } else if (!s.dims.empty() && pick(2) == 0) {
    s.dims.erase(s.dims.begin() + static_cast<std::ptrdiff_t>(pick(s.dims.size())));
  } else {
    for (std::size_t i = 0; i < s.bytes; ++i)
      s.data()[i] = static_cast<std::uint8_t>(pick(4) == 0 ? random() : pick(3));
    return;
  }
  std::int64_t elements = 1;
  for (std::int64_t d : s.dims)
    elements = d < 0 || d > 4096 || elements > 65536 ? INT32_MAX : elements * d;
  if (elements > 65536) return;
  s.bytes = (static_cast<std::size_t>(elements) * element_bits(s.dtype) + 7) / 8;
  s.storage.assign(s.bytes + 2 * kGuard, kGuardByte);
  std::fill_n(s.data(), s.bytes, std::uint8_t{0});
}

void KernelCall::scramble_attr(Named& n, std::mt19937& random) {
  const auto pick = [&](std::size_t count) { return random() % count; };
  constexpr std::int64_t kOdd[] = {
      0, 1, 2, 3, -1, 100, INT64_MAX, INT64_MIN, std::int64_t{1} << 31};
  constexpr double kReal[] = {0, 0.5, 1, -1, 1e-30, 1e30, HUGE_VAL, NAN};
  if (pick(12) == 0) n.name += "_";
  if (pick(12) == 0) n.attr.kind = static_cast<kernels::Attr::Kind>(pick(5));
  n.attr.i = kOdd[pick(std::size(kOdd))];
  n.attr.f = kReal[pick(std::size(kReal))];
  if (!n.text.empty()) n.text[pick(n.text.size())] = "ij->.,kb "[pick(9)];
  if (!n.ints.empty()) n.ints[pick(n.ints.size())] = kOdd[pick(std::size(kOdd))];
  if (!n.reals.empty()) n.reals[pick(n.reals.size())] = kReal[pick(std::size(kReal))];
  if (pick(8) == 0 && !n.ints.empty()) n.ints.pop_back();
  const std::size_t length =
      n.attr.kind == kernels::Attr::Kind::reals ? n.reals.size() : n.ints.size();
  n.attr.count = static_cast<std::int32_t>(length);
}

KernelCall& KernelCall::scramble(std::mt19937& random) {
  const auto pick = [&](std::size_t n) { return random() % n; };
  const std::size_t what = pick(10);
  if (what < 4 && !in_.empty()) {
    scramble_slot(in_[pick(in_.size())], random);
  } else if (what < 6 && !out_.empty()) {
    scramble_slot(out_[pick(out_.size())], random);
  } else if (what < 9 && !attrs_.empty()) {
    scramble_attr(attrs_[pick(attrs_.size())], random);
  } else if (!in_.empty()) {
    in_[pick(in_.size())] = Slot{};
  }
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
  for (const Named& n : attrs_) {
    // Pointers are set here rather than when an attribute is added, so that a call can be copied.
    kernels::Attr& a = attrs.emplace_back(n.attr);
    a.name = n.name.c_str();
    a.s = n.text.c_str();
    a.ints = n.ints.data();
    a.floats = n.reals.data();
  }
  std::array<char, 512> message{};
  kernels::PrepareArgs prepare;
  prepare.in = in;
  prepare.out = out;
  prepare.attrs = attrs;
  prepare.threads = threads_;
  prepare.message = message;
  const Scratch state(kernel->state_size);
  if (const char* error = kernel->prepare(state.data, prepare)) return error;

  if (prepare.workspace > kMaxScratch) return name_ + " wants more scratch than a test has";
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
