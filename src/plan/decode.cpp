// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <type_traits>

#include "plan/metadata.h"
#include "plan/plan_generated.h"

namespace frit::plan {
namespace {

// Nesting of blocks costs two levels each; verify() sets the exact limit.
constexpr flatbuffers::uoffset_t kMaxDepth = 48;
// Memory a plan may take: generous for honest files (whose texts are shared), and a bound for
// files in which a million tables point at one vector.
constexpr std::uint64_t kBudgetBase = std::uint64_t{16} << 20;
constexpr std::uint64_t kBudgetPerByte = 64;

Status damaged(const char* what) noexcept {
  return Status::error(Code::invalid_engine,
                       "engine metadata: %s; the file is damaged or was not made by Frit, build "
                       "the engine again",
                       what);
}

class Decoder {
 public:
  Decoder(const fb::Root& root, std::uint64_t metadata_bytes)
      : root_(root), budget_(kBudgetBase + kBudgetPerByte * metadata_bytes) {}

  Result<Plan> run() {
    Plan plan;
    check_strings();
    text(root_.producer(), plan.producer);
    text(root_.name(), plan.name);
    text(root_.backend(), plan.backend);
    text(root_.target(), plan.target);
    text(root_.build_info(), plan.build_info);
    items(root_.bindings(), plan.bindings);
    items(root_.profiles(), plan.profiles);
    items(root_.symbols(), plan.symbols);
    items(root_.shape_program(), plan.shape_program);
    items(root_.tensors(), plan.tensors);
    items(root_.constants(), plan.constants);
    items(root_.images(), plan.images);
    items(root_.steps(), plan.steps);
    items(root_.modules(), plan.modules);
    items(root_.verification(), plan.verification);
    plan.arena_bytes = root_.arena_bytes();
    plan.arena_lower_bound = root_.arena_lower_bound();
    plan.streams = root_.streams();
    if (problem_ != nullptr) return damaged(problem_);
    return plan;
  }

 private:
  void fail(const char* what) {
    if (problem_ == nullptr) problem_ = what;
  }

  bool spend(std::uint64_t bytes) {
    if (problem_ != nullptr) return false;
    if (bytes > budget_) {
      fail("it unpacks to far more than its size");
      return false;
    }
    budget_ -= bytes;
    return true;
  }

  void check_strings() {
    if (root_.strings() == nullptr || root_.strings()->size() == 0)
      return fail("the list of texts is missing");
    for (const flatbuffers::String* s : *root_.strings())
      if (std::memchr(s->data(), '\0', s->size()) != nullptr) fail("a text contains a zero byte");
  }

  void text(std::uint32_t index, std::string& out) {
    if (problem_ != nullptr) return;
    if (index >= root_.strings()->size()) return fail("a text number is out of range");
    const flatbuffers::String* s = root_.strings()->Get(index);
    if (spend(s->size())) out.assign(s->data(), s->size());
  }

  // FlatBuffers' verifier leaves the alignment of 8-byte elements to the reader.
  template <class T>
  bool aligned(const flatbuffers::Vector<T>& in) {
    using Element = std::remove_pointer_t<T>;
    if (reinterpret_cast<std::uintptr_t>(in.Data()) % alignof(Element) == 0) return true;
    fail("a list is not aligned");
    return false;
  }

  template <class F, class T>
  void items(const F* in, std::vector<T>& out) {
    if (in == nullptr || !spend(in->size() * sizeof(T))) return;
    if (in->size() > 0 && !aligned(*in)) return;
    out.resize(in->size());
    for (flatbuffers::uoffset_t i = 0; i < in->size() && problem_ == nullptr; ++i)
      decode(*in->Get(i), out[i]);
  }

  template <class T>
  void numbers(const flatbuffers::Vector<T>* in, std::vector<T>& out) {
    if (in == nullptr || !spend(in->size() * sizeof(T))) return;
    if (in->size() > 0 && !aligned(*in)) return;
    out.assign(in->begin(), in->end());
  }

