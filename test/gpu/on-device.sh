#!/usr/bin/env bash
# The GPU tests and the GPU benchmark on a device: test/gpu/on-device.sh test|bench|all cuda|hip|emulator [build|run].
# `build` needs no device and packs all that `run` needs into .build/gpu-run/VENDOR.tar.xz: programs, runtime and Node;
# `run` needs no compiler, no packages and no network, only this script and that file. Without either word, both.
#   GPU_TARGETS  processors to compile for, separated by semicolons (sm_90a); without it, all
#   ONLY         parts to run: of test `kernels goldens faults sanitizer`, of bench `ops tunings model http peers`
#   BUDGET       seconds that `run` may take. Each part has a limit of its own as well; one for which no time is left is
#                not begun
#   MODEL        folder for the benchmark's checkpoint of 31 GB, written beside the tests; in memory: /dev/shm/model
#   RESULTS      folder for at most eight files: log.txt, goldens.jsonl, a .jsonl of each part of the benchmark, report.md.
#                Without it .build/gpu-run/results/VENDOR
# The summary, failures first, is the last that `run` prints. `emulator` runs tiny shapes on the CPU: it shows that
# everything runs, and no speed. Exit status 1 if a part failed.
set -euo pipefail
cd "$(dirname "$0")/../.."
what=$1 vendor=$2
halves=${3:-build run}
folder=.build/gpu-tests/$vendor
packed=.build/gpu-run/$vendor
app=$packed/app release=$packed/app/native/build/Release
bench=$packed/programs/llmservice_gpu_bench_$vendor
results=${RESULTS:-.build/gpu-run/results/$vendor}
budget=${BUDGET:-86400}
# Programs of tests that use the device together, and how long one may take: of a short budget no more than a quarter.
at_once=6 test_seconds=$((budget < 480 ? budget / 4 : 120))

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

# Whether part $1, of `test` or `bench` ($2), is asked for.
part() { [[ $what == "$2" || $what == all ]] && [[ -z ${ONLY:-} || " $ONLY " == *" $1 "* ]]; }

# try NAME SECONDS COMMAND...: ended after so long and at the end of the budget. What it prints goes to a log, standard
# output to $into where there is one; how it ended, to the summary.
try() {
  local name=$1 seconds=$2 begin=$SECONDS left=$((budget - SECONDS)) status=0 log=$logs/$1.log how detail
  local limited=(timeout --kill-after 5 "$((seconds < left ? seconds : left))")
  if ((left <= 2)); then
    status=125
  elif [[ -n ${into:-} ]]; then
    "${limited[@]}" "${@:3}" >"$into" 2>"$log" || status=$?
  else
    "${limited[@]}" "${@:3}" >"$log" 2>&1 || status=$?
  fi
  case $status in
    0) how=ok ;;
    124 | 137) how='out of time' ;;
    125) how='no time left' ;;
    *) how="failed ($status)" ;;
  esac
  detail=$(grep -s -E '^\[  (PASSED|FAILED)  \] [0-9]+ test|golden models are|s after the fault' "$log" | tail -2 | tr -s '\n ' ' ' || true)
  printf '%s: %s, %d s %s\n' "$name" "$how" "$((SECONDS - begin))" "$detail" >>"$logs/$([[ $status == 0 ]] && echo good || echo bad)"
  return "$status"
}

# Programs of the tests: several at once, and the one whose ranks share the device, which is to be alone on it.
# Both: SECONDS PREFIX [COMMAND...].
each_test() {
  local seconds=$1 prefix=$2 test
  shift 2
  (
    for test in "$packed"/programs/gpu_*_test_"$vendor"; do
      [[ -f $test && $test != *_ranks_engine_test_* ]] || continue
      while (($(jobs -rp | wc -l) >= at_once)); do wait -n || true; done
      try "$prefix${test##*/}" "$seconds" "$@" "$test" --gtest_brief=1 &
    done
    wait
  )
}

ranks_test() {
  local name=gpu_ranks_engine_test_$vendor
  [[ ! -f $packed/programs/$name ]] || try "$2$name" "$1" "${@:3}" "$packed/programs/$name" --gtest_brief=1 || true
}

write_model() { # FOLDER FLAG...
  [[ -f $1/whole ]] && return
  mkdir -p "$1"
  try "checkpoint-in-${1//\//_}" 240 "$bench" write "$@" && touch "$1/whole"
}

run_goldens() {
  # Of the emulator, minutes for each model: one is enough to show that it runs.
  local models=()
  [[ $vendor != emulator ]] || models=(qwen3_5-bf16)
  try goldens "$([[ $vendor == emulator ]] && echo 900 || echo 150)" env LLMSERVICE_NATIVE_ADDON="$PWD/$release/llmservice_native.node" \
    "$packed/node" "$packed/drivers/gpu/goldens.mjs" test/golden/models/ "$vendor" "$results/goldens.jsonl" "${models[@]}" || true
}

