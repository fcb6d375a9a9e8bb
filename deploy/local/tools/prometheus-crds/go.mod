module llmservice.dev/local/prometheus-crds

go 1.26.7

require github.com/prometheus-operator/prometheus-operator v0.85.0
