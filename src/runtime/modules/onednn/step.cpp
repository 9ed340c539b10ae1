// SPDX-License-Identifier: Apache-2.0
#include "runtime/modules/onednn/step.h"

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

namespace frit::onednn {

void refuse(std::string message) {
  throw Refusal{std::move(message)};
}

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

std::int64_t int_attr(std::span<const kernels::Attr> attrs, std::string_view name,
                      std::int64_t otherwise) {
  for (const kernels::Attr& a : attrs)
    if (name == a.name && a.kind == kernels::Attr::Kind::integer) return a.i;
  return otherwise;
}

std::vector<std::int64_t> ints_attr(std::span<const kernels::Attr> attrs, std::string_view name) {
  for (const kernels::Attr& a : attrs)
    if (name == a.name && a.kind == kernels::Attr::Kind::integers)
      return {a.ints, a.ints + a.count};
  refuse("attribute '" + std::string(name) + "' is missing");
}

Operand operand_of(std::span<const TensorDesc> in, std::span<const kernels::Attr> attrs,
                   int index) {
  Operand operand;
  if (index >= static_cast<int>(in.size()) || !in[static_cast<std::size_t>(index)].present())
    return operand;
  const TensorDesc& desc = in[static_cast<std::size_t>(index)];
  if (desc.strides != nullptr) refuse("strided operands are not covered");
  operand.dtype = desc.dtype;
  operand.bytes = desc.bytes;
  operand.dims.assign(desc.dims, desc.dims + desc.rank);
  const std::string prefix = "packed" + std::to_string(index) + "_";
  for (const kernels::Attr& a : attrs) {
    if (prefix + "format" == a.name && a.s != nullptr) operand.packed_format = a.s;
  }
  if (!operand.packed_format.empty()) {
    operand.dims = ints_attr(attrs, prefix + "dims");
    operand.dtype = static_cast<DType>(int_attr(attrs, prefix + "dtype", 0));
  }
  if (operand.dims.size() > static_cast<std::size_t>(kernels::kMaxRank)) refuse("rank too large");
  std::int64_t count = 1;
  for (std::int64_t d : operand.dims)
    if (d <= 0 || __builtin_mul_overflow(count, d, &count) || count > (std::int64_t{1} << 40))
      refuse("empty or huge tensors are not covered");
  return operand;
}

dnnl::memory::desc plain(const std::vector<std::int64_t>& dims) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return {dims, dnnl::memory::data_type::f32, strides};
}

std::string format_text(const dnnl::memory::desc& desc) {
  const dnnl_blocking_desc_t& b = desc.data.format_desc.blocking;
  std::string text = desc.data.format_kind == dnnl_blocked ? "blocked" : "opaque";
  for (int i = 0; i < desc.data.ndims; ++i)
    text += (i == 0 ? ":" : ",") + std::to_string(desc.data.padded_dims[i]) + "/" +
            std::to_string(b.strides[i]);
  for (int i = 0; i < b.inner_nblks; ++i)
    text += (i == 0 ? ";" : ",") + std::to_string(b.inner_blks[i]) + "x" +
            std::to_string(b.inner_idxs[i]);
  return text + "+" + std::to_string(desc.data.extra.flags);
}

void require_f32(const Operand& operand, const char* name) {
  if (operand.dtype != DType::f32) refuse(std::string(name) + " is not f32");
  std::uint64_t count = 1;
  for (std::int64_t d : operand.dims) count *= static_cast<std::uint64_t>(d);
  if (operand.packed_format.empty() && operand.bytes != count * sizeof(float))
    refuse(std::string(name) + " has another size than its dims say");
}

std::uint64_t Step::reserve(std::uint64_t bytes) {
  const std::uint64_t offset = workspace_;
  workspace_ += (bytes + 63) / 64 * 64;
  return offset;
}

