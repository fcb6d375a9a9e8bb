#!/usr/bin/env bash
# Puts the CUDA compiler into FOLDER, unless it is there: native/toolchains/cuda.sh FOLDER. Afterwards FOLDER/bin/nvcc
# compiles, FOLDER/lib/libcudart_static.a links, and FOLDER/made-of says what it was made of. No driver, no GPU, no root.
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
made_of=$(cat "$here"/cuda.sh "$here"/cuda.txt | sha256sum)

is_there() { [ "$(cat "$folder/made-of" 2>/dev/null)" = "$made_of" ]; }
! is_there || exit 0
mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
echo "fetching the CUDA compiler $(sed -n 's/^nvidia-cuda-nvcc==\([^ ]*\).*/\1/p' "$here/cuda.txt") (150 MB)"
# A venv brings pip even where Debian's Python has none.
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
  --target "$scratch/packages" --requirement "$here/cuda.txt"
toolchain=$scratch/packages/nvidia/cu13
chmod +x "$toolchain"/bin/* "$toolchain"/nvvm/bin/*
echo "$made_of" >"$toolchain/made-of"
# One made of something else goes; another run of the same may have been faster.
is_there || rm -rf "$folder"
mv -T "$toolchain" "$folder" || is_there
