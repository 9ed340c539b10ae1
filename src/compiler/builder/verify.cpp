// SPDX-License-Identifier: Apache-2.0
#include "compiler/builder/verify.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <unordered_set>

#include "base/dtypes.h"
#include "base/thread_pool.h"
#include "compiler/error.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/sample.h"
#include "compiler/lower/lower.h"
#include "compiler/ops/schema.h"
#include "frit/runtime_c.h"
#include "kernels/common/scalar.h"

namespace frit::builder {
namespace {

using Clock = std::chrono::steady_clock;
// Quick verification: all of it, and the part spent on the whole network before sampling instead.
constexpr std::chrono::seconds kQuickLimit{5};
constexpr std::chrono::seconds kWholeLimit{3};

void require(frit_status status, const char* doing) {
  if (status != FRIT_OK)
    fail(static_cast<Code>(status), "verification: {} failed: {}", doing, frit_last_error());
}

struct EngineDelete {
  void operator()(frit_engine* e) const { frit_engine_destroy(e); }
};
struct ContextDelete {
  void operator()(frit_context* c) const { frit_context_destroy(c); }
};

// Runs an engine image once on the given inputs.
std::vector<ir::Tensor> run_engine(std::span<const std::byte> image, const BuildConfig& config,
                                   int threads, std::span<const ir::Tensor> inputs) {
  frit_engine_options options{};
  options.size = sizeof options;
  options.cpu_threads = threads;
  options.module_dir = config.module_path.empty() ? nullptr : config.module_path.c_str();
  frit_engine* raw_engine = nullptr;
  require(frit_engine_load_memory(image.data(), image.size(), &options, &raw_engine), "loading");
  const std::unique_ptr<frit_engine, EngineDelete> engine(raw_engine);
  frit_context* raw_context = nullptr;
  require(frit_context_create(raw_engine, nullptr, &raw_context), "making a context");
  const std::unique_ptr<frit_context, ContextDelete> context(raw_context);

  frit_engine_info info{};
  info.size = sizeof info;
  require(frit_engine_get_info(raw_engine, &info), "reading the engine");
  std::vector<ir::Tensor> outputs;
  outputs.reserve(static_cast<std::size_t>(info.binding_count));
  std::size_t next_input = 0;
  for (std::int32_t b = 0; b < info.binding_count; ++b) {
    frit_binding_info binding{};
    binding.size = sizeof binding;
    require(frit_engine_get_binding(raw_engine, b, &binding), "reading a binding");
    void* address = nullptr;
    std::size_t bytes = 0;
    if (binding.is_input != 0) {
      const ir::Tensor& input = inputs[next_input++];
      address = const_cast<void*>(input.data());
      bytes = input.bytes();
    } else {
      outputs.emplace_back(static_cast<DType>(binding.dtype),
                           std::vector<std::int64_t>(binding.dims, binding.dims + binding.rank));
      address = outputs.back().mutable_data();
      bytes = outputs.back().bytes();
      // Poison, so that an element nobody writes cannot pass as zero.
      std::fill_n(static_cast<unsigned char*>(address), bytes, static_cast<unsigned char>(0xA5));
    }
    require(frit_context_set_address(raw_context, b, address, bytes), "binding memory");
  }
  require(frit_context_enqueue(raw_context, nullptr), "running");
  return outputs;
}

// |engine - reference| ≤ atol·max|reference| + rtol·|reference| for every element; NaN and
// infinities must agree.
VerifyRow compare(const ir::Tensor& engine, const ir::Tensor& reference,
                  const BuildConfig& config) {
  VerifyRow row;
  row.passed = engine.dtype() == reference.dtype() && engine.dims() == reference.dims();
  if (!row.passed) return row;
  double largest = 0;
  for (std::int64_t i = 0; i < reference.count(); ++i) {
    const double r = std::abs(reference.f64_at(i));
    if (std::isfinite(r)) largest = std::max(largest, r);
  }
  for (std::int64_t i = 0; i < reference.count(); ++i) {
    const double e = engine.f64_at(i), r = reference.f64_at(i);
    if (e == r || (std::isnan(e) && std::isnan(r))) continue;
    const double error = std::abs(e - r);
    if (!(error <= config.atol * largest + config.rtol * std::abs(r))) row.passed = false;
    if (!std::isfinite(error)) {
      row.max_abs_error = error;
    } else {
      row.max_abs_error = std::max(row.max_abs_error, error);
    }
  }
  row.max_rel_error = largest > 0 ? row.max_abs_error / largest : row.max_abs_error;
  return row;
}

// Multiply-adds of the products and convolutions: they dominate the time of a reference run.
double work_of(const ir::Graph& graph) {
  double work = 0;
  const auto count = [](const ir::Value* v) {
    return v != nullptr && ir::is_static(v->dims())
               ? static_cast<double>(ir::element_count(v->dims()).value())
               : 0.0;
  };
  for (const ir::Node* n = graph.first(); n != graph.terminator(); n = n->next()) {
    const double out = n->result_count() > 0 ? count(n->result()) : 0;
    work += out;
    if (n->is(ops::matmul) && n->operand(0)->rank() > 0) {
      const ir::Value* a = n->operand(0);
      const bool trans = n->attrs.i("trans_a") != 0 && a->rank() > 1;
      const auto& k = a->dims()[static_cast<std::size_t>(a->rank() - (trans ? 2 : 1))];
      work += out * (k.is_const() ? static_cast<double>(k.value()) : 1);
    } else if ((n->is(ops::conv) || n->is(ops::conv_transpose)) && n->operand(1)->rank() > 0) {
      const ir::Dim& channels = n->operand(1)->dims()[0];
      work += out * count(n->operand(1)) /
              std::max(1.0, channels.is_const() ? static_cast<double>(channels.value()) : 1.0);
    }
  }
  return work;
}

class Verification {
 public:
  explicit Verification(const VerifyRequest& request) : request_(request) {
    auto pool = ThreadPool::create(request.threads);
    if (!pool.ok()) fail(pool.status().code(), "verification: {}", pool.status().message());
    pool_ = std::move(*pool);
    options_.parallel = pool_->parallel();
    options_.cancelled = [this] {
      return late() ||
             (request_.config.progress && !request_.config.progress({"verify", done_++, total_}));
    };
  }

