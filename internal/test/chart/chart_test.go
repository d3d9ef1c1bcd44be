package chart

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

const (
	oneNode = `
baseURL: https://id.example.com
existingSecret: keystile
`
	threeNodes = `
baseURL: https://id.example.com
existingSecret: keystile
replicas: 3
postgres: {url: "postgres://keystile@db1:5432,db2:5432/keystile?sslmode=verify-full"}
redis: {url: "rediss://redis:6379"}
drainSeconds: 15
config:
  log: {level: warn}
  admin: {hosts: [metrics.internal]}
  mail: {smtp: {host: mail.example.com, from: id@example.com}}
`
	behindAnIngress = `
baseURL: https://id.example.com:8443
existingSecret: keystile
trustedProxies: [10.42.0.0/16]
ingress: {enabled: true, className: nginx, tlsSecret: id-tls, annotations: {cert-manager.io/cluster-issuer: ours}}
`
	everything = behindAnIngress + `
replicas: 2
postgres: {url: "postgres://keystile@db/keystile"}
image: {digest: "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
imagePullSecrets: [{name: pull}]
serviceMonitor: {enabled: true, labels: {release: prometheus}}
prometheusRule: {enabled: true, labels: {release: prometheus}}
dashboard: {enabled: true}
networkPolicy: {enabled: true}
service: {type: NodePort, annotations: {a: b}}
persistence: {size: 20Gi, storageClassName: fast, annotations: {c: d}}
serviceAccountName: keystile
priorityClassName: high
podAnnotations: {e: f}
podLabels: {g: h}
nodeSelector: {disk: ssd}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists}]}]}}}
extraEnv: [{name: KEYSTILE_MAIL_SMTP_PASSWORD, valueFrom: {secretKeyRef: {name: mail, key: password}}}]
` + documents
)

var every = map[string]string{"one node": oneNode, "three nodes": threeNodes, "behind an ingress": behindAnIngress,
	"everything": everything}

