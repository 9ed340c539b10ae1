// SPDX-License-Identifier: Apache-2.0
// The builder: a network, parsed from ONNX or defined by calls, becomes an engine.
//
// Link frit::builder. To run engines link frit::runtime and include frit/runtime.h; programs that
// only load engines need nothing of this header. The ABI of the builder is not stable between
// versions (that of the runtime is). No function throws; failures come back as BuildError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "frit/types.h"

#if defined(FRIT_BUILDER_EXPORTS)
#define FRIT_BUILDER_API __attribute__((visibility("default")))
#else
#define FRIT_BUILDER_API
#endif

namespace frit {

/// Why something failed: kind, one complete sentence, and the ONNX node(s) it concerns ("" if
/// none).
struct BuildError {
  Code code = Code::ok;
  std::string message;
  std::string node;
  /// "invalid_model: …message… (node 'conv_12')"
  FRIT_BUILDER_API std::string text() const;
};

/// A value or the error that prevented it.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}           // NOLINT: results convert
  Expected(BuildError error) : error_(std::move(error)) {}  // NOLINT
  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  /// Only meaningful when !ok().
  const BuildError& error() const { return error_; }

 private:
  std::optional<T> value_;
  BuildError error_;
};

enum class LogLevel : std::uint8_t { error, warning, info, verbose };

/// Receives messages of at most the configured level, on the thread that builds.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

/// Dims of inputs by name, for models whose inputs have symbolic dims (or to replace batch 1 by N).
using InputShapes = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

struct ParseOptions {
  InputShapes shapes;
  /// Dims still unknown become 1, with a warning naming them; false: they stay symbolic.
  bool default_dims_to_one = true;
  LogSink log;
};

/// An input or output of a network.
struct IoDesc {
  std::string name;
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims;  ///< -1 where symbolic
};

class Network;

/// A tensor inside a network that is being defined. Cheap to copy; valid while the network lives.
class NetTensor {
 public:
  NetTensor() = default;
  /// False for the result of a call that failed (the network then keeps the error).
  bool valid() const { return value_ != nullptr; }
  FRIT_BUILDER_API DType dtype() const;
  FRIT_BUILDER_API std::vector<std::int64_t> dims() const;  ///< -1 where symbolic

 private:
  friend class Network;
  explicit NetTensor(void* value) : value_(value) {}
  void* value_ = nullptr;
};

/// Attributes of `Network::add`.
using NetAttr =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;
using NetAttrs = std::map<std::string, NetAttr, std::less<>>;

/// Window of convolutions and pooling, one entry per spatial axis; empty vectors mean 1 (0 for
/// pads).
struct Window {
  std::vector<std::int64_t> strides, dilations;
  std::vector<std::int64_t> pads;  ///< begins, then ends
};

/// A model before it is built. Move-only; one thread at a time.
///
/// Defining by calls: the first call that fails is remembered, later ones do nothing, and `status`
/// and Builder::build report it.
class FRIT_BUILDER_API Network {
 public:
  /// An empty network to define by calls.
  explicit Network(std::string name = "network");
  ~Network();
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;

  /// Parses an ONNX file. External data must lie in the file's folder.
  static Expected<Network> parse_file(const std::string& path, const ParseOptions& options = {});
  /// Parses ONNX bytes; `folder` is where external data lies ("" = refuse external data).
  static Expected<Network> parse_memory(std::span<const std::byte> model,
                                        const ParseOptions& options = {},
                                        const std::string& folder = {});

  NetTensor add_input(const std::string& name, DType dtype, const std::vector<std::int64_t>& dims);
  /// Copies `data` (dense, row-major, types below 8 bits packed).
  NetTensor add_constant(DType dtype, const std::vector<std::int64_t>& dims, const void* data,
                         std::size_t bytes);
  NetTensor add_constant(const std::vector<std::int64_t>& dims, const std::vector<float>& data);
  void mark_output(NetTensor tensor, const std::string& name);

  /// Any op of docs/ir-ops.md with one result. `operands` may hold invalid tensors for absent ones.
  NetTensor add(std::string_view op, const std::vector<NetTensor>& operands,
                const NetAttrs& attrs = {});
  /// The same for ops with several results.
  std::vector<NetTensor> add_multi(std::string_view op, const std::vector<NetTensor>& operands,
                                   const NetAttrs& attrs, int results);