  std::vector<VerifyRow> run() {
    // The reference kernels do about 4e9 multiply-adds per second and core.
    const double seconds = work_of(request_.reference) / (4e9 * request_.threads);
    if (request_.config.verify == Verify::full) return run_whole();
    const Clock::time_point start = Clock::now();
    if (seconds < std::chrono::duration<double>(kWholeLimit).count()) {
      // The estimate knows nothing of what else the machine does; the clock does.
      give_up_at_ = start + kWholeLimit;
      try {
        return run_whole();
      } catch (const Error& error) {
        if (error.code() != Code::cancelled || !late()) throw;
        give_up_at_ = Clock::time_point::max();
      }
    }
    return {run_sampled(start + kQuickLimit)};
  }

 private:
  bool late() const { return Clock::now() > give_up_at_; }

  std::vector<VerifyRow> run_whole() {
    total_ = request_.reference.node_count();
    const std::vector<ir::Tensor> inputs =
        ir::random_inputs(request_.reference, request_.config.seed);
    const std::vector<ir::Tensor> expected = ir::evaluate(request_.reference, inputs, options_);
    give_up_at_ = Clock::time_point::max();
    const std::vector<ir::Tensor> found =
        run_engine(request_.engine, request_.config, request_.threads, inputs);
    std::vector<VerifyRow> rows;
    for (std::size_t o = 0; o < expected.size(); ++o) {
      rows.push_back(compare(found[o], expected[o], request_.config));
      rows.back().output = request_.reference.output(static_cast<int>(o))->name;
      rows.back().covered = "whole network on random input";
    }
    if (!std::ranges::all_of(rows, &VerifyRow::passed))
      allow_for_conditioning(inputs, expected, rows);
    return rows;
  }

  // Untrained or chaotic networks can amplify rounding without bound. Outputs that differ by no
  // more than noise of 1e-6 on the inputs moves the reference itself are accepted, provided that
  // the steps are right one by one.
  void allow_for_conditioning(std::span<const ir::Tensor> inputs,
                              std::span<const ir::Tensor> expected, std::vector<VerifyRow>& rows) {
    const std::vector<ir::Tensor> moved =
        ir::evaluate(request_.reference, with_noise(inputs), options_);
    const VerifyRow steps = run_sampled(Clock::now() + kQuickLimit);
    for (std::size_t o = 0; o < rows.size(); ++o) {
      if (rows[o].passed || !std::isfinite(rows[o].max_rel_error)) continue;
      const double noise = compare(moved[o], expected[o], request_.config).max_rel_error;
      rows[o].covered += fmt::format(
          "; 1e-6 noise on the inputs moves the reference by {:.2g}; alone, {}: largest error "
          "{:.2g}",
          noise, steps.covered, steps.max_rel_error);
      rows[o].passed = steps.passed && rows[o].max_rel_error <= noise;
    }
  }

  // Floating inputs with every element off by one part in a million, signs alternating by a hash.
  static std::vector<ir::Tensor> with_noise(std::span<const ir::Tensor> inputs) {
    std::vector<ir::Tensor> noisy;
    for (const ir::Tensor& input : inputs) {
      noisy.emplace_back(input.dtype(), input.dims());
      const bool real = is_float(input.dtype());
      for (std::int64_t i = 0; i < input.count(); ++i) {
        const double sign =
            (static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u >> 63) != 0 ? 1 : -1;
        if (real)
          kernels::store_f64(input.dtype(), noisy.back().mutable_data(), i,
                             input.f64_at(i) * (1 + sign * 1e-6));
      }
      if (!real) noisy.back() = input;
    }
    return noisy;
  }

