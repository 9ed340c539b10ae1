#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: frit_inspect_test.sh FRIT_INSPECT ENGINE PYTHON
# ENGINE is what example_define_network writes.
set -euo pipefail
inspect=$1 engine=$2 python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
die() { echo "FAILED: $*" >&2; exit 1; }

"$inspect" "$engine" > "$work/all"
for section in bindings modules steps arena: constants: verification; do
  grep -q "^$section" "$work/all" || die "no section $section"
done
grep -q 'input  image f32\[1,3,8,8\]' "$work/all" || die "the input is not described"
grep -q 'from conv_3, relu_4' "$work/all" || die "the origin of a step is missing"
grep -q 'pass probabilities' "$work/all" || die "the verification table is missing"

"$inspect" "$engine" --bindings > "$work/some"
grep -q '^bindings' "$work/some" || die "--bindings shows no bindings"
! grep -q '^steps' "$work/some" || die "--bindings shows steps"

"$inspect" "$engine" --json > "$work/json"
"$python" - "$work/json" <<'PY'
import json, sys
engine = json.load(open(sys.argv[1]))
assert [b["name"] for b in engine["bindings"]] == ["image", "probabilities"], engine["bindings"]
origins = {o for step in engine["steps"] for o in step["origin"]}
assert {"conv_3", "relu_4"} <= origins, origins
memory = engine["memory"]
assert max(r["offset"] + r["bytes"] for r in memory["arena"]) <= memory["arena_bytes"], memory
assert sum(c["bytes"] for c in memory["constants"]) == memory["weights_bytes"] >= 528, memory  # packing may pad
assert all(row["passed"] for row in engine["verification"]) and engine["verification"]
PY

# Exactly one line of error and exit status 1; arguments that make no sense give 2.
refused() {
  local status=0
  "$inspect" "$1" > "$work/out" 2> "$work/err" || status=$?
  [ "$status" = 1 ] || die "$1: exit status $status, expected 1"
  [ "$(wc -l < "$work/err")" = 1 ] && [ ! -s "$work/out" ] || die "$1: not one line of error"
  grep -q "$2" "$work/err" || die "$1: $(cat "$work/err")"
}
head -c 1000 "$engine" > "$work/short"
refused "$work/short" invalid_engine
cp "$engine" "$work/flipped"
printf '\xff' | dd of="$work/flipped" bs=1 seek=300 conv=notrunc status=none
refused "$work/flipped" invalid_engine
refused "$work/none" not_found
refused "${BASH_SOURCE[0]}" invalid_engine
status=0
"$inspect" "$engine" --no-such-flag > /dev/null 2>&1 || status=$?
[ "$status" = 2 ] || die "an unknown flag gives exit status $status, expected 2"
