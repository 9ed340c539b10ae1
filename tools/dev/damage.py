#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages an engine and a model many times and checks that each copy gives one clear error.

    damage.py ENGINE MODEL [--count 1000] [--seed 1] [--build build/release]

Five kinds of damage, --count of each: engine truncated, engine with a flipped bit, engine with a
flipped bit under fresh checksums, model truncated, model with a flipped bit. The loader takes
them in batches, under limits of memory and time; a crash, a hang or an unclear message is a failure
and is printed with the damage that caused it. --program CMD also runs a program on some damaged
files that really are on disk; "{}" in CMD stands for the file:

    damage.py m.engine m.onnx --program "build/release/bin/frit-inspect {}" --on engine
"""

import argparse
import collections
import os
import random
import resource
import shlex
import subprocess
import sys
import tempfile

KINDS = [("engine", "cut"), ("engine", "flip"), ("engine", "reseal"), ("model", "cut"),
         ("model", "flip")]
# Behind header and section table, which fresh checksums cannot make good again.
ENGINE_BODY = 256


def damages(subject, kind, size, count, seed):
    """`count` lines for the loader."""
    chance = random.Random(f"{seed} {subject} {kind}")
    for _ in range(count):
        if kind == "cut":
            yield f"cut {chance.randrange(size)}"
        else:
            first = ENGINE_BODY if kind == "reseal" else 0
            # Most of a file is weights; half of the flips go to the first 64 KiB.
            end = size if chance.random() < 0.5 else min(size, first + 65536)
            yield f"{kind} {chance.randrange(first * 8, end * 8)}"


def limits(memory):
    """For preexec_fn: `memory` bytes of address space and no core files."""
    def apply():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return apply


def run_loader(loader, subject, path, lines, timeout, memory):
    """(answers, what ended the program early or None)."""
    try:
        done = subprocess.run([loader, subject, path], input="\n".join(lines) + "\n", text=True,
                              capture_output=True, timeout=timeout, preexec_fn=limits(memory),
                              errors="replace")
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode(errors="replace")
        return output.split("\n")[:-1], f"no answer within {timeout} s"
    if done.returncode == 2:
        sys.exit(f"{loader}: {done.stderr.strip()}")
    ended = f"exit status {done.returncode}" if done.returncode != 0 else None
    return done.stdout.split("\n")[:-1], ended


def check(args, subject, kind, path, memory):
    """Counts of outcomes by code, and the failures, of one kind of damage."""
    lines = list(damages(subject, kind, os.path.getsize(path), args.count, args.seed))
    loader = os.path.join(args.build, "bin", "frit_damage_loader")
    codes, failures, at = collections.Counter(), [], 0
    while at < len(lines):
        batch = lines[at:at + args.batch]
        answers, ended = run_loader(loader, subject, path, batch, args.timeout, memory)
        for line, answer in zip(batch, answers):
            code, message = (answer + " ").split(" ", 1)
            codes[code] += 1
            wanted = code != "0" if kind == "cut" or (subject, kind) == ("engine", "flip") else True
            if message.startswith("UNCLEAR") or not wanted:
                failures.append(f"{subject} {line}: {answer}")
        at += len(answers)
        if len(answers) < len(batch):
            failures.append(f"{subject} {lines[at]}: {ended}")
            at += 1
    return codes, failures


def damaged_copy(data, line):
    kind, value = line.split()
    if kind == "cut":
        return data[:int(value)]
    copy = bytearray(data)
    copy[int(value) // 8] ^= 1 << int(value) % 8
    return bytes(copy)


def check_program(args, subject, path, memory):
    """Failures of --program on damaged files: crashes, hangs and errors without a message."""
    with open(path, "rb") as file:
        data = file.read()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, os.path.basename(path))
        command = [part.replace("{}", target) for part in shlex.split(args.program)]
        for kind in ("cut", "flip"):
            for line in damages(subject, kind, len(data), args.program_count, args.seed):
                with open(target, "wb") as file:
                    file.write(damaged_copy(data, line))
                try:
                    done = subprocess.run(command, capture_output=True, timeout=args.timeout,
                                          preexec_fn=limits(memory))
                except subprocess.TimeoutExpired:
                    failures.append(f"{command[0]}: {line}: no end within {args.timeout} s")
                    continue
                silent = done.returncode != 0 and not done.stderr.strip()
                if done.returncode < 0 or done.returncode >= 128 or silent:
                    failures.append(f"{command[0]}: {line}: exit status {done.returncode}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine")
    parser.add_argument("model")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=250)
    parser.add_argument("--timeout", type=int, default=120, help="seconds for a batch")
    parser.add_argument("--memory-gib", type=float, default=4, help="address space of a program")
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--program", help="command to run on damaged files, {} is the file")
    parser.add_argument("--on", choices=["engine", "model"], default="engine",
                        help="what --program reads")
    parser.add_argument("--program-count", type=int, default=50)
    args = parser.parse_args()
    memory = int(args.memory_gib * 2**30)
    paths = {"engine": args.engine, "model": args.model}
    failures = []
    for subject, kind in KINDS:
        codes, failed = check(args, subject, kind, paths[subject], memory)
        failures += failed
        accepted = codes.pop("0", 0)
        print(f"{subject:6} {kind:6} {args.count}: {sum(codes.values())} refused, {accepted} "
              f"accepted, {len(failed)} failures", flush=True)
    if args.program:
        failed = check_program(args, args.on, paths[args.on], memory)
        failures += failed
        print(f"{args.program}: {2 * args.program_count} files, {len(failed)} failures")
    for line in failures:
        print(line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
