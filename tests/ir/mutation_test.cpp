// SPDX-License-Identifier: Apache-2.0
// Damaged texts are refused with a place or parse to something that prints and parses again.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "compiler/error.h"
#include "compiler/ir/text.h"

namespace frit::ir {
namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts = {
      R"(graph "net" [N in 1..8, "a b" in 0..] (%x: f32[N,3], %ids: i64[N,"a b"]) {
  %w = constant f32[3,8] dense<0.5>
  %k = constant c64[2] dense<(1, -2), (0x7fc00001, inf)>
  %q = constant u4[3] hex"2101"
  %0 = matmul(%x, %w, _) {trans_a = 0, trans_b = 0} from "M", "\x41\n" graph (%1: f32[N,8]) {
    %2 = relu(%1) : f32[N,8]
    return %2
  }
  %s = shape(%0) {start = 0, end = 2}
  %3 = reshape(%0) : f32[N*2,floor_div(4, 2) + max(N, 3) - max(N, 3),2]
  %4 = leaky_relu(%3) {alpha = nan(0x7ff8000000000001)} : ?
  return %4, %ids, %s
})"};
  // ctest runs in the source directory.
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("tests/passes", none)) {
    if (entry.path().extension() != ".ir") continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    texts.push_back(text.str().substr(0, text.str().find("---")));
  }
  return texts;
}

// True if the text is a graph; anything but an Error(invalid_argument) fails the test.
bool try_parse(const std::string& text) {
  Graph graph;
  try {
    parse(text, graph);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::invalid_argument) << error.message() << "\nin:\n" << text;
    EXPECT_LT(error.message().size(), 20000u);
    return false;
  }
  const std::string printed = print(graph);
  Graph again;
  try {
    parse(printed, again);
    EXPECT_EQ(print(again), printed);
  } catch (const Error& error) {
    ADD_FAILURE() << "the printed text does not parse: " << error.message() << "\n" << printed;
  }
  return true;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string operator()(const std::string& from, const std::string& other) {
    std::string text = from;
    for (std::size_t edits = 1 + pick(4); edits > 0; --edits) edit(text, other);
    return text;
  }

 private:
  std::size_t pick(std::size_t below) { return below == 0 ? 0 : random_() % below; }

  void edit(std::string& text, const std::string& other) {
    static const char* const kTokens[] = {
        "%",         "\"",    "(",          ")",     "[",      "]",       "{",
        "}",         "<",     ">",          "_",     "#",      "..",      "0x",
        "nan",       "-inf",  "dense<",     "hex\"", "graph ", "return ", "9999999999999999999",
        "-1",        "1e400", "floor_div(", "max(",  "f32",    "i4",      "string",
        "undefined", "//",    "\\",         "?",     ": ",     " from ",  ",",
        "=",         "\n",    "\xff",       "N",     "*"};
    const std::size_t at = pick(text.size());
    const std::size_t length = pick(12);
    switch (pick(6)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(pick(256));
        return;
      case 1:
        text.erase(at, length);
        return;
      case 2:
        text.insert(at, kTokens[pick(std::size(kTokens))]);
        return;
      case 3:
        text.insert(at, text.substr(pick(text.size()), 4 * length));
        return;
      case 4:
        text.insert(at, other.substr(pick(other.size()), 8 * length));
        return;
      default:
        text.resize(text.size() - pick(std::min<std::size_t>(text.size(), 40)));
    }
  }

  std::mt19937 random_;
};

TEST(IrTextMutations, NoTextDoesHarm) {
  const std::vector<std::string> texts = seeds();
  for (const std::string& text : texts) EXPECT_TRUE(try_parse(text)) << text;
  int graphs = 0;
  constexpr int kMutations = 6000;
  for (int i = 0; i < kMutations && !HasFailure(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    Mutator mutate(static_cast<unsigned>(i));
    graphs += try_parse(mutate(texts[index % texts.size()], texts[(index / 7) % texts.size()]));
  }
  EXPECT_GT(graphs, kMutations / 100) << "mutations no longer reach the later stages";
  EXPECT_LT(graphs, kMutations);
}

TEST(IrTextMutations, EveryPrefixIsRefused) {
  const std::string text = seeds()[0];
  for (std::size_t length = 0; length + 1 < text.size(); ++length)
    EXPECT_FALSE(try_parse(text.substr(0, length))) << text.substr(0, length);
}

TEST(IrTextMutations, RandomBytesAreRefused) {
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    std::string text = i % 2 == 0 ? "graph (" : "";
    for (unsigned k = random() % 200; k > 0; --k) text += static_cast<char>(random() % 256);
    EXPECT_FALSE(try_parse(text));
  }
}

// Work grows with the text, not faster.
TEST(IrTextMutations, LongTextsTakeProportionalTime) {
  std::string text = "graph (%v0: f32[4]) {\n";
  constexpr int kNodes = 50000;
  for (int i = 0; i < kNodes; ++i)
    text += "%v" + std::to_string(i + 1) + " = relu(%v" + std::to_string(i) + ")\n";
  text += "return %v" + std::to_string(kNodes) + " }";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(try_parse(text));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 20);  // 0.3 s where quadratic work would take minutes
}

}  // namespace
}  // namespace frit::ir
