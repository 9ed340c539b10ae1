// SPDX-License-Identifier: Apache-2.0
// Text from files that goes into messages.
#pragma once

#include <cstddef>

namespace frit {

/// Replaces control characters other than line ends by "?": messages quote names from files, which
/// must not steer a terminal.
inline void make_printable(char* text, std::size_t length) noexcept {
  for (std::size_t i = 0; i < length; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n') || c == 0x7F) text[i] = '?';
  }
}

}  // namespace frit
