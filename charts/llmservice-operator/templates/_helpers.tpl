{{/* Labels that select the operator's pods; they never change. */}}
{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: llmservice-operator
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "operator.labels" -}}
{{ include "operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Whose services are looked after, separated by commas; empty: those of all namespaces. */}}
{{- define "operator.namespaces" -}}
{{- with .Values.watchNamespace }}{{ if kindIs "slice" . }}{{ join "," . }}{{ else }}{{ . }}{{ end }}{{ end }}
{{- end }}

{{/* Of the operator and the activator alike: by its digest, which no tag can move, where there is one. */}}
{{- define "operator.image" -}}
{{- with .Values.image }}
{{- .repository }}{{ with .digest }}@{{ . }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Of the activator's pods; they never change. */}}
{{- define "activator.selectorLabels" -}}
app.kubernetes.io/name: llmservice-activator
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "activator.labels" -}}
{{ include "activator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* What the operator may do with the objects of the namespaces that it serves. */}}
{{- define "operator.rules" -}}
- apiGroups: [llmservice.dev]
  resources: [llmservices, llmgateways]
  verbs: [get, list, watch]
- apiGroups: [llmservice.dev]
  resources: [llmservices/status, llmgateways/status]
  verbs: [get, patch]
# Replicas by load, as other autoscalers set them.
- apiGroups: [llmservice.dev]
  resources: [llmservices/scale]
  verbs: [patch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [keda.sh]
  resources: [scaledobjects]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: ['']
  resources: [services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: ['']
  resources: [configmaps]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch, create, patch, delete]
# Those that pull weights ahead (spec.model.cache.prePull).
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, patch, delete]
# Of services that may fall asleep.
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [gateway.networking.k8s.io]
  resources: [httproutes, backendtlspolicies]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.istio.io]
  resources: [virtualservices, destinationrules]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [leaderworkerset.x-k8s.io]
  resources: [leaderworkersets]
  verbs: [get, list, watch, create, patch, delete]
# Those that are left when endpointPicker.image is taken out; with it more rights follow.
- apiGroups: [inference.networking.k8s.io]
  resources: [inferencepools]
  verbs: [get, list, watch, delete]
- apiGroups: ['']
  resources: [pods]
  verbs: [list, watch]
# Why vLLM ended stands in its log alone.
- apiGroups: ['']
  resources: [pods/log]
  verbs: [get]
# The Secrets that a service names, and of which it uses those with the label for it; never listed or watched.
- apiGroups: ['']
  resources: [secrets]
  verbs: [get]
# The claims of pvc:// URIs: whether they are there and bound.
- apiGroups: ['']
  resources: [persistentvolumeclaims]
  verbs: [get]
# Devices by claims (spec.accelerator.claim): the templates of these, and which devices are taken.
- apiGroups: [resource.k8s.io]
  resources: [resourceclaimtemplates]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [resource.k8s.io]
  resources: [resourceclaims]
  verbs: [list]
# Why Kueue holds a pod (spec.queueName).
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [list]
- apiGroups: ['']
  resources: [events]
  verbs: [create]
{{- end }}

{{- define "operator.pickerRules" -}}
# InferencePools of services, and what their endpoint pickers run with. Kubernetes lets the operator give no Role more
# than it has itself; it deletes none of the three: they go with their service.
- apiGroups: [inference.networking.k8s.io]
  resources: [inferencepools]
  verbs: [create, patch]
- apiGroups: ['']
  resources: [serviceaccounts]
  verbs: [get, list, watch, create, patch]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: [get, list, watch, create, patch]
# For pickers alone.
- apiGroups: [inference.networking.x-k8s.io, llm-d.ai]
  resources: [inferenceobjectives, inferencemodelrewrites]
  verbs: [list, watch]
{{- end }}
