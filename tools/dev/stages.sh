# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that work in stages: a line per stage with the seconds since the start, and
# commands whose output matters only when they fail. Expects to stand in the repository root.

mkdir -p build/logs
stages_start=$SECONDS
# Clones in different folders share compiler results.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# Announces a stage.
stage() {
  printf '[%4d s] %s\n' $((SECONDS - stages_start)) "$*"
}

# quietly NAME COMMAND…: output goes to build/logs/NAME.log; on failure its end is shown.
quietly() {
  local log=build/logs/$1.log
  shift
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    echo "failed: $* (whole output: $log)" >&2
    return 1
  fi
}

# build_tree DIR [TARGET…]: builds with a progress line every 30 seconds; on failure shows the errors.
build_tree() {
  local dir=$1 log=build/logs/build.log shown=$SECONDS line status
  shift
  : >"$log"
  set +e
  NINJA_STATUS='[%f/%t] ' ninja -C "$dir" -j "$(nproc)" "$@" 2>&1 </dev/null | tee "$log" |
    while IFS= read -r line; do
      if [ $((SECONDS - shown)) -ge 30 ] && [[ $line == \[* ]]; then
        shown=$SECONDS
        stage "  ${line:0:90}"
      fi
    done
  status=${PIPESTATUS[0]}
  set -e
  if [ "$status" != 0 ]; then
    grep -E -A 12 'FAILED:|error:' "$log" | head -n 80 >&2 || tail -n 40 "$log" >&2
    echo "failed: ninja -C $dir $* (whole output: $log)" >&2
    return 1
  fi
}
