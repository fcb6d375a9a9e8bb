#!/usr/bin/env bash
# A Python environment with the SDKs of OpenAI and Anthropic, made once for their versions, in .local/python-clients.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$here/../../.local/python-clients
cmp --quiet "$here/python-clients.txt" "$folder/installed.txt" && exit
python3 -m venv --clear "$folder"
"$folder/bin/pip" install --quiet --require-hashes --requirement "$here/python-clients.txt"
cp "$here/python-clients.txt" "$folder/installed.txt"
