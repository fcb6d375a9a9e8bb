#!/usr/bin/env bash
# Builds and runs the native benchmark: test/bench/run.sh [REPEATS], or `products [ROUNDS]` for products alone, or
# `threads [ROUNDS]` for what several threads gain, or `roofline [ROUNDS [PART...]]` for every kernel beside bandwidth and peak, or
# `adapters [STEPS [BF16|FP8]]`, or `build` to build it alone. Needs 2 GB of disk and 3 GB of memory.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=.build/native-bench

mkdir -p "$build"
cmake -S native -B "$build" -G Ninja -DBUILD_BENCH=ON >"$build/cmake.log" 2>&1 ||
  { cat "$build/cmake.log" >&2; exit 1; }
ninja -C "$build" -j "$(nproc)" llmservice_bench >"$build/build.log" 2>&1 ||
  { cat "$build/build.log" >&2; exit 1; }
[ "${1:-}" != build ] || exit 0
exec "$build/llmservice_bench" "$@"
