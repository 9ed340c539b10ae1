#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs all checks that are not tests: layers and file form, documents, format, symbols of a build, clang-tidy.
#
#   bash tools/dev/check.sh [--build DIR] [--tidy=sample|all|none]
set -uo pipefail
cd "$(dirname "$0")/../.."

build=build/release tidy=sample
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$2; shift ;;
    --tidy=sample | --tidy=all | --tidy=none) tidy=${1#--tidy=} ;;
    *) echo "check: unknown option $1; expected --build DIR or --tidy=sample|all|none" >&2; exit 2 ;;
  esac
  shift
done

failed=0
python3 tools/dev/check_layers.py || failed=1
python3 tools/dev/check_docs.py || failed=1
bash tools/dev/format.sh --check || failed=1
python3 tools/dev/check_symbols.py "$build" || failed=1
case $tidy in
  sample) bash tools/dev/tidy.sh --build "$build" || failed=1 ;;
  all) bash tools/dev/tidy.sh --build "$build" --all || failed=1 ;;
esac
exit $failed
