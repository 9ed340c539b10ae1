#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Frit needs and is missing: distribution packages by apt-get (as root or with sudo) and
# a Python environment in build/venv. Says nothing when nothing is missing; safe to run again.
#
#   bash tools/setup.sh [build|test|fuzz]    build: to build and run (GoogleTest included)
#                                            test:  build + clang-tidy (default)
#                                            fuzz:  test + clang, its sanitizer runtimes and OpenMP
# FRIT_SKIP_PACKAGES=1 leaves distribution packages alone, for systems without apt-get.
set -euo pipefail
cd "$(dirname "$0")/.."

purpose=${1:-test}
packages=(g++ cmake ninja-build pkg-config ccache binutils
  libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler
  libdnnl-dev libhwy-dev libcli11-dev libfmt-dev nlohmann-json3-dev libxxhash-dev
  libgtest-dev libbenchmark-dev)
case $purpose in
  build) ;;
  test) packages+=(clang-tidy) ;;
  fuzz) packages+=(clang-tidy clang libclang-rt-dev libomp-dev) ;;
  *) echo "setup: unknown purpose '$purpose'; expected build, test or fuzz" >&2; exit 2 ;;
esac

log_dir=build/logs
mkdir -p "$log_dir"

fail() {
  printf 'setup: %s\n' "$@" >&2
  exit 1
}

# A Python that can make environments and is new enough for the pinned packages; empty if none.
find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' \
        >/dev/null 2>&1; then
      command -v "$candidate"
      return
    fi
  done
}

missing_packages() {
  local name
  for name in "${packages[@]}"; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
      echo "$name"
    fi
  done
}

install_packages() {
  local log=$log_dir/apt.log root=() name unknown=()
  if ! command -v apt-get >/dev/null; then
    fail "no apt-get on this system. Install the equivalents of these Debian packages:" \
      "  $*" "then run this again with FRIT_SKIP_PACKAGES=1"
  fi
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "packages are missing and this is neither root nor is there sudo." \
      "As root, run: apt-get install --no-install-recommends $*"
    root=(sudo)
  fi
  root+=(env DEBIAN_FRONTEND=noninteractive)
  local options=(-qq -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  echo "setup: installing $*"
  : >"$log"
  # A stale or unreachable extra source need not matter: what counts is whether the packages install.
  "${root[@]}" apt-get "${options[@]}" update >>"$log" 2>&1 </dev/null || true
  if "${root[@]}" apt-get "${options[@]}" install --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; then
    return
  fi
  tail -n 15 "$log" >&2
  for name in "$@"; do
    [ -n "$(apt-cache show "$name" 2>/dev/null)" ] || unknown+=("$name")
  done
  if [ ${#unknown[@]} -gt 0 ]; then
    fail "the package sources of this system do not have: ${unknown[*]}" \
      "Frit is built on Debian 12 or newer and Ubuntu 24.04 or newer (on Ubuntu enable 'universe')"
  fi
  fail "apt-get could not install the packages above; its whole output is in $log"
}

python=$(find_python)
if [ -z "${FRIT_SKIP_PACKAGES:-}" ]; then
  missing=()
  if command -v dpkg-query >/dev/null; then
    mapfile -t missing < <(missing_packages)
  else
    missing=("${packages[@]}")
  fi
  [ -n "$python" ] || missing+=(python3 python3-venv)
  if [ ${#missing[@]} -gt 0 ]; then
    install_packages "${missing[@]}"
  fi
  python=$(find_python)
fi
[ -n "$python" ] || fail "no Python 3.11 or newer with the modules venv and ensurepip was found"

# The environment is complete when the stamp equals the list; a moved or broken one is made anew.
stamp=build/venv/requirements.installed
if [ -e build/venv ] && ! build/venv/bin/python -c 'import pip' >/dev/null 2>&1; then
  rm -rf build/venv
fi
if ! cmp -s tools/requirements.txt "$stamp"; then
  echo "setup: preparing the Python environment build/venv"
  [ -e build/venv ] || "$python" -m venv build/venv || fail "could not make build/venv with $python"
  log=$log_dir/pip.log
  if ! PIP_DISABLE_PIP_VERSION_CHECK=1 build/venv/bin/python -m pip install --only-binary=:all: \
      -r tools/requirements.txt >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    fail "pip could not install tools/requirements.txt from its configured index;" \
      "its whole output is in $log"
  fi
  cp tools/requirements.txt "$stamp"
fi
