// SPDX-License-Identifier: Apache-2.0
// Types shared by every part of Frit. Depends on <cstdint> alone, so kernels may include it too.
#pragma once

#include <cstdint>

namespace frit {

/// Element types. The numbers are those of ONNX's TensorProto.DataType.
enum class DType : std::uint8_t {
  undefined = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  string = 8,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  c64 = 14,
  c128 = 15,
  bf16 = 16,
  f8e4m3fn = 17,
  f8e4m3fnuz = 18,
  f8e5m2 = 19,
  f8e5m2fnuz = 20,
  u4 = 21,
  i4 = 22,
  f4e2m1 = 23,
  f8e8m0 = 24,
  u2 = 25,
  i2 = 26,
};

/// Number of entries a table indexed by DType needs.
inline constexpr int kDTypeCount = 27;

/// What went wrong, as a stable number. 0 is success; the values are part of the C ABI.
enum class Code : std::int32_t {
  ok = 0,
  invalid_argument = 1,  ///< the caller passed something impossible
  invalid_model = 2,     ///< the model breaks the ONNX specification
  unsupported = 3,       ///< valid, but not covered by this version
  invalid_engine = 4,    ///< damaged, foreign or too new engine file
  not_found = 5,         ///< file, binding or module missing
  out_of_memory = 6,
  io_error = 7,
  shape_mismatch = 8,    ///< dims differ from what the engine was built for
  execution_failed = 9,  ///< a step failed while running
  verification_failed = 10,
  cancelled = 11,
  internal = 12,  ///< a broken invariant of Frit itself
};

}  // namespace frit
