{{/* "true" where objects for Prometheus's operator and Grafana's sidecar are wanted. */}}
{{- define "monitoring.wanted" -}}
{{- $enabled := toString .Values.monitoring.enabled }}
{{- if or (eq $enabled "true") (and (eq $enabled "auto") (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1")) }}true{{ end }}
{{- end }}

{{- define "monitoring.labels" -}}
{{ include "operator.labels" . }}
{{- with .Values.monitoring.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A file of monitoring/, with the values that its rules and queries depend on: (list . PATH). */}}
{{- define "monitoring.file" -}}
{{- $root := index . 0 }}
{{- $rules := $root.Values.monitoring.rules }}
{{- $objectives := $rules.objectives }}
{{- $root.Files.Get (printf "monitoring/%s" (index . 1))
  | replace "__RUNBOOKS__" $rules.runbooks
  | replace "__FAILED_BUDGET__" (divf (subf 100 $objectives.answeredPercent) 100 | toString)
  | replace "__LATE_BUDGET__" (divf (subf 100 $objectives.firstTokenPercent) 100 | toString)
  | replace "__FIRST_TOKEN_SECONDS__" (toString $objectives.firstTokenSeconds)
  | replace "__NAMESPACE__" $root.Release.Namespace }}
{{- end }}
