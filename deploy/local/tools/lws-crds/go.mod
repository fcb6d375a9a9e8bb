module llmservice.dev/local/lws-crds

go 1.26.7

require sigs.k8s.io/lws v0.9.0
