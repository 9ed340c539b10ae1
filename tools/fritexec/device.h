// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace frit::exec {

/// The section on the processor this runs on, and Frit's version.
void report_device();

}  // namespace frit::exec
