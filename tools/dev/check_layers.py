#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a compiler does not: which layer may include which, and the size and form of files.

    check_layers.py [--root DIR]

Prints one line per violation and exits 1 if there is any.
"""

import argparse
import os
import re
import sys

# First component of a quoted include -> allowed, per layer (docs/style.md has the rule in words).
LAYERS = {
    "base": {"base", "frit"},
    "plan": {"base", "plan", "frit"},
    "runtime": {"base", "plan", "runtime", "kernels", "frit"},
    "compiler": {"base", "plan", "runtime", "compiler", "kernels", "frit"},
    "tools": {"base", "plan", "runtime", "compiler", "tools", "kernels", "frit", "tests"},
    "tests": {"base", "plan", "runtime", "compiler", "tools", "kernels", "frit", "tests"},
    "kernels": {"kernels", "frit"},
    "include": {"frit"},
    "examples": {"frit"},
}

# Third-party headers: pattern of the include -> the only folders that may use it.
CUDA_FOLDERS = ("src/runtime/device/cuda/", "src/compiler/backend/cuda/", "kernels/cuda/")
THIRD_PARTY = [
    ("protobuf", re.compile(r"^google/protobuf/|\.pb\.h$"), ("src/compiler/onnx/", "tests/onnx/")),
    ("CUDA", re.compile(r"^(cuda|cuda_\w+|nvrtc|cudnn\w*|cublas\w*|curand\w*|nvJitLink)(\.h|/.*)$"),
     CUDA_FOLDERS),
    ("oneDNN", re.compile(r"^(oneapi/dnnl/|dnnl)"), ("kernels/cpu/onednn/", "src/runtime/modules/")),
    ("Highway", re.compile(r"^hwy/"), ("kernels/cpu/fast/",)),
    ("CLI11", re.compile(r"^CLI/"), ("tools/",)),
    ("nlohmann json", re.compile(r"^nlohmann/"), ("tools/", "src/compiler/", "tests/")),
    ("fmt", re.compile(r"^fmt/"), ("tools/", "src/compiler/", "tests/")),
    ("GoogleTest", re.compile(r"^gtest/"), ("tests/",)),
    ("Google Benchmark", re.compile(r"^benchmark/"), ("tools/bench/", "tests/")),
]
FLATBUFFERS_FOLDERS = ("src/plan/", "src/runtime/", "src/compiler/lower/", "tools/", "tests/")

C_HEADERS = {"assert.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h",
             "math.h", "inttypes.h", "limits.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
SOURCE_ENDINGS = (".cpp", ".h", ".c", ".cu", ".cuh")
SPDX = "SPDX-License-Identifier: Apache-2.0"
TOP_FOLDERS = ("include", "src", "kernels", "tools", "tests", "examples", "models")
MAX_COLUMNS = 100
MAX_LINES = 500
MAX_LINES_KERNELS = 800


def layer_of(path):
    """The layer a file belongs to, or None for files outside all layers."""
    parts = path.split("/")
    if parts[0] == "src":
        return parts[1] if parts[1] in LAYERS else None
    return parts[0] if parts[0] in LAYERS else None


def quoted_include_error(path, layer, target):
    """Why `path` may not include "target", or None."""
    if "/" not in target and layer in ("tests", "tools"):
        return None  # the same folder
    if "/" not in target:
        return f'"{target}" needs its path from src/, the repository root or include/'
    first = target.split("/")[0]
    if layer in ("base", "plan") and target.startswith("kernels/common/"):
        return None  # plain data and the parallel-loop contract, which includes nothing above it
    if first not in LAYERS[layer]:
        return f"layer {layer} may not include {target}; allowed: {', '.join(sorted(LAYERS[layer]))}"
    if layer == "kernels" and first == "frit" and target != "frit/types.h":
        return f"kernels may include only kernels/ and frit/types.h, not {target}"
    return None


def angle_include_error(path, layer, target):
    """Why `path` may not include <target>, or None."""
    standard = target in C_HEADERS or re.fullmatch(r"[a-z0-9_]+", target)
    if layer == "include" and not standard:
        return f"public headers include only frit/ and the standard library, not <{target}>"
    third_party = any(pattern.search(target) for _, pattern, _ in THIRD_PARTY)
    if layer == "kernels" and not standard and not third_party:
        return f"kernels may include only kernels/, frit/types.h and the standard library, not <{target}>"
    return None


def include_errors(path, text):
    """Yields (line number, message) for every include that breaks the layer rule."""
    layer = layer_of(path)
    if layer is None:
        return
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        owner = next((entry for entry in THIRD_PARTY if entry[1].search(target)), None)
        if owner:
            if layer == "include" or not path.startswith(owner[2]):
                yield number, f"{owner[0]} header {target} is allowed only in {', '.join(owner[2])}"
            continue
        if target.startswith("flatbuffers/") or target.endswith("_generated.h"):
            if not path.startswith(FLATBUFFERS_FOLDERS):
                yield number, f"FlatBuffers header {target} is allowed only in {', '.join(FLATBUFFERS_FOLDERS)}"
            continue
        check = quoted_include_error if quote == '"' else angle_include_error
        message = check(path, layer, target)
        if message:
            yield number, message


def form_errors(path, text):
    """Yields (line number, message) for size, licence line, columns and include guards."""
    lines = text.splitlines()
    limit = MAX_LINES_KERNELS if path.startswith("kernels/") else MAX_LINES
    if len(lines) > limit:
        yield limit + 1, f"{len(lines)} lines; the limit here is {limit}: split the file"
    head = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    if not head or SPDX not in head[0]:
        yield 1, f"the first line (second after #!) must hold '{SPDX}'"
    if path.endswith(SOURCE_ENDINGS):
        # Text in raw strings keeps the lines it needs.
        shortened = RAW_STRING.sub(lambda match: "\n" * match.group(0).count("\n"), text)
        for number, line in enumerate(shortened.splitlines(), 1):
            if len(line) > MAX_COLUMNS:
                yield number, f"{len(line)} columns; the limit is {MAX_COLUMNS}"
    guarded = "#pragma once" in text or path.endswith("_c.h") and "#ifndef FRIT_" in text
    if path.endswith((".h", ".cuh")) and not guarded and "HWY_TARGET_TOGGLE" not in text:
        yield 1, "headers begin with #pragma once (a C header may have a FRIT_ guard instead)"


def source_files(root):
    """Paths below root, with '/', of all files that the rules cover, in a stable order."""
    for top in TOP_FOLDERS:
        for folder, subfolders, names in os.walk(os.path.join(root, top)):
            subfolders[:] = sorted(s for s in subfolders if not s.startswith((".", "__")))
            for name in sorted(names):
                if name.endswith(SOURCE_ENDINGS + (".def", ".py", ".sh", ".cmake", ".fbs")) \
                        or name == "CMakeLists.txt":
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, root).replace(os.sep, "/")


def check(root):
    """All violations below root as 'path:line: message'."""
    found = []
    for path in source_files(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            text = file.read()
        errors = list(form_errors(path, text))
        if path.endswith(SOURCE_ENDINGS):
            errors += include_errors(path, text)
        found += [f"{path}:{number}: {message}" for number, message in sorted(errors)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.join(os.path.dirname(__file__), "..", ".."))
    found = check(parser.parse_args().root)
    for line in found:
        print(line)
    print(f"layers: {len(found)} violations" if found else "layers: clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
