{{- define "service.name" -}}
{{ .Values.name | default .Release.Name }}
{{- end }}

{{- define "service.labels" -}}
app.kubernetes.io/name: llm-service
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Name of the Job that waits, and of what it needs. */}}
{{- define "service.waiter" -}}
{{ include "service.name" . }}-wait
{{- end }}
