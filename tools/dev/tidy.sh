#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy (.clang-tidy) on sources of a configured build. Without FILE it takes the files
# that differ from the base branch, else a sample that changes from commit to commit, and stops
# starting new files after the time limit.
#
#   bash tools/dev/tidy.sh [--all] [--build DIR] [--base REF] [--seconds N] [FILE…]
set -euo pipefail
cd "$(dirname "$0")/../.."

all='' build=build/release base=origin/main seconds=150
files=()
while [ $# -gt 0 ]; do
  case $1 in
    --all) all=1 ;;
    --build) build=$2; shift ;;
    --base) base=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    -*) echo "tidy: unknown option $1; expected --all, --build, --base or --seconds" >&2; exit 2 ;;
    *) files+=("$1") ;;
  esac
  shift
done

command -v clang-tidy >/dev/null || { echo "tidy: clang-tidy is missing: run bash tools/setup.sh" >&2; exit 1; }
[ -f "$build/compile_commands.json" ] || {
  echo "tidy: $build/compile_commands.json is missing: configure first, e.g. cmake --preset release" >&2
  exit 1
}

# What this build compiles, without generated code, without tests (they follow the tests' idiom) and
# without what needs GCC's omp.h, which Clang has only with a package of its own.
compiled() {
  sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$build/compile_commands.json" | sort -u |
    sed -n "s|^$PWD/||p" | grep -E '^(src|kernels|tools)/.*\.cpp$' |
    xargs -r grep -L '#include <omp.h>' --
}

choice="the files given"
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(compiled)
  choice="all files"
  if [ -z "$all" ]; then
    mapfile -t changed < <(git diff --name-only "$base...HEAD" -- 2>/dev/null | grep -Fxf <(compiled) || true)
    if [ ${#changed[@]} -gt 0 ]; then
      files=("${changed[@]}")
      choice="files that differ from $base"
    else
      seed=$(git rev-parse HEAD 2>/dev/null || echo 0)
      mapfile -t files < <(printf '%s\n' "${files[@]}" |
        while read -r f; do echo "$(printf '%s%s' "$seed" "$f" | md5sum | cut -c1-8) $f"; done | sort | cut -d' ' -f2)
      choice="a sample"
    fi
  else
    seconds=1000000
  fi
fi

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
end=$(($(date +%s) + seconds))
export build end results
one() {
  [ "$(date +%s)" -lt "$end" ] || return 0
  local out=$results/$(printf '%s' "$1" | tr '/' '_')
  if clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option --warnings-as-errors='*' "$1" >"$out.txt" 2>/dev/null; then
    touch "$out.ok"
  else
    touch "$out.bad"
    grep -vE '^[0-9]+ warnings' "$out.txt" || true
  fi
}
export -f one
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$1"' _

ok=$(find "$results" -name '*.ok' | wc -l) bad=$(find "$results" -name '*.bad' | wc -l)
echo "tidy: $choice: $ok files clean, $bad with findings, $((${#files[@]} - ok - bad)) not reached"
[ "$bad" -eq 0 ]
