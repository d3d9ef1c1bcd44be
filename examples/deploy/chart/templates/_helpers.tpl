{{- define "keystile.name" -}}
{{- if contains "keystile" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-keystile" (.Release.Name | trunc 43 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "keystile.selector" -}}
app.kubernetes.io/name: keystile
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "keystile.labels" -}}
{{ include "keystile.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "keystile.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag }}{{ end }}
{{- end }}

{{- /* What every pod, and every container, may do. */ -}}
{{- define "keystile.pod" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "keystile.container" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* What a schema cannot say, or not say well. */ -}}
{{- define "keystile.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.postgres.url) }}
{{- fail "replicas: several nodes need one database: set postgres.url, or replicas to 1" }}
{{- end }}
{{- if regexMatch "^[a-z]+://[^/@?]*:[^/@?]*@" .Values.postgres.url }}
{{- fail "postgres.url: leave the password out, it would stand in a ConfigMap: put it into the Secret of existingSecret as PGPASSWORD" }}
{{- end }}
{{- if regexMatch "^[a-z]+://[^/@?]*:[^/@?]*@" .Values.redis.url }}
{{- fail "redis.url: leave the password out, it would stand in a ConfigMap: put the whole address into the Secret of existingSecret as KEYSTILE_REDIS_URL" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.trustedProxies) }}
{{- fail "trustedProxies: name the network of the ingress controller's pods, or all people are one address to the service, and share its limits" }}
{{- end }}
{{- range $key := list "base_url" "listen" "data" "storage_url" "redis_url" "trusted_proxies" "drain" "node_name" "master_key" }}
{{- if hasKey $.Values.config $key }}
{{- fail (printf "config.%s: the chart sets it from other values, see the top of values.yaml" $key) }}
{{- end }}
{{- end }}
{{- if hasKey (default dict .Values.config.admin) "listen" }}
{{- fail "config.admin.listen: the chart sets it, since probes and metrics are there" }}
{{- end }}
{{- range $d := .Values.apply.documents }}
{{- $secrets := pick $d "auth_secret" "webhook_secret" }}
{{- if kindIs "map" $d.headers }}
{{- range $name, $value := $d.headers }}{{ $_ := set $secrets (printf "headers.%s" $name) $value }}{{ end }}
{{- end }}
{{- range $field, $value := $secrets }}
{{- if or (not (kindIs "map" $value)) (not (hasKey (default dict $value) "env")) }}
{{- fail (printf "apply.documents: %s of %s %s would stand in a ConfigMap: write {env: NAME}, and put it as NAME into the Secret of apply.existingSecret" $field $d.kind $d.name) }}
{{- end }}
{{- if not $.Values.apply.existingSecret }}
{{- fail (printf "apply.existingSecret: name the Secret that has %s of %s %s" $field $d.kind $d.name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "keystile.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $_ := set $config "base_url" .Values.baseURL }}
{{- $_ := set $config "listen" "0.0.0.0:8080" }}
{{- $_ := set $config "drain" (printf "%ds" (int .Values.drainSeconds)) }}
{{- $_ := set $config "admin" (merge (dict "listen" "0.0.0.0:9090") (default dict $config.admin)) }}
{{- $_ := set $config "log" (merge (default dict $config.log) (dict "format" "json")) }}
{{- with .Values.postgres.url }}{{ $_ := set $config "storage_url" . }}{{ end }}
{{- with .Values.redis.url }}{{ $_ := set $config "redis_url" . }}{{ end }}
{{- with .Values.trustedProxies }}{{ $_ := set $config "trusted_proxies" . }}{{ end }}
{{- toYaml $config }}
{{- end }}
