# SPDX-License-Identifier: Apache-2.0
# Install rules and the find_package(frit) configuration.
