#!/usr/bin/env bash
# Builds the native tests under the address and undefined-behaviour sanitizers, and those of ranks and threads under the thread
# sanitizer too. QUICK=1 takes a third of the time: without the undefined-behaviour sanitizer, of the emulated GPU kernels alone,
# on warps of 32 lanes, and with the files of a library compiled together in each build; with the access checker's own tests
# (access/run.sh has all).
set -euo pipefail
cd "$(dirname "$0")/../.."

# build FOLDER SANITIZERS [TEST...]: all tests when none is named.
build() {
  local folder=$1 sanitizers=$2
  shift 2
  mkdir -p "$folder"
  cmake -S native -B "$folder" -G Ninja -DBUILD_TESTS=ON -DSANITIZE="$sanitizers" -DQUICK="${QUICK:-0}" >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2; exit 1; }
  # Programs of tests that are no more, or are in a group since.
  ninja -C "$folder" -t cleandead >/dev/null
  ninja -C "$folder" -j "$(nproc)" "$@"
}

if [[ ${QUICK:-} ]]; then
  build .build/native-quick-tests address
else
  build .build/native-tests address,undefined
fi
if [[ ${QUICK:-} ]]; then
  build .build/native-quick-thread-tests thread parallel_group_test engine_threads_test access_group_32_test
else
  build .build/native-thread-tests thread parallel_group_test parallel_nodes_test engine_ranks_test engine_transfer_peers_test engine_transfer_test engine_parallel_draws_test ops_thread_pool_test \
    access_32_planted_faults_test access_32_planted_async_faults_test access_32_shipped_order_test
fi
