# containerd, the kubelet and kube-proxy: what makes a set of namespaces a Kubernetes node.

# Whether `cluster.sh image-volumes` was asked for them. Kubernetes has them by default from 1.35 on.
image_volumes() { [[ -f $state/image-volumes ]]; }
feature_gates() { if image_volumes; then echo ImageVolume=true; else echo ImageVolume=false; fi; }

# The system's, or that of the tools where image volumes are wanted, which Debian's is too old for.
start_containerd() {
  local path=$PATH
  if image_volumes; then
    find_tools containerd
    path=$containerd_bin:$path
  fi
  mkdir -p "$state/cni-config" "$state/registries"
  render "$local_folder/config/containerd.toml" >"$state/containerd.toml"
  render "$local_folder/config/cni.conflist" >"$state/cni-config/pods.conflist"
  start_daemon containerd env "PATH=$path" containerd --config "$node_state/containerd.toml"
}

# A reaction within this limit tells a working containerd from a hanging one.
containerd_ready() { in_node ctr --timeout 2s version; }

start_kubelet() {
  render "$local_folder/config/kubelet.yaml" >"$state/kubelet.yaml"
  start_daemon kubelet "$kubernetes_bin/kubelet" --config "$node_state/kubelet.yaml" \
    --kubeconfig "$node_state/pki/kubelet.kubeconfig" --hostname-override "$node_name" --node-ip "$node_ip" \
    --feature-gates "$(feature_gates)"
}

start_proxy() {
  # conntrack's limits belong to the whole machine and are left alone (the zeros).
  start_daemon proxy "$kubernetes_bin/kube-proxy" --kubeconfig "$node_state/pki/proxy.kubeconfig" --proxy-mode iptables \
    --cluster-cidr "$pod_cidr" --hostname-override "$node_name" --oom-score-adj 0 --conntrack-max-per-core 0 \
    --conntrack-tcp-timeout-established 0 --conntrack-tcp-timeout-close-wait 0
}

node_ready() { kubectl wait --for=condition=Ready "node/$node_name" --timeout=1s; }

start_node_agents() {
  daemon_running kubelet || start_kubelet
  daemon_running proxy || start_proxy
  wait_for 'node' 60 kubelet node_ready
}
