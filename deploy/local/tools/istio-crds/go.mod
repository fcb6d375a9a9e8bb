module llmservice.dev/local/istio-crds

go 1.26.7

require istio.io/api v1.31.1
