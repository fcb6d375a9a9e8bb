module llmservice.dev/local/keda-crds

go 1.26.7

require github.com/kedacore/keda/v2 v2.21.0
