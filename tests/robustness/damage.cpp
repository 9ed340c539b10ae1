// SPDX-License-Identifier: Apache-2.0
#include "tests/robustness/damage.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "frit/builder.h"
#include "frit/runtime.h"
#include "plan/format.h"

namespace frit::test {
namespace {

Outcome outcome_of(const RuntimeStatus& status) {
  return {status.code(), status.message()};
}

// Larger bindings are not allocated: an accepted engine may well ask for more than there is.
constexpr std::uint64_t kMaxBinding = std::uint64_t{16} << 20;

Outcome run_on_zeros(const RuntimeEngine& engine, RuntimeContext& context) {
  std::vector<std::vector<std::uint64_t>> memory;
  for (int i = 0; i < engine.binding_count(); ++i) {
    const BindingInfo binding = engine.binding(i);
    if (binding.bytes > kMaxBinding) return {};
    memory.emplace_back(binding.bytes / 8 + 1);
    const RuntimeStatus status = context.set_address(i, memory.back().data(), binding.bytes);
    if (!status.ok()) return outcome_of(status);
  }
  return outcome_of(context.enqueue());
}

}  // namespace

bool clear(const Outcome& outcome) {
  if (outcome.code == Code::ok) return outcome.message.empty();
  // Names from damaged files must not put control characters on a terminal.
  const bool printable = std::all_of(outcome.message.begin(), outcome.message.end(), [](char c) {
    return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  });
  return outcome.code != Code::internal && outcome.message.size() > 10 && printable;
}

Outcome load_model(std::span<const std::byte> bytes, bool build) {
  const Expected<Network> network = Network::parse_memory(bytes);
  if (!network.ok()) return {network.error().code, network.error().message};
  if (!build) return {};
  BuildConfig config;
  config.cpu_threads = 1;
  config.disabled_sources = {"onednn"};
  config.verify = Verify::off;
  const Expected<EngineImage> image = Builder().build(*network, config);
  if (!image.ok()) return {image.error().code, image.error().message};
  return {};
}

Outcome load_engine(std::span<const std::byte> bytes, bool run) {
  RuntimeEngine engine;
  RuntimeEngine::Options options;
  options.cpu_threads = 1;
  RuntimeStatus status = engine.load(bytes, options);
  if (!status.ok()) return outcome_of(status);
  RuntimeContext context;
  status = context.create(engine);
  if (!status.ok()) return outcome_of(status);
  return run ? run_on_zeros(engine, context) : Outcome{};
}

void flip(std::span<std::byte> bytes, std::uint64_t bit) {
  bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
}

void reseal(std::span<std::byte> engine) {
  plan::FileHeader header;
  std::memcpy(&header, engine.data(), sizeof header);
  std::vector<plan::Section> sections(header.section_count);
  const std::size_t table = sections.size() * sizeof(plan::Section);
  std::memcpy(sections.data(), engine.data() + sizeof header, table);
  for (plan::Section& s : sections) s.hash = hash_blocks(engine.subspan(s.offset, s.bytes));
  std::memcpy(engine.data() + sizeof header, sections.data(), table);
  header.hash = 0;
  std::memcpy(engine.data(), &header, sizeof header);
  header.hash = hash64(std::span<const std::byte>(engine.first(sizeof header + table)));
  std::memcpy(engine.data(), &header, sizeof header);
}

}  // namespace frit::test
