# The demo in a cluster of one's own (the current kubeconfig context): images go to REGISTRY, the model comes from an S3
# server deployed there. The answers are shown through a port-forward, since the cluster's gateway is not known here.

current_kubeconfig() {
  if [[ -n $own_kubeconfig ]]; then export KUBECONFIG=$own_kubeconfig; else unset KUBECONFIG; fi
}

up_current() {
  local operator runtime server
  [[ -n ${REGISTRY:-} ]] || die 'CLUSTER=current needs REGISTRY=host/path, a registry that the cluster can pull from'
  current_kubeconfig
  "$local_folder/bootstrap.sh" build cluster
  find_clients
  find_tools versitygw
  with_progress 'compile the project' "$repository/.local/build.log" build_project runtime operator
  provide_model
  operator=$(push_image "$(operator_image)")
  runtime=$(push_image "$(runtime_image)")
  server=$(push_image "$(demo_s3_image)")
  S3_IMAGE=$server render_current | kubectl apply -f - >/dev/null
  kubectl rollout status deployment/s3 --namespace storage --timeout=180s
  install_operator "$operator" "$runtime"
  # Without a gateway of its own to name, a service with a host would wait for its route.
  apply_service 'del(.spec.routing)'
  forward_and_show
}

down_current() {
  current_kubeconfig
  find_clients
  kubectl delete -f deploy/samples/demo.yaml --ignore-not-found
  helm uninstall llmservice-operator --namespace llmservice-system --ignore-not-found
  kubectl delete namespace storage experimental llmservice-system --ignore-not-found
  kubectl delete crd llmservices.llmservice.dev --ignore-not-found
}

# push_image REFERENCE: prints its name in REGISTRY. Every credential that buildah knows applies (buildah login).
push_image() {
  local target=$REGISTRY/${1#llmservice.local/}
  with_progress "push $target" "$repository/.local/push.log" push_tar "$1" "$target"
  echo "$target"
}

push_tar() {
  in_buildah inspect --type image "$1" >/dev/null 2>&1 || in_buildah pull "docker-archive:$(tar_of "$1")"
  in_buildah push ${REGISTRY_INSECURE:+--tls-verify=false} "$1" "docker://$2"
}

# The S3 server with the demo's checkpoint inside.
demo_s3_image() {
  build_image demo-s3 "$versitygw_bin $demo_model $(content_hash "$demo_checkpoint")" "$local_folder/images/demo-s3/Dockerfile" \
    "$(debian_base_image)" stage_demo_s3
}
stage_demo_s3() {
  mkdir -p "$1/data/models/$demo_model"
  cp "$demo_checkpoint"/* "$1/data/models/$demo_model"
  cp "$versitygw_bin/versitygw" "$1"
}

render_current() { render "$local_folder/manifests/s3-in-cluster.yaml" | sed "s|@S3_IMAGE@|$S3_IMAGE|"; }

forward_and_show() {
  local log=$repository/.local/port-forward.log forward port='' waited=0
  kubectl port-forward --namespace experimental service/demo :80 >"$log" 2>&1 &
  forward=$!
  until [[ -n $port ]] && curl -s -o /dev/null "http://127.0.0.1:$port/health"; do
    ((waited++ < 100)) || die "the port-forward does not answer; see $log"
    sleep 0.2
    port=$(sed -n 's/^Forwarding from 127.0.0.1:\([0-9]*\) .*/\1/p' "$log")
  done
  show_answers "http://127.0.0.1:$port"
  kill "$forward"
  cat <<END

The demo is up. To continue:
  kubectl get llm -A
  kubectl port-forward -n experimental service/demo 8080:80
  make demo-down CLUSTER=current
END
}
