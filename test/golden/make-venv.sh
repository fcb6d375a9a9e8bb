#!/usr/bin/env bash
# Makes a Python environment with torch (CPU path only) and transformers, for the golden generator and the demo model.
# The package index carries torch only as a CUDA build whose dependencies weigh several GB. torch is therefore installed
# alone, with the real libcudart, and the other CUDA libraries that it links are replaced by empty stand-ins.
# Usage: make-venv.sh TARGET_DIR   (Python >= 3.11, gcc and readelf must be there; about 1.5 GB and one minute)
set -euo pipefail

target=${1:?usage: make-venv.sh TARGET_DIR}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

python3 -m venv "$target"
pip="$target/bin/pip"
"$pip" install --quiet --require-hashes --requirement "$here/requirements.txt"
"$pip" install --quiet --no-deps --require-hashes --requirement "$here/torch.txt"
"$target/bin/python" "$here/make_stand_ins.py" "$("$target/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
"$target/bin/python" - <<'PY'
import torch, transformers
print(f"torch {torch.__version__}, transformers {transformers.__version__}, sum of ones {torch.ones(3, 3).sum().item()}")
PY
