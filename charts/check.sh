#!/usr/bin/env bash
# Lints both charts with the values of every environment and renders every environment with helmfile. What the API
# server says of the rendered objects is checked by test/integration/charts.test.ts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kubernetes_version=1.34.3
environments=(ml-serve-eqiad ml-staging-codfw local)

mapfile -t tools < <(deploy/local/tools/build.sh helm helmfile)
helm=${tools[0]}/helm
helmfile=${tools[1]}/helmfile
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Helm and helmfile keep caches in the home folder: leave that one alone.
export HELM_CACHE_HOME=$scratch/cache HELM_CONFIG_HOME=$scratch/config HELM_DATA_HOME=$scratch/data

"$helm" lint --strict --kube-version "$kubernetes_version" charts/llmservice-operator
for environment in "${environments[@]}"; do
  "$helmfile" --quiet --helm-binary "$helm" --file helmfile.d/llmservice.yaml.gotmpl --environment "$environment" \
    write-values --output-file-template "$scratch/$environment.{{ .Release.Name }}.yaml"
  "$helmfile" --quiet --helm-binary "$helm" --file helmfile.d/llmservice.yaml.gotmpl --environment "$environment" \
    template --kube-version "$kubernetes_version" >"$scratch/rendered.yaml"
  echo "$environment: $(grep -c '^kind:' "$scratch/rendered.yaml") objects"
done
for values in "$scratch"/*.qwen36-27b.yaml "$scratch"/*.demo.yaml; do
  "$helm" lint --strict --kube-version "$kubernetes_version" --values "$values" charts/llm-service
done

# A value that nobody reads is a mistake in a values file: the schema has to say so.
if "$helm" template probe charts/llm-service --set model.uri=s3://b/m/ --set wiat=serving >/dev/null 2>&1; then
  echo 'charts/llm-service accepts unknown values' >&2
  exit 1
fi