  // Each chosen node becomes an engine of its own, run on random inputs beside the evaluator.
  VerifyRow run_sampled(Clock::time_point deadline) {
    std::vector<const ir::Node*> nodes = distinct_nodes();
    total_ = nodes.size();
    VerifyRow sum;
    sum.output = "sampled steps";
    sum.passed = true;
    std::size_t checked = 0;
    for (const ir::Node* node : nodes) {
      if (checked > 0 && Clock::now() > deadline) break;
      const VerifyRow row = check_node(*node);
      sum.max_abs_error = std::max(sum.max_abs_error, row.max_abs_error);
      sum.max_rel_error = std::max(sum.max_rel_error, row.max_rel_error);
      if (!row.passed) {
        sum.passed = false;
        sum.output = "step " + ir::origin_text(*node);
      }
      ++checked;
    }
    sum.covered = fmt::format("{} of {} distinct steps on random input", checked, nodes.size());
    return sum;
  }

  // One node per problem, spread over the network so that a cut-off sample still covers it.
  std::vector<const ir::Node*> distinct_nodes() const {
    std::unordered_set<std::uint64_t> seen;
    std::vector<const ir::Node*> nodes;
    const ir::Graph& graph = request_.optimized;
    for (const ir::Node* n = graph.first(); n != graph.terminator(); n = n->next()) {
      if (n->is(ops::constant) || n->is(ops::reshape)) continue;
      if (seen.insert(tune::Problem::from(*n, request_.threads).key()).second) nodes.push_back(n);
    }
    std::vector<const ir::Node*> spread;
    for (std::size_t stride = 16; stride > 0; stride /= 2)
      for (std::size_t i = 0; i < nodes.size(); i += stride)
        if (stride == 16 || i % (2 * stride) != 0) spread.push_back(nodes[i]);
    return spread;
  }

  VerifyRow check_node(const ir::Node& node) {
    ir::Graph graph;
    std::unordered_map<const ir::Value*, ir::Value*> map;
    std::vector<ir::Value*> operands;
    for (const ir::Value* value : node.operands()) {
      if (value == nullptr) {
        operands.push_back(nullptr);
        continue;
      }
      ir::Value*& copy = map[value];
      if (copy == nullptr) {
        if (const ir::Tensor* constant = ir::constant_of(value)) {
          ir::Node* made = graph.add(ops::constant, {}, ir::Attrs{{"value", *constant}});
          copy = made->result();
          copy->type = value->type;
        } else {
          copy = graph.add_input("i" + std::to_string(graph.input_count()), value->type);
        }
      }
      operands.push_back(copy);
    }
    ir::Node* copy = graph.add(node.schema(), operands, node.attrs, node.result_count());
    copy->origin = node.origin;
    for (int r = 0; r < node.result_count(); ++r) copy->result(r)->type = node.result(r)->type;
    for (int s = 0; s < node.subgraph_count(); ++s)
      node.subgraph(s)->clone_into(*copy->add_subgraph());
    for (int r = 0; r < node.result_count(); ++r) {
      copy->result(r)->name = "o" + std::to_string(r);
      graph.add_output(copy->result(r));
    }
    const std::vector<ir::Tensor> inputs = ir::random_inputs(graph, request_.config.seed);
    const std::vector<ir::Tensor> expected = ir::evaluate(graph, inputs, options_);
    const lower::Lowered lowered =
        lower::lower(graph, request_.backend, {.threads = request_.threads, .progress = {}});
    auto image = plan::write(lowered.plan, lowered.constants);
    if (!image.ok()) fail(image.status().code(), "verification: {}", image.status().message());
    const std::vector<ir::Tensor> found =
        run_engine(*image, request_.config, request_.threads, inputs);
    VerifyRow worst;
    worst.passed = true;
    for (std::size_t o = 0; o < expected.size(); ++o) {
      const VerifyRow row = compare(found[o], expected[o], request_.config);
      worst.max_abs_error = std::max(worst.max_abs_error, row.max_abs_error);
      worst.max_rel_error = std::max(worst.max_rel_error, row.max_rel_error);
      worst.passed = worst.passed && row.passed;
    }
    return worst;
  }

  const VerifyRequest& request_;
  std::unique_ptr<ThreadPool> pool_;
  ir::EvaluateOptions options_;
  std::uint64_t done_ = 0, total_ = 1;
  Clock::time_point give_up_at_ = Clock::time_point::max();
};

}  // namespace

std::vector<VerifyRow> verify_engine(const VerifyRequest& request) {
  if (request.config.verify == Verify::off) return {};
  return Verification(request).run();
}

}  // namespace frit::builder
