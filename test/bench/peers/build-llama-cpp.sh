#!/usr/bin/env bash
# Builds llama.cpp's benchmarks for this machine's processor, unless they are there, and prints the folder of its programs:
# test/bench/peers/build-llama-cpp.sh [NAME [CMAKE_OPTION...]]; NAME tells builds with different options apart. From the source
# package of llama-cpp-python. Needs 2 GB of disk, and half an hour of a processor the first time.
set -euo pipefail
cd "$(dirname "$0")/../../.."
version=0.3.36
name=${1:-native}
shift || true
sources=.build/llama-cpp
build=$sources/$name
programs=(llama-bench llama-batched-bench llama-quantize llama-server)

mkdir -p "$build"
if [ ! -x "$build/bin/llama-server" ]; then
  echo "building llama.cpp of llama-cpp-python $version (log: $build/build.log)" >&2
  {
    if [ ! -d "$sources/llama_cpp_python-$version" ]; then
      python3 -m venv "$sources/venv"
      "$sources/venv/bin/pip" install -q numpy pyyaml scikit-build-core
      "$sources/venv/bin/pip" download -q --no-deps --no-build-isolation --no-binary llama-cpp-python -d "$sources" \
        "llama-cpp-python==$version"
      tar xzf "$sources/llama_cpp_python-$version.tar.gz" -C "$sources"
      # Its own reader and writer of GGUF, for write_gguf.py.
      for packages in "$sources"/venv/lib/python3*/site-packages; do
        echo "$PWD/$sources/llama_cpp_python-$version/vendor/llama.cpp/gguf-py" >"$packages/gguf.pth"
      done
    fi
    cmake -S "$sources/llama_cpp_python-$version/vendor/llama.cpp" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
      -DGGML_NATIVE=ON -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DBUILD_SHARED_LIBS=OFF "$@"
    ninja -C "$build" -j "$(nproc)" "${programs[@]}"
  } >"$build/build.log" 2>&1 || { tail -20 "$build/build.log" >&2; exit 1; }
fi
echo "$build/bin"
