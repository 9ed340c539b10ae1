#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the built libraries export, need and weigh.

    check_symbols.py [BUILD_DIR]        default build/release

The runtime exports only the C ABI, stays small and needs no compiler-side library; the builder
exports only the public C++ API. Prints one line per violation and exits 1 if there is any.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

MAX_RUNTIME_BYTES = 2 * 1024 * 1024
RUNTIME_NEEDED_FORBIDDEN = re.compile(r"dnnl|protobuf|gomp|fmt|frit_builder|cuda|nvrtc|onnx")
# Matched against every symbol, local ones included: nothing of the compiler may be linked in.
RUNTIME_SYMBOL_FORBIDDEN = re.compile(
    r"google::protobuf|\bonnx::|\bfrit::(ir|ops|passes|rewrite|tune|lower|quant|compiler)::|dnnl::")
RUNTIME_EXPORT = re.compile(r"^frit_\w+$")
# Public C++ names, with the vtables, type information and guards that belong to them.
BUILDER_EXPORT = re.compile(
    r"^((vtable|typeinfo|typeinfo name|VTT|guard variable|non-virtual thunk to|virtual thunk to)"
    r"( for)? ?)?frit::(?!(ir|ops|passes|rewrite|tune|lower|quant|onnx|kernels|plan|runtime|base)::)"
    r"|^frit_\w+$")
# The dynamic linker's own names.
LINKER_SYMBOLS = {"_init", "_fini", "__bss_start", "_edata", "_end"}


def run(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


def symbol_names(library, *options):
    """Demangled names of a library's defined symbols, versions cut off."""
    names = []
    for line in run("nm", "-C", "--defined-only", "--format=posix", *options, library).splitlines():
        # posix format: name type value size; demangled names hold spaces
        match = re.match(r"^(.*) ([A-Za-z]) [0-9a-f]+( [0-9a-f]+)?\s*$", line)
        if match and match.group(2) != "A":  # absolute symbols are version nodes
            names.append(match.group(1).split("@")[0])
    return names


def exported(library):
    return [name for name in symbol_names(library, "-D") if name not in LINKER_SYMBOLS]


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", library))


def stripped_size(library):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "stripped.so")
        run("strip", "-o", copy, library)
        return os.path.getsize(copy)


def check_runtime(library):
    """Violations of libfrit_runtime.so."""
    found = [f"exports {name}; only frit_* is public" for name in exported(library)
             if not RUNTIME_EXPORT.match(name)]
    if not exported(library):
        found.append("exports nothing; the C ABI (frit_*) is missing")
    found += [f"needs {name}; the runtime must load without it" for name in needed(library)
              if RUNTIME_NEEDED_FORBIDDEN.search(name)]
    found += [f"contains {name}, which belongs to the compiler" for name in symbol_names(library)
              if RUNTIME_SYMBOL_FORBIDDEN.search(name)]
    size = stripped_size(library)
    if size > MAX_RUNTIME_BYTES:
        found.append(f"is {size} bytes when stripped; the limit is {MAX_RUNTIME_BYTES}")
    return found


def check_builder(library):
    """Violations of libfrit_builder.so."""
    found = [f"exports {name}; only names of include/frit are public" for name in exported(library)
             if not BUILDER_EXPORT.match(name)]
    if not exported(library):
        found.append("exports nothing; the public API is missing")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build_dir", nargs="?", default="build/release")
    build_dir = parser.parse_args().build_dir
    failed = False
    for name, check in (("runtime", check_runtime), ("builder", check_builder)):
        library = os.path.join(build_dir, "lib", f"libfrit_{name}.so")
        if not os.path.exists(library):
            print(f"{library}: not there; build the target frit_{name} first")
            failed = True
            continue
        found = check(library)
        for line in found[:20]:
            print(f"{library}: {line}")
        if len(found) > 20:
            print(f"{library}: and {len(found) - 20} more")
        failed |= bool(found)
        if not found:
            print(f"symbols: {os.path.basename(library)} is clean, "
                  f"{stripped_size(library) / 1024:.0f} KiB stripped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
