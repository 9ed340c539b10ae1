// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/inputs.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/dtypes.h"
#include "base/mapped_file.h"
#include "compiler/error.h"
#include "tools/fritexec/log.h"
#include "tools/fritexec/shapes.h"

namespace frit::exec {
namespace {

// Elements are drawn from a table, which makes every type that has a conversion from double.
constexpr int kDistinct = 256;

std::vector<std::byte> random_bytes(const ir::Tensor& like) {
  std::vector<std::byte> bytes(like.bytes());
  std::mt19937 random(1);
  const DType type = like.dtype();
  const int bits = dtype_bits(type);
  if (bits < 8) {
    for (std::byte& b : bytes) b = static_cast<std::byte>(random() & 0x11U);
    return bytes;
  }
  const bool complex = type == DType::c64 || type == DType::c128;
  const DType part = type == DType::c64 ? DType::f32 : type == DType::c128 ? DType::f64 : type;
  std::vector<ir::Tensor> table;
  std::uniform_real_distribution<double> real(-1, 1);
  const bool integral = is_int(part) || part == DType::boolean;
  for (int v = 0; v < kDistinct; ++v)
    table.push_back(ir::Tensor::scalar(part, integral ? v % 2 : real(random)));
  const std::size_t size = static_cast<std::size_t>(complex ? bits / 16 : bits / 8);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    std::memcpy(bytes.data() + at, table[random() % kDistinct].data(), size);
  return bytes;
}

}  // namespace

void fill_inputs(const Options& options, tools::Session& session, bool log) {
  for (const auto& [name, path] : options.load_inputs) {
    auto file = MappedFile::open(path.c_str());
    if (!file.ok())
      fail(file.status().code(), "--loadInputs {}: {}", name, file.status().message());
    session.set_input_bytes(name, file->bytes());
    if (log) log_info("Using values loaded from {} for input {}", path, name);
  }
  for (const tools::Bound& bound : session.bindings()) {
    if (!bound.is_input) continue;
    const bool loaded = std::ranges::any_of(
        options.load_inputs, [&](const auto& pair) { return pair.first == bound.name; });
    if (loaded) continue;
    if (log) log_info("Using random values for input {}", bound.name);
    const std::vector<std::byte> bytes = random_bytes(bound.tensor);
    session.set_input_bytes(bound.name, bytes);
  }
}

}  // namespace frit::exec
