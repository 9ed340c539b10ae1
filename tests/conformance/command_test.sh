#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds frit-conformance to its command line: command_test.sh PROGRAM CASES, where CASES holds
# node/test_abs, which passes.
set -euo pipefail
program=$1 cases=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS TEXT ARGUMENTS…: the exit status, and a text that the output must hold.
expect() {
  local want=$1 text=$2 status=0
  shift 2
  "$program" "$@" >"$work/out" 2>&1 || status=$?
  if [ "$status" != "$want" ] || ! grep -qF -- "$text" "$work/out"; then
    echo "expected status $want and '$text', found status $status from: $*"
    cat "$work/out"
    exit 1
  fi
}

cp -r "$cases/node/test_abs" "$work/good"
mkdir -p "$work/all/damaged" "$work/all/wrong" "$work/all/empty"
cp -r "$work/good/." "$work/all/damaged"
cp -r "$work/good/." "$work/all/wrong"
cp "$work/good/model.onnx" "$work/all/empty"
truncate -s 20 "$work/all/damaged/model.onnx"
cp "$work/good/test_data_set_0/input_0.pb" "$work/all/wrong/test_data_set_0/output_0.pb"

expect 0 '1 passed, 0 failed, 0 skipped' "$work/good" --junit="$work/junit.xml"
grep -q 'tests="1" failures="0"' "$work/junit.xml"
expect 1 '0 passed, 2 failed, 1 skipped' "$work/all"
expect 1 "FAILED wrong: verification_failed: output 'y'" "$work/all"
printf 'damaged cut short\nwrong negated\n' >"$work/known"
expect 0 'FAILED damaged (known)' "$work/all" --known-failures="$work/known"
expect 1 'MISSING wrong' "$work/all/damaged" --known-failures="$work/known"
printf 'good never\n' >"$work/known"
expect 1 'UNEXPECTED good' "$work/good" --known-failures="$work/known"
printf 'good\n' >"$work/known"
expect 2 'expected a case, a space and a reason' "$work/good" --known-failures="$work/known"
expect 1 'TOO FEW' "$work/good" --min-passed=2
expect 2 'is not a folder' "$work/none"
