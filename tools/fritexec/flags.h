// SPDX-License-Identifier: Apache-2.0
// trtexec's flags that change nothing here: each is accepted with a warning or refused.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace frit::exec {

/// What happens when a flag of the table is given.
enum class Treatment : std::uint8_t { warn, refuse };

/// One flag; `name` without dashes.
struct OtherFlag {
  const char* name;
  bool takes_value;
  Treatment treatment;
  const char* reason;
};

std::span<const OtherFlag> other_flags();

/// The name among `names` that takes the fewest edits to reach; "" if all are far away.
std::string nearest(std::string_view name, const std::vector<std::string>& names);

}  // namespace frit::exec
