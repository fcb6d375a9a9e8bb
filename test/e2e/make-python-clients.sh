#!/usr/bin/env bash
# A Python environment with the SDKs of OpenAI and Anthropic, made once, in .local/python-clients.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.local/python-clients
[[ -f $folder/done ]] && exit
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --require-hashes --requirement "$(dirname "${BASH_SOURCE[0]}")/python-clients.txt"
touch "$folder/done"
