#!/usr/bin/env bash
# Runs the tests of GPU kernels under the access checker, on warps of 32 and of 64 lanes: native/test/access/run.sh [PATTERN]
# takes those whose name (access_LANES_NAME) has it. Says of each what it took of a processor. Exit status 1 if any test failed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
folder=.build/access-tests
mkdir -p "$folder"
cmake -S native -B "$folder" -G Ninja -DBUILD_TESTS=ON -DSANITIZE=thread >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
ninja -C "$folder" -t cleandead >/dev/null
mapfile -t tests < <(ninja -C "$folder" -t targets all | sed -n 's/^\(access_[0-9]*_[a-z0-9_]*_test\):.*/\1/p' | grep "${1:-}" | sort -u)
((${#tests[@]} > 0)) || { echo "no test of that name: $1" >&2; exit 1; }
ninja -C "$folder" -j "$(nproc)" "${tests[@]}"
# What hangs is ended.
printf '%s\n' "${tests[@]}" | xargs -P "$(nproc)" -I TEST bash -c \
  'TIMEFORMAT="%U s: $2"
  time timeout --kill-after 5 3600 "$1/$2" --gtest_brief=1 || { echo "failed: $2" && exit 1; }' bash "$folder" TEST
