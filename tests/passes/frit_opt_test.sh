#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the program frit-opt promises on its command line.
#
#   frit_opt_test.sh PROGRAM
set -euo pipefail
frit_opt=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail() {
  echo "frit_opt_test: $1" >&2
  exit 1
}
# Runs a command, keeps its output in $dir/out and its exit status in $status.
try() {
  status=0
  "$@" > "$dir/out" 2>&1 || status=$?
}

sed '/^---$/,$d' tests/passes/pipeline_conv_bn_relu.ir > "$dir/in.ir"

try "$frit_opt" --list-passes
[ $status = 0 ] && grep -q '^fuse_regions ' "$dir/out" || fail "--list-passes does not list fuse_regions"

try "$frit_opt" "$dir/in.ir" --pipeline --verify-each --evaluate-check 3 --time -o "$dir/a.ir"
[ $status = 0 ] || fail "the pipeline fails: $(cat "$dir/out")"
grep -q 'result 0 agrees' "$dir/out" || fail "--evaluate-check says nothing"
grep -q '^fold_affine .* ms .* nodes' "$dir/out" || fail "--time does not report fold_affine"
grep -q batch_norm "$dir/a.ir" && fail "batch_norm is still there"

try "$frit_opt" "$dir/a.ir" -o "$dir/b.ir"
cmp -s "$dir/a.ir" "$dir/b.ir" || fail "reading and printing a graph changes it"

try "$frit_opt" "$dir/in.ir" --passes=canonicalize,fold_constants --print-after-all
[ "$(grep -c '^// after ' "$dir/out")" = 2 ] || fail "--print-after-all does not print two graphs"

try "$frit_opt" "$dir/in.ir" --passes=no_such_pass
[ $status = 1 ] && grep -q "no pass 'no_such_pass'" "$dir/out" || fail "an unknown pass is accepted"

echo 'graph (%x: f32[2]) { return %y }' > "$dir/bad.ir"
try "$frit_opt" "$dir/bad.ir"
[ $status = 1 ] && grep -q 'line 1, column 29' "$dir/out" || fail "a bad text: $(cat "$dir/out")"

try "$frit_opt" "$dir/missing.ir"
[ $status = 1 ] || fail "a missing file is accepted"
try "$frit_opt" --no-such-option
[ $status = 2 ] || fail "an unknown option exits with $status"
