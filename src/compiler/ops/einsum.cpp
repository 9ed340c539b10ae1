// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/einsum.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/dtypes.h"
#include "compiler/ops/infer.h"

namespace frit::ir {
namespace {

constexpr int kLetters = 52;

int letter_index(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= 'A' && c <= 'Z') return c - 'A' + 26;
  return -1;
}

char letter(int index) {
  return static_cast<char>(index < 26 ? 'A' + index : 'a' + index - 26);
}

// One comma-separated term; an ellipsis becomes the mark kEllipsis.
std::string read_term(std::string_view text, std::string_view equation) {
  const auto refuse = [&](const char* what) {
    fail(Code::invalid_model, "einsum: equation '{}' {}", equation, what);
  };
  std::string labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 3) == "...") {
      if (labels.find(kEllipsis) != std::string::npos) refuse("has two ellipses in one term");
      labels += kEllipsis;
      i += 2;
    } else if (letter_index(text[i]) >= 0) {
      labels += text[i];
    } else {
      refuse("may hold letters, commas, '...' and '->' only");
    }
  }
  return labels;
}

// Without "->": the ellipsis, then the letters that occur once, in alphabetical order.
std::string implicit_output(const std::vector<std::string>& terms) {
  std::array<int, kLetters> seen{};
  bool ellipsis = false;
  for (const std::string& term : terms)
    for (char c : term) {
      if (c == kEllipsis)
        ellipsis = true;
      else
        ++seen[static_cast<std::size_t>(letter_index(c))];
    }
  std::string out(ellipsis ? 1 : 0, kEllipsis);
  for (int i = 0; i < kLetters; ++i) {
    const char c = letter(i);
    if (seen[static_cast<std::size_t>(letter_index(c))] == 1) out += c;
  }
  return out;
}

void check_output(const EinsumEquation& parsed, std::string_view equation) {
  for (std::size_t i = 0; i < parsed.output.size(); ++i) {
    const char c = parsed.output[i];
    if (parsed.output.find(c, i + 1) != std::string::npos)
      fail(Code::invalid_model, "einsum: equation '{}' names an output label twice", equation);
    const bool known = std::ranges::any_of(
        parsed.inputs, [&](const std::string& term) { return term.find(c) != std::string::npos; });
    if (!known && c != kEllipsis)
      fail(Code::invalid_model, "einsum: output label '{}' of '{}' occurs in no input", c,
           equation);
  }
}

}  // namespace

EinsumEquation parse_einsum(std::string_view equation) {
  std::string text;
  for (char c : equation)
    if (c != ' ') text += c;
  EinsumEquation parsed;
  const std::size_t arrow = text.find("->");
  std::string_view left = std::string_view(text).substr(0, arrow);
  for (;;) {
    const std::size_t comma = left.find(',');
    parsed.inputs.push_back(read_term(left.substr(0, comma), equation));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  parsed.output = arrow == std::string::npos
                      ? implicit_output(parsed.inputs)
                      : read_term(std::string_view(text).substr(arrow + 2), equation);
  check_output(parsed, equation);
  return parsed;
}

namespace {

struct Labels {
  std::array<std::optional<Dim>, kLetters> size;
  Shape ellipsis;
};

// Matches one operand's dims with its term's labels; sizes of 1 stretch as in broadcasting.
void match(const Inference& in, int i, const std::string& term, Labels& labels) {
  const Shape& dims = in.dims(i);
  const bool dots = term.find(kEllipsis) != std::string::npos;
  const std::size_t named = term.size() - (dots ? 1 : 0);
  if (dots ? dims.size() < named : dims.size() != named)
    in.refuse("term '{}' of the equation does not fit operand {} of rank {}",
              dots ? std::string(term).replace(term.find(kEllipsis), 1, "...") : term, i,
              dims.size());
  std::size_t d = 0;
  for (char c : term) {
    if (c == kEllipsis) {
      const std::size_t n = dims.size() - named;
      const auto begin = dims.begin() + static_cast<std::ptrdiff_t>(d);
      labels.ellipsis =
          in.broadcast(labels.ellipsis, Shape(begin, begin + static_cast<std::ptrdiff_t>(n)));
      d += n;
      continue;
    }
    std::optional<Dim>& size = labels.size[static_cast<std::size_t>(letter_index(c))];
    size = size ? in.broadcast({*size}, {dims[d]})[0] : dims[d];
    ++d;
  }
}

void infer_einsum(Inference& in) {
  const EinsumEquation parsed = parse_einsum(in.attrs().s("equation"));
  if (parsed.inputs.size() != static_cast<std::size_t>(in.operand_count()))
    in.refuse("equation '{}' has {} terms for {} operands", in.attrs().s("equation"),
              parsed.inputs.size(), in.operand_count());
  Labels labels;
  in.expect_numeric(0);
  for (int i = 0; i < in.operand_count(); ++i) {
    in.expect_dtype(i, in.dtype(0));
    match(in, i, parsed.inputs[static_cast<std::size_t>(i)], labels);
  }
  Shape dims;
  for (char c : parsed.output) {
    if (c == kEllipsis)
      dims.insert(dims.end(), labels.ellipsis.begin(), labels.ellipsis.end());
    else
      dims.push_back(*labels.size[static_cast<std::size_t>(letter_index(c))]);
  }
  in.set(0, in.dtype(0), std::move(dims));
}

constexpr AttrDef kEinsumAttrs[] = {{"equation", AttrKind::text}};

}  // namespace
}  // namespace frit::ir

namespace frit::ops {

constinit const ir::Schema einsum = {.name = "einsum",
                                     .min_operands = 1,
                                     .max_operands = -1,
                                     .attrs = ir::kEinsumAttrs,
                                     .infer = ir::infer_einsum};

}  // namespace frit::ops
