#!/usr/bin/env bash
# llama.cpp's own benchmark on models of the same shapes as ours, for orientation beside `test/bench/run.sh 5 all`:
# test/bench/llama_cpp/run.sh [REPEATS [ARCHITECTURE...]]. Builds llama-bench from the source package of
# llama-cpp-python. Needs 10 GB of disk, 8 GB of memory, and half an hour the first time.
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=test/bench/llama_cpp
version=0.3.36
build=.build/llama-cpp
repeats=${1:-5}
shift || true
architectures=("$@")
((${#architectures[@]})) || architectures=(llama qwen3 qwen3_moe qwen3_5_text qwen3_next qwen3_5_moe_text)

mkdir -p "$build"
if [ ! -x "$build/bin/llama-bench" ]; then
  echo "building llama-bench of llama-cpp-python $version (log: $build/build.log)"
  {
    python3 -m venv "$build/venv"
    "$build/venv/bin/pip" install -q numpy pyyaml scikit-build-core
    "$build/venv/bin/pip" download -q --no-deps --no-build-isolation --no-binary llama-cpp-python -d "$build" \
      "llama-cpp-python==$version"
    tar xzf "$build/llama_cpp_python-$version.tar.gz" -C "$build"
    cmake -S "$build/llama_cpp_python-$version/vendor/llama.cpp" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DGGML_NATIVE=ON -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF
    ninja -C "$build" -j "$(nproc)" llama-bench
  } >"$build/build.log" 2>&1 || { tail -20 "$build/build.log" >&2; exit 1; }
fi
python=(env "PYTHONPATH=$build/llama_cpp_python-$version/vendor/llama.cpp/gguf-py" "$build/venv/bin/python")
ours=.build/native-bench/llmservice_bench
[ -x "$ours" ] || { echo 'run test/bench/run.sh first: it builds what writes the models' >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for architecture in "${architectures[@]}"; do
  rm -rf "${scratch:?}"/*
  mkdir "$scratch/model"
  "$ours" write "$scratch/model" "$architecture"
  for kind in bf16 q8_0; do
    "${python[@]}" "$here/write_gguf.py" "$scratch/model" "$scratch/$kind.gguf" "$kind"
    "$build/bin/llama-bench" -m "$scratch/$kind.gguf" -p 512 -n 16 -r "$repeats" -t "$(nproc)" -o json \
      2>"$scratch/log" >"$scratch/report.json" || { tail -5 "$scratch/log" >&2; exit 1; }
    node -e '
      const [prefill, decode] = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
      const rate = ({ samples_ts }) => samples_ts.toSorted((a, b) => a - b)[Math.floor(samples_ts.length / 2)];
      console.log(`${process.argv[2].padEnd(17)} ${process.argv[3].padEnd(5)} prefill ${rate(prefill).toFixed(1)}` +
        ` tok/s, decode ${rate(decode).toFixed(2)} tok/s`);
    ' "$scratch/report.json" "$architecture" "$kind"
    # The same file in our engine, where it reads that architecture as GGUF.
    case $kind-$architecture in
      q8_0-llama | q8_0-qwen3 | q8_0-qwen3_moe | q8_0-qwen3_5_text)
        mkdir -p "$scratch/ours" && mv "$scratch/$kind.gguf" "$scratch/ours/"
        npx tsx "$here/../describe-checkpoint.ts" "$scratch/ours"
        "$ours" stored "$scratch/ours" "$architecture" Q8_0 "$repeats" | tail -2
        ;;
    esac
  done
done
