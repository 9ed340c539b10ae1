// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/kernel_call.h"

#include <algorithm>
#include <array>
#include <new>

#include "base/dtypes.h"
#include "compiler/error.h"

namespace frit::ir {
namespace {

// 64-byte aligned memory for a kernel's state or workspace.
class Scratch {
 public:
  Scratch(std::size_t bytes, std::string_view kernel)
      : data_(
            ::operator new (std::max<std::size_t>(bytes, 1), std::align_val_t{64}, std::nothrow)) {
    if (data_ == nullptr)
      fail(Code::out_of_memory, "no memory for {} bytes of scratch of {}", bytes, kernel);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { ::operator delete (data_, std::align_val_t{64}); }
  void* get() const { return data_; }

 private:
  void* data_;
};

// A prepared kernel; destroys the state it built.
class Prepared {
 public:
  Prepared(const kernels::Kernel& kernel, kernels::PrepareArgs& args)
      : kernel_(kernel), state_(kernel.state_size, kernel.name) {
    if (const char* refusal = kernel.prepare(state_.get(), args))
      fail(Code::unsupported, "{}: {}", kernel.name, refusal);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared() {
    if (kernel_.destroy != nullptr) kernel_.destroy(state_.get());
  }
  void run(const kernels::RunArgs& args) const {
    if (const char* failure = kernel_.run(state_.get(), args))
      fail(Code::execution_failed, "{}: {}", kernel_.name, failure);
  }

 private:
  const kernels::Kernel& kernel_;
  Scratch state_;
};

kernels::TensorDesc describe(DType dtype, const std::vector<std::int64_t>& dims,
                             std::uint64_t bytes, const void* constant) {
  kernels::TensorDesc desc;
  desc.dtype = dtype;
  desc.rank = static_cast<std::int32_t>(dims.size());
  desc.dims = dims.data();
  desc.constant = constant;
  desc.bytes = bytes;
  return desc;
}

// Storage of all results, checked against the limit before any is allocated.
std::vector<Tensor> make_results(std::string_view name, std::span<const ResultDesc> results,
                                 std::uint64_t memory) {
  std::uint64_t total = 0;
  for (const ResultDesc& r : results) {
    if (r.dtype == DType::undefined) continue;
    const auto bytes = storage_bytes(r.dtype, r.dims);
    if (!bytes.ok()) fail(Code::invalid_model, "{}: {}", name, bytes.status().message());
    total += *bytes;
  }
  if (memory != 0 && total > memory)
    fail(Code::out_of_memory, "{}: results take {} bytes, {} are allowed", name, total, memory);
  std::vector<Tensor> made;
  for (const ResultDesc& r : results)
    made.push_back(r.dtype == DType::undefined ? Tensor() : Tensor(r.dtype, r.dims));
  return made;
}

}  // namespace

std::vector<Tensor> call_kernel(std::string_view name, std::span<const Tensor> operands,
                                std::span<const ResultDesc> results, const KernelAttrs& attrs,
                                const kernels::Parallel& parallel, std::uint64_t memory) {
  const kernels::Kernel* kernel = kernels::find_kernel(name);
  if (kernel == nullptr) fail(Code::unsupported, "there is no kernel {}", name);
  std::vector<kernels::TensorDesc> in, out;
  std::vector<const void*> in_data;
  for (const Tensor& t : operands) {
    if (t.defined() && !is_storable(t.dtype()))
      fail(Code::unsupported, "{}: operands of type {} are not covered", name,
           dtype_name(t.dtype()));
    in.push_back(describe(t.dtype(), t.dims(), t.bytes(), t.data()));
    in_data.push_back(t.data());
  }
  std::vector<Tensor> made = make_results(name, results, memory);
  std::vector<void*> out_data;
  for (Tensor& t : made) {
    out.push_back(describe(t.dtype(), t.dims(), t.bytes(), nullptr));
    out_data.push_back(t.mutable_data());
  }
  std::array<char, 512> message{};
  kernels::PrepareArgs prepare;
  prepare.in = in;
  prepare.out = out;
  prepare.attrs = attrs.view();
  prepare.threads = parallel.threads;
  prepare.message = message;
  const Prepared prepared(*kernel, prepare);
  if (memory != 0 && prepare.workspace > memory)
    fail(Code::out_of_memory, "{}: the workspace takes {} bytes, {} are allowed", name,
         prepare.workspace, memory);
  const Scratch workspace(prepare.workspace, name);
  kernels::RunArgs run;
  run.in = in_data.data();
  run.out = out_data.data();
  run.workspace = workspace.get();
  run.parallel = parallel;
  prepared.run(run);
  return made;
}

}  // namespace frit::ir