run_tests() {
  # Ranks of a test wait for each other on one device: code that is loaded, or a stream that shares another's queue, would
  # wait for them.
  local -x CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_MAX_CONNECTIONS=32 GPU_MAX_HW_QUEUES=16
  local tiny=.build/gpu-run/model-tiny goldens=
  if part goldens test; then
    run_goldens &
    goldens=$!
  fi
  ! part kernels test || each_test "$test_seconds" ''
  [[ -z $goldens ]] || wait "$goldens"
  ! part kernels test || ranks_test "$test_seconds" ''
  if part faults test && write_model "$tiny" --quick; then
    try faults 120 "$packed/node" "$packed/drivers/gpu/device-fault.mjs" "$app/runtime" "$tiny" \
      "$release/llmservice_native.node" "$packed/programs/device_fault_$vendor.node" "$vendor" || true
  fi
}

run_sanitizer() {
  local -x CUDA_MODULE_LOADING=EAGER CUDA_DEVICE_MAX_CONNECTIONS=32
  [[ $vendor == cuda ]] && part sanitizer test || return 0
  command -v compute-sanitizer >/dev/null || { echo 'there is no compute-sanitizer here'; return 0; }
  each_test 300 sanitized- compute-sanitizer --error-exitcode 9
  ranks_test 300 sanitized- compute-sanitizer --error-exitcode 9
}

# measure NAME SECONDS COMMAND...: what it prints becomes NAME.jsonl, whole or not.
measure() { into=$results/$1.jsonl try "$@" || true; }

run_bench() {
  [[ $what != test ]] || return 0
  ! part ops bench || measure ops 120 "$bench" ops "${quick[@]}"
  [[ -z $writer ]] || wait "$writer" || true
  ! part tunings bench || measure tunings 90 "$bench" tunings "$model" "${quick[@]}"
  ! part model bench || measure model 240 "$bench" model "$model" "${quick[@]}"
  ! part http bench || measure http 300 "$packed/node" "$packed/drivers/bench/gpu/http-bench.mjs" "$app/runtime" "$model" \
    "$accelerator" "${quick[@]}"
  ! part peers bench || measure peers 180 python3 "$packed/drivers/bench/gpu/peers.py" "$results/ops.jsonl"
  local lines=() name
  for name in ops peers model http; do [[ ! -s $results/$name.jsonl ]] || lines+=("$results/$name.jsonl"); done
  "$packed/node" "$packed/drivers/bench/gpu/report.mjs" "$(cat "$packed/commit")" "make bench-gpu GPU=$vendor" \
    "${lines[@]}" >"$results/report.md" 2>>"$logs/report.log" || echo 'report: failed' >>"$logs/bad"
}

# What each log says of a failure, or its end.
reasons() {
  local name
  sed 's/: .*//' "$logs/bad" | while read -r name; do
    [[ -s $logs/$name.log ]] || continue
    echo "-- $name"
    grep -m 6 -E 'Failure$|FAILED  \] [A-Z]|[Ee]rror|is off|differs' "$logs/$name.log" || tail -n 4 "$logs/$name.log"
  done
}

summarize() {
  local log
  { nvidia-smi || rocm-smi || true; } >"$results/log.txt" 2>/dev/null
  for log in $(sed 's/: .*//' "$logs/bad" "$logs/good"); do
    [[ ! -s $logs/$log.log ]] || { echo "##### $log"; head -c 60000 "$logs/$log.log"; } >>"$results/log.txt"
  done
  {
    echo "== $vendor, commit $(cat "$packed/commit"), $SECONDS s; results in $results"
    sort "$logs/bad"
    reasons | awk 'NR <= 45'
    sort "$logs/good"
  } | cut -c1-200 | awk 'NR <= 100'
}

run() {
  SECONDS=0
  if [[ $packed.tar.xz -nt $packed || ! -d $packed ]]; then
    tar --extract --xz --file "$packed.tar.xz" --directory .build/gpu-run
    touch "$packed"
  fi
  logs=$(mktemp -d)
  trap 'rm -rf "$logs"' EXIT
  mkdir -p "$results"
  touch "$logs/bad" "$logs/good"
  model=${MODEL:-.build/gpu-run/model} accelerator=$vendor quick=() writer=
  [[ $vendor != emulator ]] || model=${MODEL:-.build/gpu-run/model-tiny} accelerator=cpu quick=(--quick)
  # Where not one test passes, nothing else will.
  local first=$packed/programs/gpu_rows_test_$vendor
  if [[ -f $first ]] && ! try first 60 "$first" --gtest_brief=1; then
    summarize
    exit 1
  fi
  if part tunings bench || part model bench || part http bench; then
    write_model "$model" "${quick[@]}" &
    writer=$!
  fi
  run_tests
  run_bench
  run_sanitizer
  summarize
  [[ ! -s $logs/bad ]] || exit 1
}

[[ $halves != *build* ]] || build
[[ $halves == *run* ]] || exit 0
run
