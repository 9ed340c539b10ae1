// SPDX-License-Identifier: Apache-2.0
#include "runtime/modules/onednn/epilogue.h"

#include <cmath>
#include <limits>

namespace frit::onednn {
namespace {

using dnnl::algorithm;

constexpr int kFirstExtra = 3;  // operands before the extra ones: x, w, bias
constexpr int kFields = 5;      // op, dtype, three sources

struct PointwiseName {
  const char* name;
};

constexpr PointwiseName kRows[] = {
#define FRIT_PW(name, arity, kind, attr0, attr1, expression) {#name},
#include "kernels/common/pointwise.def"
#undef FRIT_PW
};

struct Eltwise {
  const char* name;
  algorithm algo;
  float alpha, beta;
  bool parameters;  // take p0, p1 instead of alpha, beta
};

// Only where oneDNN computes the same function over the whole range.
constexpr Eltwise kEltwise[] = {
    {"relu", algorithm::eltwise_relu, 0, 0, false},
    {"leaky_relu", algorithm::eltwise_relu, 0, 0, true},
    {"abs", algorithm::eltwise_abs, 0, 0, false},
    {"sqrt", algorithm::eltwise_sqrt, 0, 0, false},
    {"exp", algorithm::eltwise_exp, 0, 0, false},
    {"tanh", algorithm::eltwise_tanh, 0, 0, false},
    {"sigmoid", algorithm::eltwise_logistic, 0, 0, false},
    {"silu", algorithm::eltwise_swish, 1, 0, false},
    {"swish", algorithm::eltwise_swish, 0, 0, true},
    {"hard_swish", algorithm::eltwise_hardswish, 0, 0, false},
    {"gelu", algorithm::eltwise_gelu_erf, 0, 0, false},
    {"gelu_tanh", algorithm::eltwise_gelu_tanh, 0, 0, false},
    {"elu", algorithm::eltwise_elu, 0, 0, true},
    {"clamp", algorithm::eltwise_clip, 0, 0, true},
    {"affine", algorithm::eltwise_linear, 0, 0, true},
};

struct Binary {
  const char* name;
  algorithm algo;
  bool commutative;
};

constexpr Binary kBinary[] = {
    {"add", algorithm::binary_add, true},  {"mul", algorithm::binary_mul, true},
    {"sub", algorithm::binary_sub, false}, {"div", algorithm::binary_div, false},
    {"max", algorithm::binary_max, true},  {"min", algorithm::binary_min, true},
};

class Translator {
 public:
  Translator(std::span<const TensorDesc> in, std::span<const kernels::Attr> attrs, const View& view)
      : in_(in), view_(view) {
    for (const kernels::Attr& a : attrs)
      if (std::string_view(a.name) == "epilogue_program") read_program(attrs);
  }

  Epilogue run(int added) {
    if (added >= 0) append_binary(algorithm::binary_add, added);
    std::int64_t accumulator = 0;  // the source that holds the value post-ops transform
    for (std::int64_t j = 0; j < steps_; ++j) {
      translate(j, accumulator);
      accumulator = operands_ + j;
    }
    epilogue_.attr.set_post_ops(ops_);
    epilogue_.attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return std::move(epilogue_);
  }

 private:
  void read_program(std::span<const kernels::Attr> attrs) {
    code_ = ints_attr(attrs, "epilogue_program");
    if (code_.size() % kFields != 0) refuse("the epilogue program is cut off");
    steps_ = static_cast<std::int64_t>(code_.size()) / kFields;
    for (const kernels::Attr& a : attrs)
      if (std::string_view(a.name) == "epilogue_params" && a.kind == kernels::Attr::Kind::reals)
        params_.assign(a.floats, a.floats + a.count);
    if (params_.size() != static_cast<std::size_t>(2 * steps_))
      refuse("the epilogue program has another number of parameters than it needs");
    operands_ = std::max<std::int64_t>(static_cast<std::int64_t>(in_.size()) - kFirstExtra, 0) + 1;
    const std::vector<std::int64_t> results = ints_attr(attrs, "epilogue_results");
    if (results.size() != 1 || results[0] != (steps_ > 0 ? operands_ + steps_ - 1 : 0))
      refuse("the epilogue's result is not its last instruction");
  }

  std::int64_t field(std::int64_t step, int k) const {
    return code_[static_cast<std::size_t>(step * kFields + k)];
  }

  void translate(std::int64_t j, std::int64_t accumulator) {
    const std::int64_t row = field(j, 0);
    if (row < 0 || row >= static_cast<std::int64_t>(std::size(kRows)) ||
        field(j, 1) != static_cast<std::int64_t>(DType::f32))
      refuse("the epilogue converts types");
    const std::string_view name = kRows[row].name;
    const std::int64_t a = field(j, 2), b = field(j, 3);
    const auto param = [&](int k) {
      return static_cast<float>(params_[static_cast<std::size_t>(2 * j + k)]);
    };
    for (const Eltwise& e : kEltwise) {
      if (name != e.name) continue;
      if (a != accumulator) break;
      ops_.append_eltwise(1.0F, e.algo, e.parameters ? param(0) : e.alpha,
                          e.parameters ? param(1) : e.beta);
      return;
    }
    for (const Binary& op : kBinary) {
      if (name != op.name) continue;
      const bool first = a == accumulator && b != accumulator;
      const bool second = op.commutative && b == accumulator && a != accumulator;
      if (!first && !second) break;
      const std::int64_t source = first ? b : a;
      if (source <= 0 || source >= operands_) refuse("the epilogue reads an earlier value twice");
      append_binary(op.algo, static_cast<int>(source) - 1 + kFirstExtra);
      return;
    }
    refuse("the epilogue has '" + std::string(name) + "' in a place post-ops cannot express");
  }

  void append_binary(algorithm algo, int index) {
    const Operand operand = operand_of(in_, {}, index);
    require_f32(operand, "an epilogue operand");
    const dnnl::memory::desc desc = plain(view_(operand.dims));
    const int position = ops_.len();
    ops_.append_binary(algo, desc);
    epilogue_.arguments.push_back({DNNL_ARG_ATTR_MULTIPLE_POST_OP(position) | DNNL_ARG_SRC_1, desc,
                                   Argument::From::in, index, 0});
  }

  std::span<const TensorDesc> in_;
  const View& view_;
  std::vector<std::int64_t> code_;
  std::vector<double> params_;
  std::int64_t steps_ = 0, operands_ = 1;
  dnnl::post_ops ops_;
  Epilogue epilogue_;
};

}  // namespace

View broadcast_view(const std::vector<std::int64_t>& out) {
  return [out](const std::vector<std::int64_t>& dims) {
    std::vector<std::int64_t> viewed(out.size(), 1);
    if (dims.size() > viewed.size()) refuse("an epilogue operand has a larger rank");
    std::copy(dims.begin(), dims.end(), viewed.end() - static_cast<std::ptrdiff_t>(dims.size()));
    for (std::size_t i = 0; i < viewed.size(); ++i)
      if (viewed[i] != 1 && viewed[i] != out[i]) refuse("an epilogue operand does not broadcast");
    return viewed;
  };
}

Epilogue make_epilogue(std::span<const TensorDesc> in, std::span<const kernels::Attr> attrs,
                       const View& view, int added) {
  return Translator(in, attrs, view).run(added);
}

}  // namespace frit::onednn
