// SPDX-License-Identifier: Apache-2.0
// From a model to an engine, and from an engine file to a loaded engine, with milestones logged.
#pragma once

#include <vector>

#include "frit/builder.h"
#include "frit/runtime.h"
#include "tools/fritexec/options.h"

namespace frit::exec {

/// Inputs of the model as it declares them; -1 where symbolic. Throws Error.
std::vector<IoDesc> model_inputs(const Options& options);

/// Parses, builds and verifies the model at these shapes. Throws Error, also (verification_failed)
/// if an output is beyond tolerance.
EngineImage build_engine(const Options& options, const InputShapes& shapes);

/// Writes the image to --saveEngine if that is given. Throws Error.
void save_engine(const Options& options, const EngineImage& image);

/// Loads --loadEngine. Throws Error.
RuntimeEngine load_file(const Options& options);

/// Loads an image that was just built. Throws Error.
RuntimeEngine load_image(const Options& options, const EngineImage& image);

/// Loads ten times more and reports the times. `image` is null for --loadEngine.
void time_loading(const Options& options, const EngineImage* image);

}  // namespace frit::exec
