// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "base/dtypes.h"
#include "tools/frit-inspect/describe.h"

namespace frit::inspect {
namespace {

class TextPrinter {
 public:
  explicit TextPrinter(const plan::Contents& engine) : engine_(engine), plan_(engine.plan) {}

  std::string print(const Sections& sections) {
    summary();
    if (sections.bindings) bindings();
    if (sections.modules) modules();
    if (sections.steps) steps();
    if (sections.memory) memory();
    if (sections.verification) verification();
    return std::move(text_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(args)...);
    text_ += '\n';
  }

  void summary() {
    line("engine '{}' by {}, format {}.{}, fingerprint {:016x}", plan_.name, plan_.producer,
         engine_.format_major, engine_.format_minor, engine_.fingerprint);
    line("backend {}, target {}, {}", plan_.backend, plan_.target, plan_.build_info);
    line("{} steps, {} tensors, {} constants of {} bytes, arena of {} bytes", plan_.steps.size(),
         plan_.tensors.size(), plan_.constants.size(), distinct_weight_bytes(plan_),
         plan_.arena_bytes);
  }

  void bindings() {
    line("\nbindings");
    for (std::size_t b = 0; b < plan_.bindings.size(); ++b) {
      const plan::Binding& binding = plan_.bindings[b];
      line("  {:>3} {:<6} {} {}{}", b, binding.is_input ? "input" : "output", binding.name,
           type_text(plan_, binding.dtype, binding.dims), binding.is_shape ? " (shape)" : "");
    }
    for (const plan::Symbol& symbol : plan_.symbols)
      line("  size {} from {} to {}", symbol.name, symbol.min, symbol.max);
  }

  void modules() {
    line("\nmodules");
    if (plan_.modules.empty()) line("  none: all kernels are built in");
    for (const plan::ModuleRequirement& module : plan_.modules)
      line("  {} with ABI {}, fingerprint {}", module.name, module.abi_version, module.fingerprint);
  }

  std::string operand(std::int32_t id) const {
    if (id == plan::kNone) return "absent";
    const plan::Tensor& tensor = plan_.tensors[static_cast<std::size_t>(id)];
    std::string text = fmt::format("%{} {} {}", id, type_text(plan_, tensor.dtype, tensor.dims),
                                   place_text(plan_, tensor));
    if (!tensor.strides.empty())
      text += fmt::format(" strides ({})", fmt::join(tensor.strides, ","));
    return text;
  }

  void steps() {
    line("\nsteps");
    int main_step = -1;
    for (const NestedStep& nested : nested_steps(plan_)) {
      const plan::Step& step = *nested.step;
      const std::string indent(static_cast<std::size_t>(2 + 4 * nested.depth), ' ');
      if (nested.depth == 0) ++main_step;
      const std::string number = nested.depth == 0 ? fmt::format("{:>3}", main_step)
                                                   : fmt::format("block {}", nested.block);
      line("{}{} {}: {} {}{}{}", indent, number, step.name, plan::step_kind_name(step.kind),
           step.module, step.module.empty() ? "" : ":", step.kernel);
      for (const std::int32_t id : step.inputs) line("{}      in  {}", indent, operand(id));
      for (const std::int32_t id : step.outputs) line("{}      out {}", indent, operand(id));
      for (const plan::InPlace& pair : step.in_place)
        line("{}      output {} is written over input {}", indent, pair.output, pair.input);
      if (step.workspace_bytes > 0)
        line("{}      workspace arena+{}, {} bytes", indent, step.workspace_offset,
             step.workspace_bytes);
      for (const plan::Attr& attr : step.attrs)
        line("{}      {} = {}", indent, attr.name, attr_text(attr));
      if (!step.origin.empty()) line("{}      from {}", indent, fmt::join(step.origin, ", "));
    }
  }

  void memory() {
    line("\narena: {} bytes, lower bound {} bytes{}", plan_.arena_bytes, plan_.arena_lower_bound,
         plan_.arena_lower_bound == 0
             ? ""
             : fmt::format(" (+{:.2f} %)",
                           100.0 * (static_cast<double>(plan_.arena_bytes) /
                                        static_cast<double>(plan_.arena_lower_bound) -
                                    1.0)));
    line("  {:>12} {:>12} {:>11}  {}", "offset", "bytes", "steps", "what");
    for (const Region& region : arena_regions(plan_))
      line("  {:>12} {:>12} {:>5}-{:<5}  {}", region.offset, region.bytes, region.first,
           region.last, what(region));
    line("\nconstants: {} bytes", distinct_weight_bytes(plan_));
    line("  {:>5} {:>12} {:>12} {:<16}  {}", "", "offset", "bytes", "hash", "name");
    for (std::size_t c = 0; c < plan_.constants.size(); ++c) {
      const plan::Constant& constant = plan_.constants[c];
      line("  {:>5} {:>12} {:>12} {:016x}  {}{}{}", c, constant.offset, constant.bytes,
           constant.hash, dtype_name(constant.dtype), constant.name.empty() ? "" : " ",
           constant.name);
    }
  }

  std::string what(const Region& region) const {
    if (region.tensor == plan::kNone) return "workspace";
    const plan::Tensor& tensor = plan_.tensors[static_cast<std::size_t>(region.tensor)];
    return fmt::format("%{} {}", region.tensor, type_text(plan_, tensor.dtype, tensor.dims));
  }

  void verification() {
    line("\nverification");
    if (plan_.verification.empty()) line("  none: the engine was built without it");
    for (const plan::Verification& row : plan_.verification)
      line(
          "  {} {}: largest error {:.3g}, relative to the largest value {:.3g} (atol {:.3g}, "
          "rtol {:.3g}); {}",
          row.passed ? "pass" : "FAIL", row.output, row.max_abs_error, row.max_rel_error, row.atol,
          row.rtol, row.covered);
  }

  const plan::Contents& engine_;
  const plan::Plan& plan_;
  std::string text_;
};

}  // namespace

std::string print_text(const plan::Contents& engine, const Sections& sections) {
  return TextPrinter(engine).print(sections);
}

}  // namespace frit::inspect
