#!/usr/bin/env bash
# Fuzzes the loaders under the address and undefined-behaviour sanitizers: native/fuzz/run.sh SECONDS [TARGET...].
# Starts from the corpus beside it and leaves it alone; an input that breaks a loader is kept in .build/fuzz/TARGET.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
shift
targets=("$@")
((${#targets[@]})) || targets=(config safetensors gguf)
build=.build/fuzz
mkdir -p "$build"

command -v clang++ >/dev/null || { echo 'needs clang: apt-get install clang' >&2; exit 1; }
cmake -S native -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DBUILD_FUZZ=ON \
  -DSANITIZE=address,undefined,fuzzer-no-link >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
ninja -C "$build" -j "$(nproc)" "${targets[@]/%/_fuzz}" >>"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
for target in "${targets[@]}"; do
  mkdir -p "$build/$target"
  echo "fuzzing $target for $seconds s"
  "$build/${target}_fuzz" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=5 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$build/$target/" "$build/$target" "native/fuzz/corpus/$target"
done
