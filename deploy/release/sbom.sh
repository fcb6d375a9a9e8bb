#!/usr/bin/env bash
# Bills of materials (CycloneDX) of what is shipped, into .build/sbom: npm's own of the packages, and Syft's of each image
# whose archive is given. usage: sbom.sh [IMAGE.tar...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source deploy/local/lib/settings.sh
source deploy/local/lib/progress.sh
mkdir -p .build/sbom
# npm's --omit=dev also drops what a workspace ships and the root's tests use.
npm sbom --sbom-format=cyclonedx |
  jq '.components |= map(select((.properties // []) | any(.name == "cdx:npm:package:development") | not))' >.build/sbom/npm.cdx.json
say "npm: $(jq '.components | length' .build/sbom/npm.cdx.json) packages in .build/sbom/npm.cdx.json"
(($#)) || exit 0
syft=$("$local_folder/tools/build.sh" syft)/syft
for image in "$@"; do
  bill=.build/sbom/$(basename "$image" .tar).cdx.json
  with_progress "$image" .build/sbom/syft.log "$syft" scan --quiet "docker-archive:$image" --output "cyclonedx-json=$bill"
  say "$image: $(jq '.components | length' "$bill") components in $bill"
done
