#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From nothing to an answer: installs what is missing, builds the release, compiles a real model into
# an engine, runs it on a real picture and prints the reports and the answer.
#
# models/quickstart.py knows the model: `prepare DIR` writes DIR/model.onnx and DIR/input.bin and
# prints the name and the dims of the input; `answer DIR OUTPUTS` says what the outputs mean and fails
# if that is wrong.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/dev/stages.sh

work=build/quickstart
bin=build/release/bin

stage "setting up"
bash tools/setup.sh build
stage "configuring build/release"
quietly configure cmake --preset release
stage "building"
build_tree build/release programs
stage "preparing the model and the picture"
mkdir -p "$work"
described=$(build/venv/bin/python models/quickstart.py prepare "$work")
read -r input dims <<<"$described"
stage "compiling model.onnx into an engine"
"$bin/fritexec" --onnx="$work/model.onnx" --shapes="$input:$dims" \
  --saveEngine="$work/model.engine" --skipInference
stage "running the engine on the picture"
"$bin/fritexec" --loadEngine="$work/model.engine" --loadInputs="$input:$work/input.bin" \
  --exportOutput="$work/outputs.json"
stage "the answer"
build/venv/bin/python models/quickstart.py answer "$work" "$work/outputs.json"
stage "done; docs/getting-started.md goes on from here"
