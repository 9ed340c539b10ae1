#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats the C and C++ sources in place with the pinned clang-format; --check only reports, exit 1.
#
#   bash tools/dev/format.sh [--check] [FILE…]      default: all sources of the project
set -euo pipefail
cd "$(dirname "$0")/../.."

clang_format=build/venv/bin/clang-format
[ -x "$clang_format" ] || { echo "format: $clang_format is missing: run bash tools/setup.sh" >&2; exit 1; }

mode=(-i)
if [ "${1:-}" = --check ]; then
  mode=(--dry-run --Werror --ferror-limit=1)
  shift
fi

files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(find include src kernels tools tests examples models \
    \( -name '*.cpp' -o -name '*.h' -o -name '*.c' -o -name '*.cu' -o -name '*.cuh' \) -print 2>/dev/null | sort)
fi
[ ${#files[@]} -gt 0 ] || { echo "format: no files"; exit 0; }

if ! printf '%s\0' "${files[@]}" | xargs -0 -n 20 -P "$(nproc)" "$clang_format" --style=file "${mode[@]}"; then
  echo "format: run bash tools/dev/format.sh" >&2
  exit 1
fi
echo "format: ${#files[@]} files are formatted"
