#!/usr/bin/env bash
# The bill of materials (CycloneDX) of the npm packages that are shipped, made by npm, into .build/sbom/npm.cdx.json. Those of
# images are made where images are: by BuildKit in the release workflow.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source deploy/local/lib/settings.sh
source deploy/local/lib/progress.sh
bill=.build/sbom/npm.cdx.json
mkdir -p "$(dirname "$bill")"
# npm's --omit=dev also drops what a workspace ships and the root's tests use.
npm sbom --sbom-format=cyclonedx |
  jq '.components |= map(select((.properties // []) | any(.name == "cdx:npm:package:development") | not))' >"$bill"
say "$(jq '.components | length' "$bill") packages in $bill"
