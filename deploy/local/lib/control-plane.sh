# etcd, the API server, the controller manager and the scheduler, each startable alone so that tests can restart it.

start_etcd() {
  # fsync buys nothing here: the data does not outlive the cluster.
  start_daemon etcd "$etcd_bin/etcd" --name "$node_name" --data-dir "$node_state/etcd" --unsafe-no-fsync \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster "$node_name=http://127.0.0.1:2380" --log-level warn
}

start_apiserver() {
  local pki=$node_state/pki
  start_daemon apiserver "$kubernetes_bin/kube-apiserver" --etcd-servers http://127.0.0.1:2379 \
    --bind-address 0.0.0.0 --advertise-address "$node_ip" --secure-port 6443 --service-cluster-ip-range "$service_cidr" \
    --authorization-mode Node,RBAC --client-ca-file "$pki/ca.crt" --allow-privileged=true \
    --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
    --kubelet-client-certificate "$pki/apiserver-to-kubelet.crt" --kubelet-client-key "$pki/apiserver-to-kubelet.key" \
    --kubelet-preferred-address-types InternalIP,Hostname \
    --service-account-issuer https://kubernetes.default.svc.cluster.local \
    --service-account-key-file "$pki/service-accounts.key" --service-account-signing-key-file "$pki/service-accounts.key" \
    --event-ttl 1h --profiling=false --feature-gates "$(feature_gates)"
}

start_controller_manager() {
  local pki=$node_state/pki
  start_daemon controller-manager "$kubernetes_bin/kube-controller-manager" --kubeconfig "$pki/controller-manager.kubeconfig" \
    --root-ca-file "$pki/ca.crt" --service-account-private-key-file "$pki/service-accounts.key" \
    --use-service-account-credentials --leader-elect=false --bind-address 127.0.0.1 --profiling=false
}

start_scheduler() {
  start_daemon scheduler "$kubernetes_bin/kube-scheduler" --kubeconfig "$node_state/pki/scheduler.kubeconfig" \
    --leader-elect=false --bind-address 127.0.0.1 --profiling=false
}

apiserver_ready() { kubectl get --raw /readyz --request-timeout=2s; }

start_control_plane() {
  daemon_running etcd || start_etcd
  daemon_running apiserver || start_apiserver
  wait_for 'API server' 60 apiserver apiserver_ready
  daemon_running controller-manager || start_controller_manager
  daemon_running scheduler || start_scheduler
}
