#!/usr/bin/env bash
# The GPU tests and the GPU benchmark on a device: test/gpu/on-device.sh test|bench cuda|hip|emulator [build|run].
# `build` needs no device and packs all that `run` needs into .build/gpu-run/VENDOR.tar.xz: programs, runtime and Node;
# `run` needs no compiler, no packages and no network, only this script and that file. Without either word, both.
#   GPU_TARGETS  processors to compile for, separated by semicolons (sm_90a); without it, all
#   ONLY         parts to run: of test `kernels goldens faults sanitizer`, of bench `ops peers model http`
# Results of the benchmark, and what golden models gave, go to .build/gpu-run/results/VENDOR. `emulator` runs tiny shapes on
# the CPU: it shows that everything runs, and no speed. Exit status 1 if a part failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
what=$1 vendor=$2
halves=${3:-build run}
folder=.build/gpu-tests/$vendor
packed=.build/gpu-run/$vendor
app=$packed/app release=$packed/app/native/build/Release
results=.build/gpu-run/results/$vendor
# By itself, and under the sanitizer, which is many times slower.
test_seconds=120 sanitized_seconds=300
failed=()

build() {
  mkdir -p .build/gpu-tests
  local options=(-DBUILD_TESTS=ON) targets=("llmservice_gpu_bench_$vendor" "device_fault_$vendor" "llmservice_$vendor")
  if [[ $vendor != emulator ]]; then
    options+=("-DGPU_${vendor^^}=ON" ${GPU_TARGETS:+"-DGPU_${vendor^^}_TARGETS=$GPU_TARGETS"})
    targets+=("gpu_${vendor}_tests")
  fi
  echo "building the GPU tests and the benchmark for $vendor (some minutes the first time)"
  cmake -S native -B "$folder" -G Ninja "${options[@]}" >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
  ninja -C "$folder" -j "${JOBS:-$(nproc)}" "${targets[@]}"
  npm run --silent build
  npm run --silent build:native
  pack
}

pack() {
  rm -rf "$packed"
  mkdir -p "$packed/programs"
  local program dangling
  for program in "$folder"/{gpu_*_test,llmservice_gpu_bench}_"$vendor" "$folder/device_fault_$vendor.node"; do
    [[ ! -f $program ]] || strip --strip-unneeded -o "$packed/programs/${program##*/}" "$program"
  done
  # As in an image (deploy/docker): workspaces beside node_modules, whose links lead to them.
  cp -a "$(deploy/local/stage.sh runtime)" "$app"
  mv "$app"/packages/* "$app"
  rmdir "$app/packages"
  dangling=$(find "$app" -xtype l)
  [[ -z $dangling ]] || { printf 'links that lead nowhere:\n%s\n' "$dangling" >&2; exit 1; }
  strip --strip-unneeded -o "$release/llmservice_$vendor.so" "$folder/llmservice_$vendor.so"
  npx esbuild test/gpu/device-fault.ts test/gpu/goldens.ts test/bench/gpu/http-bench.ts test/bench/gpu/report.ts --bundle --platform=node \
    --format=esm --banner:js="import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);" --outbase=test --outdir="$packed/drivers" --out-extension:.js=.mjs --log-level=warning
  mkdir -p "$packed/drivers/integration"
  cp test/integration/faulty-addon.cjs "$packed/drivers/integration"
  cp test/bench/gpu/*.py "$packed/drivers/bench/gpu"
  strip --strip-unneeded -o "$packed/node" "$(readlink -f "$(command -v node)")"
  git rev-parse --short HEAD >"$packed/commit"
  tar --create --directory .build/gpu-run "$vendor" | xz --x86 --lzma2=preset=9e,dict=192MiB >"$packed.tar.xz"
  echo "packed: $(du -h "$packed.tar.xz" | cut -f1) in $packed.tar.xz"
}

part() { [[ -z ${ONLY:-} || " $ONLY " == *" $1 "* ]]; }

# try NAME COMMAND...
try() {
  local name=$1
  shift
  echo "== $name"
  "$@" || failed+=("$name")
}

ensure_model() { # FOLDER FLAG...
  [[ -f $1/whole ]] && return
  echo "writing a checkpoint of random weights to $1"
  "$packed/programs/llmservice_gpu_bench_$vendor" write "$@" && touch "$1/whole"
}

run_tests() {
  # Ranks of a test wait for each other on one device: code that is loaded, or a stream that shares another's queue, would
  # wait for them.
  export CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_MAX_CONNECTIONS=32 GPU_MAX_HW_QUEUES=16
  local test model=.build/gpu-run/model-tiny
  for test in "$packed"/programs/gpu_*_test_"$vendor"; do
    [[ ! -f $test ]] || ! part kernels || try "${test##*/}" timeout "$test_seconds" "$test" --gtest_brief=1
  done
  mkdir -p "$results"
  # Of the emulator, minutes for each model: one is enough to show that it runs.
  local models=()
  [[ $vendor != emulator ]] || models=(qwen3_5-bf16)
  ! part goldens || try 'golden models, as transformers' env LLMSERVICE_NATIVE_ADDON="$PWD/$release/llmservice_native.node" \
    "$packed/node" "$packed/drivers/gpu/goldens.mjs" test/golden/models/ "$vendor" "$results/goldens.jsonl" "${models[@]}"
  if part faults; then
    ensure_model "$model" --quick
    try 'an illegal access while clients wait' "$packed/node" "$packed/drivers/gpu/device-fault.mjs" \
      "$app/runtime" "$model" "$release/llmservice_native.node" \
      "$packed/programs/device_fault_$vendor.node" "$vendor"
  fi
  part sanitizer && [[ $vendor == cuda ]] || return 0
  command -v compute-sanitizer >/dev/null || { echo 'there is no compute-sanitizer here'; return 0; }
  for test in "$packed"/programs/gpu_*_test_"$vendor"; do
    try "${test##*/} under compute-sanitizer" timeout "$sanitized_seconds" \
      compute-sanitizer --error-exitcode 9 "$test" --gtest_brief=1
  done
}

