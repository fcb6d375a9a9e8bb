# istio's control plane from its own charts, and a Gateway of its class, which istiod gives an Envoy and a Service. For benches alone.

install_istio() {
  local charts=${istio_bin%/bin}/manifests/charts
  import_images "$istiod" "$istio_proxy" "$endpoint_picker"
  kubectl apply --server-side -f "${inference_crds_bin%/bin}/config/crd/bases/inference.networking.k8s.io_inferencepools.yaml"
  helm upgrade --install istio-base "$charts/base" --namespace istio-system --create-namespace
  # Its filters for metrics, metadata of peers and ALPN are in its own build of Envoy alone.
  helm upgrade --install istiod "$charts/istio-control/istio-discovery" --namespace istio-system \
    --set "image=$istiod" --set "global.proxy.image=$istio_proxy" --set global.imagePullPolicy=Never \
    --set autoscaleEnabled=false --set telemetry.enabled=false \
    --set resources.requests.cpu=50m --set resources.requests.memory=128Mi \
    --set-string env.ENABLE_GATEWAY_API_INFERENCE_EXTENSION=true \
    --set-string env.PILOT_ENABLE_METADATA_EXCHANGE=false --set-string env.PILOT_ENABLE_ALPN_FILTER=false \
    --wait --timeout 3m
  kubectl apply -f "$local_folder/manifests/istio-gateway.yaml"
  kubectl wait --for=condition=Programmed gateway/istio --namespace llmservice-system --timeout=2m
}
