// SPDX-License-Identifier: Apache-2.0
// ONNX bytes without protobuf, and engines run from memory.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "frit/builder.h"
#include "frit/runtime.h"

namespace frit::test {

/// Encodes the wire format of protobuf, as far as small models need it.
class Message {
 public:
  Message& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Message& bytes(int field, const std::string& value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    text_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.text_); }
  const std::string& text() const { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) text_ += static_cast<char>(value | 128);
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

/// The model y = op(x) with f32 x of dims [N, 3], N symbolic.
inline std::string onnx_model(const std::string& op) {
  Message shape;
  shape.message(1, Message().bytes(2, "N")).message(1, Message().number(1, 3));
  const Message type = Message().message(1, Message().number(1, 1).message(2, shape));
  const Message node = Message().bytes(1, "x").bytes(2, "y").bytes(3, "the_node").bytes(4, op);
  const Message graph = Message()
                            .message(1, node)
                            .bytes(2, "tiny")
                            .message(11, Message().bytes(1, "x").message(2, type))
                            .message(12, Message().bytes(1, "y").message(2, type));
  return Message().number(1, 8).message(7, graph).message(8, Message().number(2, 17)).text();
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

using Floats = std::vector<float>;

/// Runs an image whose bindings are all f32 and returns the outputs by name.
inline std::map<std::string, Floats> run(const EngineImage& image,
                                         const std::map<std::string, Floats>& inputs) {
  RuntimeEngine engine;
  const RuntimeStatus loaded = engine.load(image.bytes);
  EXPECT_TRUE(loaded.ok()) << loaded.message();
  RuntimeContext context;
  const RuntimeStatus created = context.create(engine);
  EXPECT_TRUE(created.ok()) << created.message();
  std::map<std::string, Floats> memory;
  for (int b = 0; b < engine.binding_count(); ++b) {
    const BindingInfo info = engine.binding(b);
    Floats& values = memory[info.name];
    values.assign(info.bytes / sizeof(float), -123.0F);
    if (info.is_input) {
      EXPECT_EQ(inputs.count(info.name), 1u) << info.name;
      if (inputs.count(info.name) == 1) values = inputs.at(info.name);
    }
    EXPECT_TRUE(context.set_address(b, std::span(values)).ok()) << info.name;
  }
  const RuntimeStatus ran = context.enqueue();
  EXPECT_TRUE(ran.ok()) << ran.message();
  for (const auto& input : inputs) memory.erase(input.first);
  return memory;
}

}  // namespace frit::test