void Step::finish() {
  slots_ = std::make_unique<Slot[]>(kSlots);
  for (int s = 0; s < kSlots; ++s) {
    Slot& slot = slots_[static_cast<std::size_t>(s)];
    slot.stream = dnnl::stream(cpu_engine());
    for (const Call& call : calls_) {
      auto& memories = slot.memories.emplace_back();
      auto& arguments = slot.arguments.emplace_back();
      for (const Argument& a : call.arguments) {
        memories.emplace_back(a.desc, cpu_engine(), nullptr);
        arguments.push_back({a.arg, memories.back().get()});
      }
    }
  }
}

const char* Step::run_in(Slot& slot, const RunArgs& args) const {
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    const Call& call = calls_[c];
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument& a = call.arguments[i];
      void* address = static_cast<std::byte*>(args.workspace) + a.offset;
      if (a.from == Argument::From::in) address = const_cast<void*>(args.in[a.index]);
      if (a.from == Argument::From::out) address = args.out[a.index];
      if (dnnl_memory_set_data_handle(slot.arguments[c][i].memory, address) != dnnl_success)
        return "oneDNN refused an address";
    }
    if (dnnl_primitive_execute(call.primitive.get(), slot.stream.get(),
                               static_cast<int>(slot.arguments[c].size()),
                               slot.arguments[c].data()) != dnnl_success)
      return "oneDNN failed to run the primitive";
  }
  return nullptr;
}

const char* Step::run(const RunArgs& args) const {
  // More than kSlots contexts inside one step at once wait for the first to leave it.
  for (;;) {
    for (int s = 0; s < kSlots; ++s) {
      Slot& slot = slots_[static_cast<std::size_t>(s)];
      if (slot.busy.test_and_set(std::memory_order_acquire)) continue;
      const char* failed = run_in(slot, args);
      slot.busy.clear(std::memory_order_release);
      return failed;
    }
    std::this_thread::yield();
  }
}

Argument source_argument(Step& step, int arg, const dnnl::memory::desc& wanted,
                         const dnnl::memory::desc& given, int in_index) {
  if (wanted == given) return {arg, given, Argument::From::in, in_index, 0};
  const std::uint64_t offset = step.reserve(wanted.get_size());
  const dnnl::reorder::primitive_desc reorder(cpu_engine(), given, cpu_engine(), wanted);
  step.add({dnnl::reorder(reorder),
            {{DNNL_ARG_FROM, given, Argument::From::in, in_index, 0},
             {DNNL_ARG_TO, wanted, Argument::From::workspace, 0, offset}}});
  return {arg, wanted, Argument::From::workspace, 0, offset};
}

Argument result_argument(Step& step, int arg, const dnnl::memory::desc& made,
                         const dnnl::memory::desc& wanted, int out_index,
                         std::vector<Call>& after) {
  if (made == wanted) return {arg, wanted, Argument::From::out, out_index, 0};
  const std::uint64_t offset = step.reserve(made.get_size());
  const dnnl::reorder::primitive_desc reorder(cpu_engine(), made, cpu_engine(), wanted);
  after.push_back({dnnl::reorder(reorder),
                   {{DNNL_ARG_FROM, made, Argument::From::workspace, 0, offset},
                    {DNNL_ARG_TO, wanted, Argument::From::out, out_index, 0}}});
  return {arg, made, Argument::From::workspace, 0, offset};
}

const char* guarded(PrepareArgs& args, const std::function<void()>& body) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(std::max(args.threads, 1));
  const char* refusal = nullptr;
  std::string text;
  try {
    body();
  } catch (const Refusal& r) {
    text = r.message;
    refusal = "refused by oneDNN's kernel";
  } catch (const dnnl::error& e) {
    text = std::string("oneDNN: ") + e.what();
    refusal = "oneDNN has no primitive for this problem";
  } catch (const std::exception& e) {
    text = e.what();
    refusal = "not enough memory to prepare the primitive";
  }
  omp_set_num_threads(before);
  if (refusal == nullptr || args.message.empty()) return refusal;
  std::snprintf(args.message.data(), args.message.size(), "%s", text.c_str());
  return args.message.data();
}

}  // namespace frit::onednn