func TestHelmFindsNothingToMend(t *testing.T) {
	for name, values := range every {
		given := chartutil.Values{}
		fatal(t, yaml.UnmarshalStrict([]byte(values), &given))
		for _, m := range lint.All(folder, given, "sso", true).Messages {
			if m.Severity >= support.WarningSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

// container returns the one container, with what every way to install it promises.
func container(t *testing.T, m *manifests) core.Container {
	t.Helper()
	pod := m.set.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	c := pod.Containers[0]
	p, s := pod.SecurityContext, c.SecurityContext
	if !*p.RunAsNonRoot || *p.RunAsUser != 10001 || *p.FSGroup != 10001 ||
		p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault ||
		*s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
		!slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || s.Capabilities.Add != nil {
		t.Errorf("it may do %+v, %+v", p, s)
	}
	if pod.HostNetwork || pod.HostPID || *pod.EnableServiceLinks || *pod.AutomountServiceAccountToken {
		t.Error("the pod is told of the cluster, or has a part of the machine")
	}
	if len(c.EnvFrom) != 1 || c.EnvFrom[0].SecretRef.Name != "keystile" {
		t.Errorf("its secrets come from %v", c.EnvFrom)
	}
	return c
}

func TestWayToInstallItIsWhole(t *testing.T) {
	for name, values := range every {
		t.Run(name, func(t *testing.T) {
			m := rendered(t, values)
			c := container(t, m)
			selected := labels.Set(m.set.Spec.Template.Labels)
			selects := map[string]*meta.LabelSelector{"the set": m.set.Spec.Selector}
			for name, s := range m.services {
				selects[name] = &meta.LabelSelector{MatchLabels: s.Spec.Selector}
				for _, p := range s.Spec.Ports {
					if !slices.ContainsFunc(c.Ports, func(to core.ContainerPort) bool { return to.Name == p.TargetPort.StrVal }) {
						t.Errorf("%s leads to the port %v, which there is not", name, p.TargetPort)
					}
				}
			}
			if m.budget != nil {
				selects["the budget"] = m.budget.Spec.Selector
			}
			if m.policy != nil {
				selects["the policy"] = &m.policy.Spec.PodSelector
			}
			for name, s := range selects {
				selector, err := meta.LabelSelectorAsSelector(s)
				if err != nil || selector.Empty() || !selector.Matches(selected) {
					t.Errorf("%s selects %v (%v), and the pods are %v", name, s, err, selected)
				}
				if m.job != nil && selector.Matches(labels.Set(m.job.Spec.Template.Labels)) {
					t.Errorf("%s takes the pod of the Job for a node", name)
				}
			}
			if _, is := m.services[m.set.Spec.ServiceName]; !is ||
				m.services[m.set.Spec.ServiceName].Spec.ClusterIP != core.ClusterIPNone {
				t.Errorf("the pods have no names by %q", m.set.Spec.ServiceName)
			}
			for _, v := range c.VolumeMounts {
				inPod := slices.ContainsFunc(m.set.Spec.Template.Spec.Volumes,
					func(to core.Volume) bool { return to.Name == v.Name })
				own := slices.ContainsFunc(m.set.Spec.VolumeClaimTemplates,
					func(to core.PersistentVolumeClaim) bool { return to.Name == v.Name })
				if inPod == own {
					t.Errorf("the volume %s is there %v, %v", v.Name, inPod, own)
				}
			}
		})
	}
}

func TestChartOfOneNodeKeepsItsStoreInAVolume(t *testing.T) {
	m := rendered(t, oneNode)
	if *m.set.Spec.Replicas != 1 || m.budget != nil || m.ingress != nil || m.policy != nil || m.monitor != nil ||
		m.rules != nil || m.job != nil || len(m.configs) != 1 {
		t.Errorf("more than a node is made: %+v", m)
	}
	claim := m.set.Spec.VolumeClaimTemplates[0].Spec
	if claim.StorageClassName != nil || !claim.Resources.Requests.Storage().Equal(resource.MustParse("10Gi")) ||
		claim.AccessModes[0] != core.ReadWriteOnce {
		t.Errorf("its volume is %+v", claim)
	}
	if grace := *m.set.Spec.Template.Spec.TerminationGracePeriodSeconds; grace != 30 {
		t.Errorf("it gets %d s to drain for 10 s", grace)
	}
	if !strings.Contains(m.notes, "id-keystile-0 -- keystile user set admin --password -") ||
		!strings.Contains(m.notes, "There is no Ingress") {
		t.Errorf("people are told %s", m.notes)
	}
}

func TestChartOfSeveralNodesSurvivesTheLossOfOne(t *testing.T) {
	m := rendered(t, threeNodes)
	spec := m.set.Spec
	if *spec.Replicas != 3 || m.budget.Spec.MaxUnavailable.IntValue() != 1 ||
		len(spec.Template.Spec.TopologySpreadConstraints) != 1 || spec.PodManagementPolicy != "OrderedReady" {
		t.Errorf("the nodes are %+v", spec)
	}
	if grace := *spec.Template.Spec.TerminationGracePeriodSeconds; grace != 35 {
		t.Errorf("they get %d s to drain for 15 s", grace)
	}
	if !slices.ContainsFunc(spec.Template.Spec.Containers[0].Env, func(v core.EnvVar) bool {
		return v.Name == "KEYSTILE_NODE_NAME" && v.ValueFrom.FieldRef.FieldPath == "metadata.name"
	}) {
		t.Error("nodes have no names of their own")
	}
}

func TestIngressLeadsToTheService(t *testing.T) {
	m := rendered(t, behindAnIngress)
	rule := m.ingress.Spec.Rules[0]
	to := rule.HTTP.Paths[0].Backend.Service
	if rule.Host != "id.example.com" || m.ingress.Spec.TLS[0].Hosts[0] != "id.example.com" ||
		m.ingress.Spec.TLS[0].SecretName != "id-tls" || *m.ingress.Spec.IngressClassName != "nginx" {
		t.Errorf("the ingress is %+v", m.ingress.Spec)
	}
	if s, is := m.services[to.Name]; !is || s.Spec.Ports[0].Name != to.Port.Name ||
		s.Spec.ClusterIP == core.ClusterIPNone {
		t.Errorf("it leads to %+v", to)
	}
}

func TestChartBringsMonitoring(t *testing.T) {
	m := rendered(t, everything)
	for name, s := range m.services {
		selector, err := meta.LabelSelectorAsSelector(&m.monitor.Spec.Selector)
		fatal(t, err)
		if selector.Matches(labels.Set(s.Labels)) != (s.Spec.ClusterIP == core.ClusterIPNone) {
			t.Errorf("metrics are read through %s", name)
		}
	}
	if job := m.services[m.set.Spec.ServiceName].Labels[m.monitor.Spec.JobLabel]; job != "keystile" ||
		m.monitor.Spec.Endpoints[0].Port != "admin" {
		t.Errorf("the job is %q: %+v", job, m.monitor.Spec)
	}
	var alerts, got any
	text, err := os.ReadFile(folder + "/files/alerts.yaml")
	fatal(t, err)
	fatal(t, yaml.Unmarshal(text, &alerts))
	spec, err := json.Marshal(m.rules.Spec)
	fatal(t, err)
	fatal(t, json.Unmarshal(spec, &got))
	if a, b := must(json.Marshal(alerts)), must(json.Marshal(got)); string(a) != string(b) {
		t.Errorf("the rules are %s, want %s", b, a)
	}
	dashboard, err := os.ReadFile(folder + "/files/grafana.json")
	fatal(t, err)
	if c := m.configs["id-keystile-dashboard"]; c.Data["keystile.json"] != strings.TrimSuffix(string(dashboard), "\n") ||
		c.Labels["grafana_dashboard"] != "1" {
		t.Error("the dashboard is another")
	}
	var ports []string
	for _, r := range m.policy.Spec.Ingress {
		ports = append(ports, r.Ports[0].Port.StrVal)
		if len(r.From) == 0 {
			t.Errorf("everybody may connect to %v", r.Ports)
		}
	}
	if !slices.Equal(ports, []string{"http", "admin"}) {
		t.Errorf("one may connect to %v", ports)
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

func TestChangeOfTheConfigurationStartsThePodsAnew(t *testing.T) {
	sum := func(values string) string {
		return rendered(t, values).set.Spec.Template.Annotations["checksum/config"]
	}
	if a := sum(oneNode); len(a) != 64 || a == sum(oneNode+"config: {log: {level: warn}}\n") || a != sum(oneNode) {
		t.Errorf("the sum of the configuration is %q", a)
	}
}

func TestNamesFitWhateverTheReleaseIsCalled(t *testing.T) {
	for _, name := range []string{"id", "keystile", "my-keystile-2", strings.Repeat("a", 53),
		"keystile-" + strings.Repeat("b", 44)} {
		files, err := renderAs(t, name, everything)
		fatal(t, err)
		m := read(t, files)
		names := append(slices.Collect(maps.Keys(m.services)), m.set.Name+"-49")
		for _, n := range names {
			if errs := validation.IsDNS1035Label(n); errs != nil {
				t.Errorf("a release %s has a name %s: %v", name, n, errs)
			}
		}
	}
}
