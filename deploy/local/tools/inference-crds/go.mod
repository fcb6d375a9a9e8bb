module llmservice.dev/local/inference-crds

go 1.26.7

require sigs.k8s.io/gateway-api-inference-extension v1.6.0
