#!/usr/bin/env bash
# The GPU tests on a device: native/test/gpu/run.sh cuda|hip [build|run]. `build` needs no device, `run` no compiler: what
# was built in .build/gpu-tests can be taken to a machine that has one. Without either word, both. Where compute-sanitizer
# is, every binary runs under it once more. Exit status 1 if a test failed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
vendor=$1
parts=${2:-build run}
folder=.build/gpu-tests/$vendor
mkdir -p .build/gpu-tests

if [[ $parts == *build* ]]; then
  echo "building the GPU tests for $vendor (some minutes the first time)"
  cmake -S native -B "$folder" -G Ninja -DBUILD_TESTS=ON "-DGPU_${vendor^^}=ON" >"$folder.log" 2>&1 ||
    { cat "$folder.log" >&2; exit 1; }
  ninja -C "$folder" -j "$(nproc)" "gpu_${vendor}_tests"
fi
[[ $parts == *run* ]] || exit 0
failed=()
for test in "$folder"/gpu_*_test_"$vendor"; do
  echo "== ${test##*/}"
  "$test" --gtest_brief=1 || failed+=("${test##*/}")
  if command -v compute-sanitizer >/dev/null && [[ $vendor == cuda ]]; then
    compute-sanitizer --error-exitcode 9 "$test" --gtest_brief=1 || failed+=("${test##*/} under compute-sanitizer")
  fi
done
((${#failed[@]} == 0)) || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
echo "all GPU tests passed on $vendor"
