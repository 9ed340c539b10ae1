// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "plan/format.h"
#include "plan/metadata.h"
#include "plan/plan_generated.h"

namespace frit::plan {
namespace {

using flatbuffers::Offset;

// Bytes the builder could need at most for the large parts; keeps it below its own 2 GiB limit,
// which it enforces by aborting.
class SizeEstimate {
 public:
  std::uint64_t of(const Plan& plan) {
    total_ += plan.build_info.size() + 4096;
    for (const Tensor& t : plan.tensors) total_ += 96 + 8 * (t.dims.size() + t.strides.size());
    for (const Binding& b : plan.bindings) total_ += 96 + b.name.size() + 8 * b.dims.size();
    for (const Constant& c : plan.constants) total_ += 64 + c.name.size();
    for (const Profile& p : plan.profiles)
      for (const ProfileInput& i : p.inputs) total_ += 128 + 24 * i.min.size();
    total_ += plan.shape_program.size() * 24 + plan.symbols.size() * 64;
    for (const Step& s : plan.steps) add(s);
    return total_;
  }

 private:
  void add(const Step& s) {
    total_ += 256 + s.name.size() + s.kernel.size() + 4 * (s.inputs.size() + s.outputs.size());
    for (const std::string& o : s.origin) total_ += 16 + o.size();
    for (const Attr& a : s.attrs)
      total_ += 96 + a.name.size() + a.s.size() + 8 * (a.ints.size() + a.floats.size());
    for (const Block& b : s.blocks)
      for (const Step& nested : b.steps) add(nested);
  }
  std::uint64_t total_ = 0;
};

// Numbers texts in order of first use; number 0 is the empty text.
class Strings {
 public:
  explicit Strings(flatbuffers::FlatBufferBuilder& builder) : builder_(builder) { id(""); }

  std::uint32_t id(std::string_view text) {
    const auto [it, fresh] = ids_.try_emplace(std::string(text), offsets_.size());
    if (fresh) offsets_.push_back(builder_.CreateString(text.data(), text.size()));
    return static_cast<std::uint32_t>(it->second);
  }
  const std::vector<Offset<flatbuffers::String>>& offsets() const { return offsets_; }

 private:
  flatbuffers::FlatBufferBuilder& builder_;
  std::unordered_map<std::string, std::size_t> ids_;
  std::vector<Offset<flatbuffers::String>> offsets_;
};

class Encoder {
 public:
  std::vector<std::byte> run(const Plan& plan) {
    const auto bindings = tables<fb::Binding>(plan.bindings);
    const auto profiles = tables<fb::Profile>(plan.profiles);
    const auto tensors = tables<fb::Tensor>(plan.tensors);
    const auto steps = tables<fb::Step>(plan.steps);
    const auto symbols = structs<fb::Symbol>(plan.symbols);
    const auto program = structs<fb::ShapeInstruction>(plan.shape_program);
    const auto constants = structs<fb::Constant>(plan.constants);
    const auto images = structs<fb::CodeImage>(plan.images);
    const auto modules = structs<fb::ModuleRequirement>(plan.modules);
    const auto verification = structs<fb::Verification>(plan.verification);
    const std::uint32_t producer = text_.id(plan.producer), name = text_.id(plan.name),
                        backend = text_.id(plan.backend), target = text_.id(plan.target),
                        build_info = text_.id(plan.build_info);
    const auto strings = out_.CreateVector(text_.offsets());
    fb::RootBuilder root(out_);
    root.add_strings(strings);
    root.add_producer(producer);
    root.add_name(name);
    root.add_backend(backend);
    root.add_target(target);
    root.add_build_info(build_info);
    root.add_bindings(bindings);
    root.add_profiles(profiles);
    root.add_symbols(symbols);
    root.add_shape_program(program);
    root.add_tensors(tensors);
    root.add_constants(constants);
    root.add_images(images);
    root.add_steps(steps);
    root.add_modules(modules);
    root.add_verification(verification);
    root.add_arena_bytes(plan.arena_bytes);
    root.add_arena_lower_bound(plan.arena_lower_bound);
    root.add_streams(plan.streams);
    out_.Finish(root.Finish(), fb::RootIdentifier());
    const auto* bytes = reinterpret_cast<const std::byte*>(out_.GetBufferPointer());
    return {bytes, bytes + out_.GetSize()};
  }

 private:
  template <class F, class T>
  Offset<flatbuffers::Vector<Offset<F>>> tables(const std::vector<T>& items) {
    if (items.empty()) return 0;
    std::vector<Offset<F>> offsets;
    offsets.reserve(items.size());
    for (const T& item : items) offsets.push_back(encode(item));
    return out_.CreateVector(offsets);
  }

  template <class F, class T>
  Offset<flatbuffers::Vector<const F*>> structs(const std::vector<T>& items) {
    if (items.empty()) return 0;
    std::vector<F> out;
    out.reserve(items.size());
    for (const T& item : items) out.push_back(flat(item));
    return out_.CreateVectorOfStructs(out);
  }

