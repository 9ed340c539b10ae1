#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs everything that must pass before a change lands. The last line counts.
#
#   bash tools/test.sh [--quick] [--preset=release|dev|asan|tsan]
#     --quick    without tests labelled slow, without clang-tidy and without the consumer project
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/dev/stages.sh

quick='' preset=release
for argument in "$@"; do
  case $argument in
    --quick) quick=1 ;;
    --preset=*) preset=${argument#--preset=} ;;
    *) echo "test: unknown option $argument; expected --quick or --preset=NAME" >&2; exit 2 ;;
  esac
done
build=build/$preset

passed=0 failed=0
# Counts a check as one test and goes on, so that one run shows all that is wrong.
check() {
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $*"; fi
}

# Installs the build, then builds and runs tests/consumer against the installed copy alone.
consumer() {
  local work=$build/consumer
  rm -rf "$work"
  quietly install cmake --install "$build" --prefix "$work/prefix" || return 1
  quietly consumer-configure cmake -S tests/consumer -B "$work/build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$PWD/$work/prefix" || return 1
  quietly consumer-build ninja -C "$work/build" || return 1
  quietly consumer-run status=0
ctest --test-dir "$work/build" --output-on-failure
}

stage "setting up"
bash tools/setup.sh test
stage "checking layers, documents and format"
check python3 tools/dev/check_layers.py
check python3 tools/dev/check_docs.py
check bash tools/dev/format.sh --check
stage "configuring $build"
quietly configure cmake --preset "$preset"
stage "building"
build_tree "$build"
if [ "$preset" = release ]; then
  stage "checking symbols"
  check python3 tools/dev/check_symbols.py "$build"
  if [ -z "$quick" ]; then
    stage "building the consumer project against an installed copy"
    check consumer
    stage "clang-tidy"
    check bash tools/dev/tidy.sh --build "$build"
  fi
fi
stage "testing"
rm -rf "$build/reports" && mkdir -p "$build/reports"
selection=()
[ -z "$quick" ] || selection=(-LE slow)
status=0
ctest --test-dir "$build" -j "$(nproc)" --output-on-failure --output-junit "$PWD/$build/reports/ctest.junit" \
  "${selection[@]}" </dev/null || status=$?
stage "done"
python3 tools/dev/count_tests.py "$build/reports/ctest.junit" "$build/reports" \
  "$status" "$passed" "$failed"
