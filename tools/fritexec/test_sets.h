// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/common/session.h"
#include "tools/fritexec/options.h"

namespace frit::exec {

/// --testData: builds an engine per set of input shapes (or loads --loadEngine), runs every set of
/// those shapes in one context and compares. True if no output differs. Throws Error.
bool run_test_sets(const Options& options);

/// Writes the outputs as `--saveOutputs`/`set`/output_K.pb, if --saveOutputs is given.
void save_outputs(const Options& options, const tools::Session& session, const std::string& set);

}  // namespace frit::exec