  // Frequent ops with their natural arguments. Images are N,C,spatial…; an axis may be negative
  // and then counts from the end.
  NetTensor add_convolution(NetTensor x, NetTensor weights, NetTensor bias = {},
                            const Window& window = {}, std::int64_t groups = 1);
  /// kind: "max" or "average".
  NetTensor add_pooling(NetTensor x, const std::string& kind,
                        const std::vector<std::int64_t>& kernel, const Window& window = {});
  NetTensor add_matmul(NetTensor a, NetTensor b, bool transpose_a = false,
                       bool transpose_b = false);
  /// op: a one-operand row of kernels/common/pointwise.def ("relu", "sigmoid", "exp", …).
  NetTensor add_unary(std::string_view op, NetTensor x);
  /// op: a two-operand row ("add", "mul", "max", …); dims broadcast.
  NetTensor add_elementwise(std::string_view op, NetTensor a, NetTensor b);
  NetTensor add_softmax(NetTensor x, std::int64_t axis);
  /// kind: "sum", "mean", "max", "min", "prod", …
  NetTensor add_reduce(NetTensor x, const std::string& kind, const std::vector<std::int64_t>& axes,
                       bool keep_dims);
  NetTensor add_reshape(NetTensor x, const std::vector<std::int64_t>& dims);
  NetTensor add_transpose(NetTensor x, const std::vector<std::int64_t>& permutation);
  NetTensor add_concatenation(const std::vector<NetTensor>& parts, std::int64_t axis);
  NetTensor add_slice(NetTensor x, const std::vector<std::int64_t>& starts,
                      const std::vector<std::int64_t>& sizes,
                      const std::vector<std::int64_t>& strides);
  NetTensor add_gather(NetTensor x, NetTensor indices, std::int64_t axis);
  NetTensor add_layer_norm(NetTensor x, NetTensor scale, NetTensor bias, std::int64_t axis,
                           double epsilon);
  NetTensor add_cast(NetTensor x, DType to);

  /// Error of the first call that failed, if any.
  const std::optional<BuildError>& status() const;
  std::vector<IoDesc> inputs() const;
  std::vector<IoDesc> outputs() const;
  /// The network as textual IR (docs/ir-text.md); large constants shortened.
  std::string text() const;

  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Where a build is: called on the building thread, often; return false to cancel.
struct Progress {
  std::string_view phase;  ///< "optimize", "choose kernels", "write", "verify"
  std::uint64_t step = 0;
  std::uint64_t steps = 0;
};
using ProgressCallback = std::function<bool(const Progress&)>;

/// How much of an engine is compared with the reference evaluator while building.
enum class Verify : std::uint8_t {
  off,
  quick,  ///< the whole network if that takes at most 5 s, else sampled steps for that long
  full,   ///< the whole network, however long it takes
};

struct BuildConfig {
  std::string backend = "cpu";
  int cpu_threads = 0;  ///< threads the engine is built for; 0 = all processors
  std::string
      module_path;  ///< folder of optional modules (libfrit_onednn.so); "" = beside the library
  std::vector<std::string> disabled_sources;  ///< tactic sources not to use: "onednn", "cpu"
  Verify verify = Verify::quick;
  double rtol = 1e-3;  ///< an element passes if |engine - reference| ≤ atol + rtol·|reference| …
  double atol = 1e-4;      ///< … with atol scaled by the largest |reference| of the output
  std::uint64_t seed = 1;  ///< of the random inputs that verification uses
  std::uint64_t fold_limit = std::uint64_t{64}
                             << 20;  ///< largest constant that folding may make, bytes
  bool verify_passes = true;         ///< check the IR's invariants after each pass
  ProgressCallback progress;
  LogSink log;
  LogLevel log_level = LogLevel::info;
};

/// One row of the verification table.
struct VerifyRow {
  std::string output;
  double max_abs_error = 0;
  double max_rel_error = 0;  ///< relative to the largest |reference| of the output
  bool passed = false;
  std::string covered;
};

/// One step of the engine and how it was chosen.
struct StepReport {
  std::string name;
  std::string tactic;
  std::vector<std::string> origin;
  std::vector<std::pair<std::string, std::string>> declined;  ///< tactic, reason
};

struct BuildReport {
  double optimize_seconds = 0, lower_seconds = 0, write_seconds = 0, verify_seconds = 0;
  std::size_t nodes_before = 0, nodes_after = 0;
  std::uint64_t arena_bytes = 0, arena_lower_bound = 0, weights_bytes = 0;
  std::vector<StepReport> steps;
  std::vector<VerifyRow> verification;
  std::vector<std::string> warnings;
  bool verified() const {
    for (const VerifyRow& row : verification)
      if (!row.passed) return false;
    return true;
  }
};

/// A built engine in memory.
struct EngineImage {
  std::vector<std::byte> bytes;
  BuildReport report;
  /// Writes the file completely or not at all.
  FRIT_BUILDER_API std::optional<BuildError> save(const std::string& path) const;
};

/// Compiles networks. Stateless; any number of builds may run at once on different networks.
class FRIT_BUILDER_API Builder {
 public:
  /// The network is left as it was. Same network, config and machine type: same bytes.
  Expected<EngineImage> build(const Network& network, const BuildConfig& config = {}) const;
};

/// "major.minor.patch"
FRIT_BUILDER_API const char* builder_version();

}  // namespace frit