  void decode(const fb::Binding& in, Binding& out) {
    text(in.name(), out.name);
    out.dtype = static_cast<DType>(in.dtype());
    numbers(in.dims(), out.dims);
    out.is_input = in.is_input();
    out.is_shape = in.is_shape();
    out.tensor = in.tensor();
  }
  void decode(const fb::ProfileInput& in, ProfileInput& out) {
    out.binding = in.binding();
    numbers(in.min(), out.min);
    numbers(in.opt(), out.opt);
    numbers(in.max(), out.max);
  }
  void decode(const fb::Profile& in, Profile& out) {
    text(in.name(), out.name);
    items(in.inputs(), out.inputs);
  }
  void decode(const fb::Symbol& in, Symbol& out) {
    text(in.name(), out.name);
    out.min = in.min();
    out.max = in.max();
    out.value = in.value();
  }
  void decode(const fb::ShapeInstruction& in, ShapeInstruction& out) {
    out = {static_cast<ShapeOp>(in.op()), in.a(), in.b(), in.imm()};
  }
  void decode(const fb::Tensor& in, Tensor& out) {
    out.dtype = static_cast<DType>(in.dtype());
    numbers(in.dims(), out.dims);
    numbers(in.strides(), out.strides);
    out.location = static_cast<Location>(in.location());
    out.index = in.index();
    out.offset = in.offset();
    out.bytes = in.bytes();
    out.alias_of = in.alias_of();
  }
  void decode(const fb::Constant& in, Constant& out) {
    text(in.name(), out.name);
    out.dtype = static_cast<DType>(in.dtype());
    out.offset = in.offset();
    out.bytes = in.bytes();
    out.hash = in.hash();
  }
  void decode(const fb::CodeImage& in, CodeImage& out) {
    text(in.name(), out.name);
    text(in.format(), out.format);
    text(in.target(), out.target);
    out.offset = in.offset();
    out.bytes = in.bytes();
  }
  void decode(const fb::Attr& in, Attr& out) {
    text(in.name(), out.name);
    out.kind = static_cast<Attr::Kind>(in.kind());
    out.i = in.i();
    out.f = in.f();
    text(in.s(), out.s);
    numbers(in.ints(), out.ints);
    numbers(in.floats(), out.floats);
  }
  static void decode(const fb::InPlace& in, InPlace& out) { out = {in.input(), in.output()}; }
  void decode(const fb::Block& in, Block& out) { items(in.steps(), out.steps); }
  void decode(const fb::Step& in, Step& out) {
    out.kind = static_cast<StepKind>(in.kind());
    text(in.name(), out.name);
    text(in.module_name(), out.module);
    text(in.kernel(), out.kernel);
    items(in.attrs(), out.attrs);
    numbers(in.inputs(), out.inputs);
    numbers(in.outputs(), out.outputs);
    items(in.in_place(), out.in_place);
    out.workspace_offset = in.workspace_offset();
    out.workspace_bytes = in.workspace_bytes();
    out.stream = in.stream();
    out.peer_stream = in.peer_stream();
    if (in.origin() != nullptr && spend(in.origin()->size() * sizeof(std::string))) {
      out.origin.resize(in.origin()->size());
      for (flatbuffers::uoffset_t i = 0; i < in.origin()->size(); ++i)
        text(in.origin()->Get(i), out.origin[i]);
    }
    items(in.blocks(), out.blocks);
    if (const fb::Launch* l = in.launch())
      out.launch = {l->image(),
                    {l->grid_x(), l->grid_y(), l->grid_z()},
                    {l->block_x(), l->block_y(), l->block_z()},
                    l->shared_bytes()};
  }
  void decode(const fb::ModuleRequirement& in, ModuleRequirement& out) {
    text(in.name(), out.name);
    out.abi_version = in.abi_version();
    text(in.fingerprint(), out.fingerprint);
  }
  void decode(const fb::Verification& in, Verification& out) {
    text(in.output(), out.output);
    text(in.covered(), out.covered);
    out.max_abs_error = in.max_abs_error();
    out.max_rel_error = in.max_rel_error();
    out.atol = in.atol();
    out.rtol = in.rtol();
    out.passed = in.passed();
  }

  const fb::Root& root_;
  std::uint64_t budget_;
  const char* problem_ = nullptr;
};

}  // namespace

Result<Plan> decode_metadata(std::span<const std::byte> buffer) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(buffer.data());
  // A table takes at least a 4-byte reference and a 4-byte header, so more visits than this mean
  // that tables are referred to repeatedly - which no writer does and which could take for ever.
  const auto max_tables = static_cast<flatbuffers::uoffset_t>(buffer.size() / 8 + 16);
  flatbuffers::Verifier verifier(data, buffer.size(), kMaxDepth, max_tables);
  if (buffer.size() < 16 || !fb::VerifyRootBuffer(verifier))
    return damaged("its structure is not valid");
  return Decoder(*fb::GetRoot(data), buffer.size()).run();
}

}  // namespace frit::plan
