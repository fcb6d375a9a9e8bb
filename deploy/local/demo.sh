#!/usr/bin/env bash
# From a checkout to streamed tokens: first from a server on this machine alone, then from a cluster with S3, gateway and operator.
# usage: demo.sh up | operator (the cluster with all but the manifest; tests begin here) | down
# SKIP_CLUSTER=1: the server alone. MODEL=smollm2: a language model instead of the checkout's toy. CLUSTER=current: the current
# kubeconfig context instead of the local cluster; images are pushed to REGISTRY, and the model comes from an S3 server there.
set -euo pipefail
own_kubeconfig=${KUBECONFIG:-}
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
for part in progress tools node daemon image wheel images demo-model demo-service demo-current local-server; do
  source "$local_folder/lib/$part.sh"
done
cd "$repository"

# build_project WORKSPACE...: the native addon, and these workspaces with what they import; tests are compiled by the tests.
# What does not wait for another runs beside it: neither compiler alone keeps all cores busy.
build_project() {
  local grammar types installed=node_modules/.installed-from
  native/xgrammar/provide.sh .build/xgrammar &
  grammar=$!
  # Not `npm ci`: it refuses a lock file without the optional packages of other platforms, which not every registry has.
  # A node_modules that someone else installed is left to them.
  if [[ ! -d node_modules ]] || { [[ -f $installed ]] && ! cmp -s package-lock.json "$installed"; }; then
    npm install --no-save --no-audit --no-fund
    cp package-lock.json "$installed"
  fi
  npx tsc --build "$@" >.local/tsc.log 2>&1 &
  types=$!
  wait "$grammar"
  npm run build:native
  wait "$types" || { cat .local/tsc.log && return 1; }
}

serve_locally() {
  with_progress 'compile the project' "$repository/.local/build.log" build_project runtime
  provide_model
  serve_model "$demo_model" "$demo_checkpoint"
  show_chat "$serve_url/v1" "$demo_model"
  cat <<END

This machine serves $demo_model at $serve_url/v1, and a page to chat at $serve_url/ui.
  curl -N $serve_url/v1/chat/completions -H 'Content-Type: application/json' \\
    -d '{"model":"$demo_model","stream":true,"messages":[{"role":"user","content":"$demo_question"}]}'
  make demo-down                        # ends it; its log: ${serve_folder#"$repository/"}/log

END
}

# The cluster with the operator in it and the demo's model in its S3 server.
install_local() {
  local operator runtime
  "$local_folder/bootstrap.sh" build cluster
  # The cluster comes up while the project compiles.
  "$local_folder/cluster.sh" up &
  cluster=$!
  # Should a step fail, the script still waits for it.
  trap 'wait "$cluster" || true' EXIT
  with_progress 'compile the project' "$repository/.local/build.log" build_project runtime operator
  provide_model
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
  local started=$SECONDS
  "$local_folder/bootstrap.sh" build
  if [[ -z ${SKIP_CLUSTER:-} ]] && ((EUID == 0)); then
    # What the cluster is made of arrives while the project compiles.
    nice -n 19 "$local_folder/cluster.sh" fetch >"$repository/.local/fetch.log" 2>&1 &
    fetch=$!
    trap 'say "waiting for downloads"; wait "$fetch" || true' EXIT
  fi
  serve_locally
  say "first answer after $((SECONDS - started)) s"
  [[ -z ${SKIP_CLUSTER:-} ]] || return 0
  if ((EUID != 0)); then
    say 'the cluster needs root, for namespaces and mounts: it is left out'
    return 0
  fi
  # What could not be fetched is fetched again, and then says why.
  wait "$fetch" || true
  trap - EXIT
  install_local
  apply_service
  show_answers "http://$node_ip"
  cat <<END

The cluster is up too. To continue:
  source deploy/local/env.sh            # kubectl and helm on the PATH, KUBECONFIG=$KUBECONFIG
  kubectl get llm -A
  kubectl describe llm demo -n experimental
  curl -N http://$node_ip/openai/v1/chat/completions -H 'Host: $demo_host' -H 'Content-Type: application/json' \\
    -d '{"model":"demo","stream":true,"messages":[{"role":"user","content":"$demo_question"}]}'
  make demo-down                        # removes every trace, the server on this machine too
END
}

case ${1:-} in
  up)
    started=$SECONDS
    mkdir -p "$repository/.local"
    if [[ ${CLUSTER:-local} == current && -z ${SKIP_CLUSTER:-} ]]; then up_current; else up_local; fi
    say "demo up in $((SECONDS - started)) s"
    ;;
  operator) install_local ;;
  down)
    stop_server
    if [[ ${CLUSTER:-local} == current ]]; then down_current; else "$local_folder/cluster.sh" down; fi
    ;;
  *) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
esac
