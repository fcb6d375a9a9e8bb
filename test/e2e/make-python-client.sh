#!/usr/bin/env bash
# A Python environment with the OpenAI SDK, made once, in .local/openai-python.
set -euo pipefail
folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/.local/openai-python
[[ -f $folder/done ]] && exit
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet openai==3.52.0
touch "$folder/done"
