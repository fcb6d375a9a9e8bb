#!/usr/bin/env bash
# Puts public chat templates into FOLDER, from the source packages of llama-cpp-python and vllm: get.sh FOLDER
set -euo pipefail
folder=$(realpath -m "${1:?usage: get.sh FOLDER}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$folder" "$scratch/stub/torch/utils"
# pip runs setup.py for the package's name; vllm's asks torch for its versions.
echo 'from . import version; __version__ = "2.0"' >"$scratch/stub/torch/__init__.py"
echo 'hip = cuda = xpu = None' >"$scratch/stub/torch/version.py"
touch "$scratch/stub/torch/utils/__init__.py"
echo 'CUDA_HOME = ROCM_HOME = None' >"$scratch/stub/torch/utils/cpp_extension.py"
python3 -m venv "$scratch/venv"
pip=("$scratch/venv/bin/pip")
"${pip[@]}" install -q scikit-build-core setuptools-scm setuptools-rust cmake packaging jinja2 wheel 'setuptools>=77'
source_of() {
  PYTHONPATH=$scratch/stub VLLM_TARGET_DEVICE=empty VLLM_VERSION_OVERRIDE=0.33.0 "${pip[@]}" download -q --no-deps \
    --no-build-isolation --no-binary :all: -d "$scratch" "$1"
}
source_of llama-cpp-python==0.3.36
source_of vllm==0.33.0
for package in "$scratch"/*.tar.gz; do tar xzf "$package" -C "$scratch" --wildcards '*.jinja'; done
cp "$scratch"/llama_cpp_python-*/vendor/llama.cpp/models/templates/*.jinja "$folder"
for template in "$scratch"/vllm-*/{examples,examples/pooling/*/template,rust/src/chat/tests/templates}/*.jinja; do
  cp "$template" "$folder/vllm-$(basename "$template")"
done
