#!/usr/bin/env bash
# Builds the native tests under the address and undefined-behaviour sanitizers, and those of ranks under the thread
# sanitizer too.
set -euo pipefail
cd "$(dirname "$0")/../.."

# build FOLDER SANITIZERS [TEST...]: all tests when none is named.
build() {
  local folder=$1 sanitizers=$2
  shift 2
  mkdir -p "$folder"
  cmake -S native -B "$folder" -G Ninja -DBUILD_TESTS=ON -DSANITIZE="$sanitizers" >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2; exit 1; }
  ninja -C "$folder" -j "$(nproc)" "$@"
}

build .build/native-tests address,undefined
build .build/native-thread-tests thread parallel_group_test engine_ranks_test ops_thread_pool_test
