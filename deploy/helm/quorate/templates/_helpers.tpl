{{- define "quorate.labels" -}}
app.kubernetes.io/name: quorate
app.kubernetes.io/component: operator
{{- end }}

{{- define "quorate.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end }}

{{- define "quorate.memberLabels" -}}
app.kubernetes.io/managed-by: quorate
app.kubernetes.io/component: member
{{- end }}
