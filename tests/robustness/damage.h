// SPDX-License-Identifier: Apache-2.0
// Damages files in memory and loads them as a user would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frit/types.h"

namespace frit::test {

/// What became of one damaged file.
struct Outcome {
  Code code = Code::ok;
  std::string message;  ///< "" if the file was accepted
};

/// Whether the outcome is acceptance or one clear error: printable words that blame the file,
/// not Frit itself.
bool clear(const Outcome& outcome);

/// Parses ONNX bytes; with `build`, what parses is compiled too, unverified.
Outcome load_model(std::span<const std::byte> bytes, bool build);

/// Loads an engine; what loads also gets a context, and with `run` one execution on zeros.
Outcome load_engine(std::span<const std::byte> bytes, bool run);

/// Flips bit `bit` (counted from the first byte) of `bytes`.
void flip(std::span<std::byte> bytes, std::uint64_t bit);

/// Recomputes all checksums of an engine, so that damage reaches the checks behind them. The header
/// and the section table must be intact.
void reseal(std::span<std::byte> engine);

}  // namespace frit::test
