# The cluster's certificate authority, and a certificate per program that talks to the API server. Made once per `up`.

# issue NAME SUBJECT [EXTENSIONS]: NAME.key and NAME.crt in the pki folder, signed by the cluster's authority.
issue() {
  local name=$1 subject=$2 extensions=${3:-extendedKeyUsage=clientAuth} pki=$state/pki
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$pki/$name.key" -subj "$subject" \
    -out "$pki/$name.csr" 2>/dev/null
  openssl x509 -req -in "$pki/$name.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -CAcreateserial -days 365 \
    -extfile <(printf '%s\n' "$extensions") -out "$pki/$name.crt" 2>/dev/null
  chmod 600 "$pki/$name.key"
}

# kubeconfig_for NAME: a kubeconfig with NAME's certificate inside, so that it may be copied anywhere.
kubeconfig_for() {
  local pki=$state/pki
  cat <<END
apiVersion: v1
kind: Config
clusters:
  - name: llmservice-local
    cluster: { server: 'https://$node_ip:6443', certificate-authority-data: $(base64 -w0 "$pki/ca.crt") }
users:
  - name: $1
    user:
      client-certificate-data: $(base64 -w0 "$pki/$1.crt")
      client-key-data: $(base64 -w0 "$pki/$1.key")
contexts:
  - { name: llmservice-local, context: { cluster: llmservice-local, user: $1 } }
current-context: llmservice-local
END
}

make_certificates() {
  local pki=$state/pki program
  [[ -f $pki/done ]] && return
  mkdir -p -m 700 "$pki"
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$pki/ca.key" -subj /CN=llmservice-local \
    -days 365 -out "$pki/ca.crt" 2>/dev/null
  openssl genrsa -out "$pki/service-accounts.key" 2048 2>/dev/null
  issue apiserver /CN=kube-apiserver "extendedKeyUsage=serverAuth
subjectAltName=IP:$node_ip,IP:127.0.0.1,IP:10.96.0.1,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
  issue apiserver-to-kubelet /O=system:masters/CN=kube-apiserver
  issue admin /O=system:masters/CN=admin
  issue kubelet "/O=system:nodes/CN=system:node:$node_name"
  for program in controller-manager scheduler proxy; do issue "$program" "/CN=system:kube-$program"; done
  for program in kubelet controller-manager scheduler proxy; do kubeconfig_for "$program" >"$pki/$program.kubeconfig"; done
  kubeconfig_for admin >"$state/kubeconfig"
  chmod 600 "$state/kubeconfig" "$pki"/*.kubeconfig
  touch "$pki/done"
}
