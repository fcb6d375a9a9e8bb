{{/*
"true" where objects are wanted: (list . NAME), with NAME podMonitors, rules or dashboards. A cluster may serve one kind of
Prometheus's operator without the other; dashboards come with either. A release of an older chart has none of these values where
it is upgraded with --reuse-values.
*/}}
{{- define "monitoring.wanted" -}}
{{- $root := index . 0 }}
{{- $monitoring := $root.Values.monitoring | default dict }}
{{- $enabled := dig "enabled" "auto" $monitoring | toString }}
{{- $kinds := dict "podMonitors" (list "PodMonitor") "rules" (list "PrometheusRule") "dashboards" (list "PodMonitor" "PrometheusRule") }}
{{- $served := false }}
{{- range get $kinds (index . 1) }}
{{- $served = or $served ($root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .)) }}
{{- end }}
{{- if and (dig (index . 1) "enabled" true $monitoring) (or (eq $enabled "true") (and (eq $enabled "auto") $served)) }}true{{ end }}
{{- end }}

{{/*
"true" where the chart has Prometheus scrape the operator and the activator: elsewhere an alert of their absence fires for ever.
*/}}
{{- define "monitoring.scraped" -}}
{{- $policies := .Values.networkPolicies | default dict }}
{{- $closed := and (dig "enabled" false $policies) (empty (dig "metricsFrom" list $policies)) }}
{{- if and (include "monitoring.wanted" (list . "podMonitors")) (not $closed) }}true{{ end }}
{{- end }}

{{- define "monitoring.labels" -}}
{{ include "operator.labels" . }}
{{- with (.Values.monitoring).labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* A file of monitoring/, with the values that its rules and queries depend on: (list . PATH). */}}
{{- define "monitoring.file" -}}
{{- $root := index . 0 }}
{{- $rules := dig "rules" dict ($root.Values.monitoring | default dict) }}
{{- $objectives := dig "objectives" dict $rules }}
{{- $runbooks := "https://github.com/llmservice/llmservice/blob/main/deploy/docs/on-call.md" }}
{{- $root.Files.Get (printf "monitoring/%s" (index . 1))
  | replace "__RUNBOOKS__" (dig "runbooks" $runbooks $rules)
  | replace "__FAILED_BUDGET__" (divf (subf 100 (dig "answeredPercent" 99.9 $objectives)) 100 | toString)
  | replace "__LATE_BUDGET__" (divf (subf 100 (dig "firstTokenPercent" 95 $objectives)) 100 | toString)
  | replace "__FIRST_TOKEN_SECONDS__" (dig "firstTokenSeconds" 2.5 $objectives | toString)
  | replace "__NAMESPACE__" $root.Release.Namespace }}
{{- end }}