run_bench() {
  local bench=$packed/programs/llmservice_gpu_bench_$vendor model=.build/gpu-run/model accelerator=$vendor quick=()
  [[ $vendor != emulator ]] || model=.build/gpu-run/model-tiny accelerator=cpu quick=(--quick)
  mkdir -p "$results"
  ! part ops || try 'operation by operation' save ops "$bench" ops "${quick[@]}"
  ! part peers || try 'the same by other libraries' save peers \
    python3 "$packed/drivers/bench/gpu/peers.py" "$results/ops.jsonl"
  if part model || part http; then ensure_model "$model" "${quick[@]}"; fi
  ! part model || try 'the whole model' save model "$bench" model "$model" "${quick[@]}"
  ! part http || try 'through the HTTP server' save http "$packed/node" "$packed/drivers/bench/gpu/http-bench.mjs" \
    "$app/runtime" "$model" "$accelerator" "${quick[@]}"
  local lines=()
  for name in ops peers model http; do [[ ! -f $results/$name.jsonl ]] || lines+=("$results/$name.jsonl"); done
  "$packed/node" "$packed/drivers/bench/gpu/report.mjs" "$(cat "$packed/commit")" "make bench-gpu GPU=$vendor" \
    "${lines[@]}" | tee "$results/report.md"
}

# save NAME COMMAND...: what it prints becomes NAME.jsonl, whole or not.
save() {
  local name=$1
  shift
  "$@" | tee "$results/$name.jsonl" >/dev/null
}

[[ $halves != *build* ]] || build
[[ $halves == *run* ]] || exit 0
if [[ $packed.tar.xz -nt $packed || ! -d $packed ]]; then
  tar --extract --xz --file "$packed.tar.xz" --directory .build/gpu-run
  touch "$packed"
fi
if [[ $what == test ]]; then run_tests; else run_bench; fi
((${#failed[@]} == 0)) || { printf 'failed: %s\n' "${failed[@]}" >&2; exit 1; }
echo "all parts ran on $vendor"
