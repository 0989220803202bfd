{{/* Name of everything of a release: at most 48 characters, so that suffixes fit. */}}
{{- define "dbrender.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* What selects the pods. It never changes: a Deployment's selector cannot. */}}
{{- define "dbrender.selector" -}}
app.kubernetes.io/name: dbrender
app.kubernetes.io/component: controller
dbrender.app.example.com/release: {{ .Release.Name }}
{{- end }}

{{- define "dbrender.labels" -}}
{{ include "dbrender.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "dbrender.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "dbrender.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name is missing: with serviceAccount.create false it has to name the ServiceAccount that is there" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- define "dbrender.image" -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{- if .Values.image.digest -}}
{{- printf "%s:%s@%s" .Values.image.repository $tag .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository $tag -}}
{{- end -}}
{{- end }}

{{- define "dbrender.platformConfigMap" -}}
{{- if and .Values.platformConfigMap .Values.platform -}}
{{- fail "platform and platformConfigMap are both set: the platform file is in one of them" -}}
{{- end -}}
{{- default (printf "%s-platform" (include "dbrender.fullname" .)) .Values.platformConfigMap -}}
{{- end }}

{{- define "dbrender.webhookSecret" -}}
{{- $certificate := .Values.webhook.certificate -}}
{{- if eq $certificate.mode "existing" -}}
{{- required "webhook.certificate.secretName is missing: with the mode existing it has to name the Secret that is there" $certificate.secretName -}}
{{- else -}}
{{- default (printf "%s-webhook" (include "dbrender.fullname" .)) $certificate.secretName -}}
{{- end -}}
{{- end }}

{{/* A pod and a container as the restricted pod security standard wants them. */}}
{{- define "dbrender.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "dbrender.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop:
  - ALL
{{- end }}