  template <class T>
  Offset<flatbuffers::Vector<T>> numbers(const std::vector<T>& items) {
    return items.empty() ? Offset<flatbuffers::Vector<T>>(0) : out_.CreateVector(items);
  }

  static std::uint8_t number(auto value) { return static_cast<std::uint8_t>(value); }

  fb::Symbol flat(const Symbol& s) { return {text_.id(s.name), s.value, s.min, s.max}; }
  fb::ShapeInstruction flat(const ShapeInstruction& s) { return {number(s.op), s.a, s.b, s.imm}; }
  fb::Constant flat(const Constant& c) {
    return {text_.id(c.name), number(c.dtype), c.offset, c.bytes, c.hash};
  }
  fb::CodeImage flat(const CodeImage& c) {
    return {text_.id(c.name), text_.id(c.format), text_.id(c.target), c.offset, c.bytes};
  }
  fb::ModuleRequirement flat(const ModuleRequirement& m) {
    return {text_.id(m.name), m.abi_version, text_.id(m.fingerprint)};
  }
  fb::Verification flat(const Verification& v) {
    return {text_.id(v.output),
            text_.id(v.covered),
            v.max_abs_error,
            v.max_rel_error,
            v.atol,
            v.rtol,
            v.passed};
  }
  static fb::InPlace flat(const InPlace& p) { return {p.input, p.output}; }

  Offset<fb::Binding> encode(const Binding& b) {
    return fb::CreateBinding(out_, text_.id(b.name), number(b.dtype), numbers(b.dims), b.is_input,
                             b.is_shape, b.tensor);
  }
  Offset<fb::ProfileInput> encode(const ProfileInput& p) {
    return fb::CreateProfileInput(out_, p.binding, numbers(p.min), numbers(p.opt), numbers(p.max));
  }
  Offset<fb::Profile> encode(const Profile& p) {
    const std::uint32_t name = text_.id(p.name);
    return fb::CreateProfile(out_, name, tables<fb::ProfileInput>(p.inputs));
  }
  Offset<fb::Tensor> encode(const Tensor& t) {
    return fb::CreateTensor(out_, number(t.dtype), numbers(t.dims), numbers(t.strides),
                            number(t.location), t.index, t.offset, t.bytes, t.alias_of);
  }
  Offset<fb::Attr> encode(const Attr& a) {
    const std::uint32_t name = text_.id(a.name), s = text_.id(a.s);
    const auto ints = numbers(a.ints);
    const auto floats = numbers(a.floats);
    // A field equal to its default is left out, and -0.0 equals 0.0.
    out_.ForceDefaults(a.f == 0 && std::signbit(a.f));
    const auto attr = fb::CreateAttr(out_, name, number(a.kind), a.i, a.f, s, ints, floats);
    out_.ForceDefaults(false);
    return attr;
  }
  Offset<fb::Block> encode(const Block& b) {
    return fb::CreateBlock(out_, tables<fb::Step>(b.steps));
  }
  Offset<fb::Step> encode(const Step& s) {
    const std::uint32_t name = text_.id(s.name), module = text_.id(s.module),
                        kernel = text_.id(s.kernel);
    std::vector<std::uint32_t> origin;
    for (const std::string& o : s.origin) origin.push_back(text_.id(o));
    const auto attrs = tables<fb::Attr>(s.attrs);
    const auto blocks = tables<fb::Block>(s.blocks);
    const auto inputs = numbers(s.inputs), outputs = numbers(s.outputs);
    const auto in_place = structs<fb::InPlace>(s.in_place);
    const auto origins = numbers(origin);
    Offset<fb::Launch> launch = 0;
    if (s.kind == StepKind::launch) {
      const Launch& l = s.launch;
      launch = fb::CreateLaunch(out_, l.image, l.grid[0], l.grid[1], l.grid[2], l.block[0],
                                l.block[1], l.block[2], l.shared_bytes);
    }
    return fb::CreateStep(out_, number(s.kind), name, module, kernel, attrs, inputs, outputs,
                          in_place, s.workspace_offset, s.workspace_bytes, s.stream, s.peer_stream,
                          origins, blocks, launch);
  }

  flatbuffers::FlatBufferBuilder out_;
  Strings text_{out_};
};

}  // namespace

Result<std::vector<std::byte>> encode_metadata(const Plan& plan) {
  const std::uint64_t estimate = SizeEstimate().of(plan);
  if (estimate > kMaxMetadataBytes)
    return Status::error(Code::unsupported,
                         "engine metadata: expected at most %llu bytes, found about %llu; large "
                         "data belongs into constants, not attributes",
                         static_cast<unsigned long long>(kMaxMetadataBytes),
                         static_cast<unsigned long long>(estimate));
  return Encoder().run(plan);
}

}  // namespace frit::plan
