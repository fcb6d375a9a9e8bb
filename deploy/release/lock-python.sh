#!/usr/bin/env bash
# Pins the Python packages that builds and tests install, with the digests of all their files: FILE.in names what is
# wanted, FILE.txt is written. pip installs from FILE.txt alone, with --require-hashes.
# usage: lock-python.sh [FILE.in...]   (default: all of the repository; peers that benchmarks build are not pinned)
set -euo pipefail
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tool=$repository/.local/uv
cd "$repository"

if [[ ! -x $tool/bin/uv ]]; then
  python3 -m venv "$tool"
  "$tool/bin/pip" install --quiet uv==0.13.9
fi

files=("$@")
((${#files[@]})) || mapfile -t files < <(git ls-files '*.in')
for file in "${files[@]}"; do
  echo "$file"
  options=()
  # Sets whose dependencies are not installed: see make-venv.sh and wheel.sh.
  [[ $file != test/golden/torch.in && $file != deploy/local/wheels.in ]] || options+=(--no-deps)
  # Its torch is that of test/golden/torch.in, without the CUDA libraries.
  excluded=
  [[ $file != test/agents/guidellm.in ]] || excluded=torch
  "$tool/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
    "${options[@]}" --excludes - "$file" --output-file "${file%.in}.txt" <<<"$excluded"
done
