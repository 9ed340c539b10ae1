// SPDX-License-Identifier: Apache-2.0
#include "tools/fritexec/flags.h"

#include <algorithm>
#include <numeric>

namespace frit::exec {
namespace {

constexpr auto kWarn = Treatment::warn;
constexpr auto kRefuse = Treatment::refuse;

constexpr const char* kTypes =
    "the engine computes in the types of the model; convert the model to the type you want";
constexpr const char* kCuda = "it concerns GPUs, and this version runs on the CPU";
constexpr const char* kDla = "there is no DLA here; this version runs on the CPU";
constexpr const char* kSafety = "safety engines are not built by this version";
constexpr const char* kRefit = "engines of this version keep their weights and cannot be refitted";
constexpr const char* kPlugins = "this version has no plugins; every op must be one it knows";
constexpr const char* kProfiles =
    "this version builds engines for one fixed shape; give it with --shapes";
constexpr const char* kTuner = "there is no build tuner in this version";
constexpr const char* kRuntimes =
    "engines always need the one Frit runtime, which reads engines of its own major version";
constexpr const char* kDebug = "tensors inside an engine cannot be dumped in this version";
constexpr const char* kReference =
    "use --testData=DIR with --rtol and --atol to compare with reference outputs";
constexpr const char* kTactics = "tactics are chosen in a fixed order here, none is timed";
constexpr const char* kCache = "there is no timing cache, since no tactic is timed";
constexpr const char* kOldParser =
    "removed in TensorRT 10 together with Caffe and UFF models; convert the model to ONNX and use "
    "--onnx";
constexpr const char* kOldBatch =
    "removed in TensorRT 10 with implicit batches; write the batch into --shapes=name:AxBxC";

constexpr OtherFlag kFlags[] = {
    // shapes
    {"profile", true, kRefuse, kProfiles},
    {"useProfile", true, kRefuse, kProfiles},
    {"minShapesCalib", true, kRefuse, kTypes},
    {"optShapesCalib", true, kRefuse, kTypes},
    {"maxShapesCalib", true, kRefuse, kTypes},
    {"calibProfile", true, kRefuse, kTypes},
    // inputs and outputs
    {"inputIOFormats", true, kRefuse, "inputs are dense, row-major, in the model's types"},
    {"outputIOFormats", true, kRefuse, "outputs are dense, row-major, in the model's types"},
    {"directIO", false, kWarn, "inputs and outputs are never reformatted"},
    // precision
    {"fp16", false, kRefuse, kTypes},
    {"bf16", false, kRefuse, kTypes},
    {"int8", false, kRefuse, kTypes},
    {"fp8", false, kRefuse, kTypes},
    {"int4", false, kRefuse, kTypes},
    {"best", false, kRefuse, kTypes},
    {"calib", true, kRefuse, kTypes},
    {"precisionConstraints", true, kRefuse, kTypes},
    {"layerPrecisions", true, kRefuse, kTypes},
    {"layerOutputTypes", true, kRefuse, kTypes},
    {"stronglyTyped", false, kWarn, "engines are always strongly typed"},
    {"noTF32", false, kWarn, "the CPU has no TF32; f32 is computed in f32"},
    {"sparsity", true, kWarn, "sparse kernels are not there yet; weights are used as they are"},
    {"decomposableAttentions", true, kWarn, "attention may always be computed in parts"},
    {"distributiveIndependence", false, kWarn, kCuda},
    // memory
    {"memPoolSize", true, kWarn, "memory is planned when building and has no pools"},
    {"allocationStrategy", true, kWarn, "a context's memory is planned when building (static)"},
    {"allowWeightStreaming", false, kWarn, "weights are mapped from the engine file"},
    {"weightStreamingBudget", true, kWarn, "weights are mapped from the engine file"},
    {"persistentCacheRatio", true, kWarn, kCuda},
    {"useManagedMemory", false, kWarn, kCuda},
    // search
    {"builderOptimizationLevel", true, kWarn, kTactics},
    {"maxTactics", true, kWarn, kTactics},
    {"avgTiming", true, kWarn, kTactics},
    {"tilingOptimizationLevel", true, kWarn, kCuda},
    {"l2LimitForTiling", true, kWarn, kCuda},
    {"maxAuxStreams", true, kWarn, kCuda},
    {"preview", true, kWarn, "there are no preview features in this version"},
    {"setBuildRoute", true, kRefuse, kTuner},
    {"helpBuildRoute", true, kRefuse, kTuner},
    {"tuneBuildRoutes", true, kRefuse, kTuner},
    {"tuneBuildRouteFile", true, kRefuse, kTuner},
    {"tuningSearch", true, kRefuse, kTuner},
    {"tuningCacheFile", true, kRefuse, kTuner},
    {"tuningTimeOut", true, kRefuse, kTuner},
    {"saveAllEngines", false, kRefuse, kTuner},
    {"dryRun", false, kRefuse, kTuner},
    {"continue", false, kRefuse, kTuner},
    // caches
    {"timingCacheFile", true, kWarn, kCache},
    {"noBuilderCache", false, kWarn, kCache},
    {"noCompilationCache", false, kWarn, kCache},
    {"errorOnTimingCacheMiss", false, kWarn, kCache},
    // engine file
    {"asyncFileReader", false, kWarn, "engine files are mapped into memory"},
    {"getPlanVersionOnly", false, kRefuse, "use frit-inspect ENGINE, which prints the version"},
    {"refit", false, kRefuse, kRefit},
    {"stripWeights", false, kRefuse, kRefit},
    {"stripAllWeights", false, kRefuse, kRefit},
    {"weightless", false, kRefuse, kRefit},
    {"refitFromOnnx", true, kRefuse, kRefit},
    {"timeRefit", false, kRefuse, kRefit},
    {"dumpRefit", false, kRefuse, kRefit},
    {"versionCompatible", false, kRefuse, kRuntimes},
    {"vc", false, kRefuse, kRuntimes},
    {"excludeLeanRuntime", false, kRefuse, kRuntimes},
    {"leanDLLPath", true, kRefuse, kRuntimes},
    {"useRuntime", true, kRefuse, kRuntimes},
    {"hardwareCompatibilityLevel", true, kWarn, kCuda},
    {"runtimePlatform", true, kRefuse, "engines run on the platform they are built on"},
    {"tempdir", true, kWarn, "no temporary files are written"},
    {"tempfileControls", true, kWarn, "no temporary files are written"},
    // parser
    {"pluginInstanceNorm", false, kRefuse, kPlugins},
    {"pi", false, kRefuse, kPlugins},
    {"enablePluginOverride", false, kRefuse, kPlugins},
    {"uint8AsymmetricQuantizationDLA", false, kRefuse, kDla},
    {"reportCapabilityDLA", false, kRefuse, kDla},
    {"adjustForDLA", false, kRefuse, kDla},
    // DLA and safety
    {"useDLACore", true, kRefuse, kDla},
    {"allowGPUFallback", false, kRefuse, kDla},
    {"buildDLAStandalone", false, kRefuse, kDla},
    {"layerDeviceTypes", true, kRefuse, kDla},
    {"safe", false, kRefuse, kSafety},
    {"consistency", false, kRefuse, kSafety},
    {"restricted", false, kRefuse, kSafety},
    {"dumpKernelText", false, kRefuse, kSafety},
    {"safetyPlugins", true, kRefuse, kSafety},
    {"remoteAutoTuningConfig", true, kRefuse, kSafety},
    {"cpuOnly", false, kWarn, "this version needs no GPU at all"},
    {"monitorMemory", false, kRefuse, kSafety},
    // plugins
    {"staticPlugins", true, kRefuse, kPlugins},
    {"dynamicPlugins", true, kRefuse, kPlugins},
    {"setPluginsToSerialize", true, kRefuse, kPlugins},
    {"ignoreParsedPluginLibs", false, kRefuse, kPlugins},
    {"plugins", true, kRefuse, kPlugins},
    // inference
    {"loadRefOutputs", true, kRefuse, kReference},
    {"refPair", true, kRefuse, kReference},
    {"accuracyAlgorithm", true, kRefuse, kReference},
    {"accuracyThreshold", true, kRefuse, kReference},
    {"sleepTime", true, kWarn, "the CPU starts to compute at once; see --idleTime"},
    {"includeDataTransfers", false, kWarn, "the CPU computes in host memory, nothing is copied"},
    {"noDataTransfers", false, kWarn, "the CPU computes in host memory, nothing is copied"},
    {"exposeDMA", false, kWarn, "the CPU computes in host memory, nothing is copied"},
    {"useCudaGraph", false, kWarn, kCuda},
    {"noCudaGraph", false, kWarn, kCuda},
    {"useSpinWait", false, kWarn, kCuda},
    {"noSpinWait", false, kWarn, kCuda},
    {"separateProfileRun", false, kWarn, "steps are always timed in a run of their own"},
    // debugging and reporting
    {"markDebug", true, kRefuse, kDebug},
    {"markUnfusedTensorsAsDebugTensors", false, kRefuse, kDebug},
    {"saveDebugTensors", true, kRefuse, kDebug},
    {"saveAllDebugTensors", true, kRefuse, kDebug},
    {"profilingVerbosity", true, kWarn, "engines always hold the names of their steps and nodes"},
    {"dumpRawBindingsToFile", false, kRefuse, "use --saveOutputs=DIR or --exportOutput=FILE"},
    {"dumpOptimizationProfile", false, kRefuse, kProfiles},
    // removed between TensorRT 8 and 10
    {"workspace", true, kWarn,
     "removed in TensorRT 10 (now --memPoolSize); memory is planned when building"},
    {"minTiming", true, kWarn, "removed in TensorRT 10; no tactic is timed"},
    {"explicitBatch", false, kWarn, "removed in TensorRT 10; batches are always explicit"},
    {"explicitPrecision", false, kWarn, "removed in TensorRT 10; types are always explicit"},
    {"batch", true, kRefuse, kOldBatch},
    {"maxBatch", true, kRefuse, kOldBatch},
    {"uff", true, kRefuse, kOldParser},
    {"uffInput", true, kRefuse, kOldParser},
    {"uffNHWC", false, kRefuse, kOldParser},
    {"deploy", true, kRefuse, kOldParser},
    {"model", true, kRefuse, kOldParser},
    {"output", true, kRefuse, kOldParser},
    {"nvtxMode", true, kWarn, "removed in TensorRT 10 (now --profilingVerbosity)"},
    {"heuristic", false, kWarn, "removed in TensorRT 10; no tactic is timed"},
    {"nativeInstanceNorm", false, kWarn, "removed in TensorRT 10; it is always native"},
};

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::span<const OtherFlag> other_flags() {
  return kFlags;
}

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  // Longer arguments are no misspelled flags, and comparing them would cost time.
  if (name.size() > 64) return "";
  std::string best;
  std::size_t least = name.size() / 2 + 1;
  for (const std::string& candidate : names) {
    const std::size_t distance = edits(name, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace frit::exec
