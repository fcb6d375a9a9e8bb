# Cluster DNS and the gateway: CoreDNS, Envoy Gateway from its own chart, and the Gateway that every HTTPRoute attaches to.

start_dns() {
  import_images "$coredns"
  render "$local_folder/manifests/coredns.yaml" | sed "s|@COREDNS_IMAGE@|$coredns|" | kubectl apply -f -
}

install_gateway() {
  local chart=$state/envoy-gateway-chart module_chart
  module_chart=${envoy_gateway_bin%/bin}/charts/gateway-helm
  import_images "$envoy_gateway" "$envoy"
  rm -rf "$chart"
  cp -r "$module_chart" "$chart"
  chmod -R u+w "$chart"
  # The released chart is this one with two placeholders filled in.
  sed -e "s|\${GatewayImage}|$envoy_gateway|" -e 's|${GatewayImagePullPolicy}|IfNotPresent|' "$chart/values.tmpl.yaml" >"$chart/values.yaml"
  helm upgrade --install envoy-gateway "$chart" --namespace envoy-gateway-system --create-namespace \
    --set topologyInjector.enabled=false --set deployment.envoyGateway.readinessProbe.periodSeconds=1
  render "$local_folder/manifests/gateway.yaml" | sed "s|@ENVOY_IMAGE@|$envoy|" | kubectl apply -f -
}

gateway_programmed() {
  kubectl wait --for=condition=Programmed gateway/llmservice --namespace llmservice-system --timeout=2s &&
    curl -s -o /dev/null --max-time 2 "http://$node_ip/"
}
