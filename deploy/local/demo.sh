#!/usr/bin/env bash
# From a checkout to streamed tokens: cluster, S3 with the demo model, operator, one manifest, a chat by the gateway.
# usage: demo.sh up | operator (all but the manifest; tests begin here) | down. With CLUSTER=current it takes the
# current kubeconfig context and pushes the images to REGISTRY; the model then comes from an S3 server in that cluster.
set -euo pipefail
own_kubeconfig=${KUBECONFIG:-}
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
for part in progress tools node daemon image wheel images demo-service demo-current; do source "$local_folder/lib/$part.sh"; done
cd "$repository"

build_project() {
  # Not `npm ci`: it refuses a lock file without the optional packages of other platforms, which not every registry has.
  # A node_modules that someone else installed is left to them.
  local installed=node_modules/.installed-from
  if [[ ! -d node_modules ]] || { [[ -f $installed ]] && ! cmp -s package-lock.json "$installed"; }; then
    npm install --no-save --no-audit --no-fund
    cp package-lock.json "$installed"
  fi
  # What the images hold; the tests are compiled by the tests.
  npx tsc --build runtime operator
  npm run build:native
}

# The cluster with the operator in it and the demo model in its S3 server.
install_local() {
  local operator runtime
  "$local_folder/bootstrap.sh" build cluster
  # The cluster comes up while the project compiles.
  "$local_folder/cluster.sh" up &
  cluster=$!
  # Should a step fail, the script still waits for it.
  trap 'wait "$cluster" || true' EXIT
  with_progress 'compile the project' "$repository/.local/build.log" build_project
  operator=$(operator_image)
  runtime=$(runtime_image)
  wait "$cluster" || die 'the cluster did not come up'
  trap - EXIT
  import_images "$operator" "$runtime"
  upload_model "$s3_endpoint"
  install_operator "$operator" "$runtime" --set gateway.name=llmservice --set gateway.namespace=llmservice-system \
    --set "allowHostPaths={$node_state/weights}"
}

up_local() {
  install_local
  apply_service
  show_answers "http://$node_ip"
  cat <<END

The demo is up. To go on:
  source deploy/local/env.sh            # kubectl and helm on the PATH, KUBECONFIG=$KUBECONFIG
  kubectl get llm -A
  kubectl describe llm demo -n experimental
  curl -N http://$node_ip/openai/v1/chat/completions -H 'Host: $demo_host' -H 'Content-Type: application/json' \\
    -d '{"model":"demo","stream":true,"messages":[{"role":"user","content":"What is the capital of France?"}]}'
  make demo-down                        # removes every trace
END
}

case ${1:-} in
  up)
    started=$SECONDS
    if [[ ${CLUSTER:-local} == current ]]; then up_current; else up_local; fi
    say "demo up in $((SECONDS - started)) s"
    ;;
  operator) install_local ;;
  down)
    if [[ ${CLUSTER:-local} == current ]]; then down_current; else "$local_folder/cluster.sh" down; fi
    ;;
  *) sed -n '2,4s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
esac
