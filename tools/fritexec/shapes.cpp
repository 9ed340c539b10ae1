// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/shapes.h"

#include <charconv>

#include "compiler/error.h"

namespace frit::exec {
namespace {

std::int64_t parse_dim(std::string_view text, std::string_view entry, std::string_view flag) {
  std::int64_t dim = -1;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
  if (error != std::errc() || stop != text.data() + text.size() || dim < 0)
    fail(Code::invalid_argument,
         "{}: '{}' is not a shape; expected name:AxBxC with numbers of at least 0, or name:scalar",
         flag, entry);
  return dim;
}

bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return name.size() >= head.size() + tail.size() && name.starts_with(head) && name.ends_with(tail);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> parse_pairs(std::string_view text,
                                                             std::string_view flag) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (;;) {
    const std::size_t end = text.find(',');
    const std::string_view entry = text.substr(0, end);
    const std::size_t colon = entry.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == entry.size())
      fail(Code::invalid_argument, "{}: expected name:value,…, found '{}'", flag, entry);
    std::string_view name = entry.substr(0, colon);
    if (name.size() > 2 && name.front() == '\'' &&
        name.back() == '\'')  // as trtexec's help quotes them
      name = name.substr(1, name.size() - 2);
    pairs.emplace_back(name, entry.substr(colon + 1));
    if (end == std::string_view::npos) return pairs;
    text.remove_prefix(end + 1);
  }
}

InputShapes parse_shapes(std::string_view text, std::string_view flag) {
  InputShapes shapes;
  for (const auto& [name, value] : parse_pairs(text, flag)) {
    std::vector<std::int64_t> dims;
    std::string_view rest = value;
    while (value != "scalar") {
      const std::size_t end = rest.find('x');
      dims.push_back(parse_dim(rest.substr(0, end), fmt::format("{}:{}", name, value), flag));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
    if (!shapes.emplace(name, std::move(dims)).second)
      fail(Code::invalid_argument, "{}: the input '{}' is listed twice", flag, name);
  }
  return shapes;
}

InputShapes match_names(const InputShapes& shapes, const std::vector<IoDesc>& inputs) {
  InputShapes matched;
  std::string known;
  for (const IoDesc& input : inputs) known += (known.empty() ? "'" : ", '") + input.name + "'";
  for (const auto& [pattern, dims] : shapes) {
    bool found = false;
    for (const IoDesc& input : inputs) {
      if (!matches(pattern, input.name)) continue;
      found = true;
      matched[input.name] = dims;
    }
    if (!found)
      fail(Code::not_found, "--shapes: the model has no input '{}'; its inputs: {}", pattern,
           known);
  }
  return matched;
}

std::string dims_text(const std::vector<std::int64_t>& dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
}

}  // namespace frit::exec
