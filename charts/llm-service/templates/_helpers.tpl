{{- define "service.name" -}}
{{ .Values.name | default .Release.Name }}
{{- end }}

{{- define "service.labels" -}}
app.kubernetes.io/name: llm-service
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Of the Job that waits: by its digest, which no tag can move, where there is one. */}}
{{- define "service.operatorImage" -}}
{{- with .Values.operatorImage }}
{{- .repository }}{{ with .digest }}@{{ . }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Name of the Job that waits, and of what it needs. */}}
{{- define "service.waiter" -}}
{{ include "service.name" . }}-wait
{{- end }}
