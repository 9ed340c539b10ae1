// SPDX-License-Identifier: Apache-2.0
// Builder::build: optimize, lower, write, verify.
#include <chrono>
#include <set>

#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "compiler/backend/backend.h"
#include "compiler/builder/network_impl.h"
#include "compiler/builder/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/passes/pass.h"

namespace frit {
namespace {

class Stopwatch {
 public:
  double seconds() {
    const auto now = std::chrono::steady_clock::now();
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return elapsed;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Build {
 public:
  Build(const Network::Impl& network, const BuildConfig& config)
      : network_(network), config_(config) {
    if (config.cpu_threads < 0)
      fail(Code::invalid_argument, "cpu_threads is {}; expected 0 (all processors) or more",
           config.cpu_threads);
    for (const std::string& source : config.disabled_sources)
      if (source != "onednn" && source != "cpu")
        fail(Code::invalid_argument, "there is no tactic source '{}'; expected onednn or cpu",
             source);
    threads_ = config.cpu_threads > 0 ? config.cpu_threads : available_cpus();
  }

  EngineImage run() {
    if (network_.graph.output_count() == 0)
      fail(Code::invalid_argument, "the network has no outputs; mark at least one");
    report_.warnings = network_.warnings;
    open_backend();
    optimize();
    lower();
    write();
    verify();
    for (const std::string& warning : report_.warnings) log(LogLevel::warning, warning);
    return {std::move(bytes_), std::move(report_)};
  }

 private:
  void log(LogLevel level, std::string_view message) const {
    if (config_.log && level <= config_.log_level) config_.log(level, message);
  }

  bool progress(std::string_view phase, std::uint64_t step, std::uint64_t steps) const {
    return !config_.progress || config_.progress({phase, step, steps});
  }

  void open_backend() {
    backend_ = backend::open_backend(config_.backend, {.threads = threads_,
                                                       .module_path = config_.module_path,
                                                       .disabled = config_.disabled_sources});
    for (const std::string& note : backend_->notes()) report_.warnings.push_back(note);
  }

  void optimize() {
    network_.graph.clone_into(graph_);
    report_.nodes_before = graph_.node_count();
    passes::PassContext context;
    context.fold_limit = config_.fold_limit;
    context.threads = threads_;
    context.verify = config_.verify_passes;
    const auto pipeline = passes::default_pipeline();
    std::uint64_t done = 0;
    context.after_pass = [&](std::string_view pass, const ir::Graph& graph) {
      ++done;
      log(LogLevel::verbose, fmt::format("after {}: {} nodes", pass, graph.node_count()));
    };
    context.cancelled = [&] { return !progress("optimize", done, pipeline.size()); };
    passes::run_passes(graph_, pipeline, context);
    report_.nodes_after = graph_.node_count();
    report_.optimize_seconds = watch_.seconds();
  }

  void lower() {
    lowered_ =
        lower::lower(graph_, *backend_,
                     {.threads = threads_, .progress = [&](std::size_t done, std::size_t total) {
                        return progress("choose kernels", done, total);
                      }});
    plan::Plan& plan = lowered_.plan;
    plan.producer = std::string("frit ") + FRIT_VERSION_TEXT;
    plan.build_info = fmt::format("backend={} cpuThreads={}", config_.backend, threads_);
    report_.arena_bytes = plan.arena_bytes;
    report_.arena_lower_bound = plan.arena_lower_bound;
    for (const plan::Constant& c : plan.constants) report_.weights_bytes += c.bytes;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      const tune::Choice& choice = lowered_.choices[s];
      StepReport step{.name = plan.steps[s].name,
                      .tactic = choice.tactic != nullptr ? std::string(choice.tactic->name())
                                                         : plan::step_kind_name(plan.steps[s].kind),
                      .origin = plan.steps[s].origin,
                      .declined = {}};
      for (const tune::Declined& d : choice.declined)
        step.declined.emplace_back(d.tactic, d.reason);
      report_.steps.push_back(std::move(step));
    }
    report_.lower_seconds = watch_.seconds();
  }

  void write() {
    if (!progress("write", 0, 1)) fail(Code::cancelled, "the build was cancelled");
    auto image = plan::write(lowered_.plan, lowered_.constants);
    if (!image.ok()) fail(image.status().code(), "{}", image.status().message());
    bytes_ = std::move(*image);
    report_.write_seconds += watch_.seconds();
  }

  void verify() {
    if (config_.verify == Verify::off) return;
    report_.verification = builder::verify_engine({.reference = network_.graph,
                                                   .optimized = graph_,
                                                   .engine = bytes_,
                                                   .backend = *backend_,
                                                   .config = config_,
                                                   .threads = threads_});
    report_.verify_seconds = watch_.seconds();
    for (const VerifyRow& row : report_.verification) {
      lowered_.plan.verification.push_back({.output = row.output,
                                            .max_abs_error = row.max_abs_error,
                                            .max_rel_error = row.max_rel_error,
                                            .atol = config_.atol,
                                            .rtol = config_.rtol,
                                            .passed = row.passed,
                                            .covered = row.covered});
    }
    write();
  }

  const Network::Impl& network_;
  const BuildConfig& config_;
  int threads_ = 1;
  std::unique_ptr<backend::Backend> backend_;
  ir::Graph graph_;
  lower::Lowered lowered_;
  std::vector<std::byte> bytes_;
  BuildReport report_;
  Stopwatch watch_;
};

}  // namespace

Expected<EngineImage> Builder::build(const Network& network, const BuildConfig& config) const {
  if (network.impl().error) return *network.impl().error;
  try {
    return Build(network.impl(), config).run();
  } catch (...) {
    return current_error();
  }
}

std::optional<BuildError> EngineImage::save(const std::string& path) const {
  const Status status = write_file(path.c_str(), bytes);
  if (status.ok()) return std::nullopt;
  return BuildError{status.code(), status.message(), ""};
}

const char* builder_version() {
  return FRIT_VERSION_TEXT;
}

}  // namespace frit
