package chart

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	root    = "../../.."
	folder  = root + "/examples/deploy/chart"
	release = "id"
)

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(folder)
	fatal(t, err)
	return c
}

func fatal(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// render renders the chart with values, as helm template does, and returns its files.
func render(t *testing.T, values string) (map[string]string, error) {
	return renderAs(t, release, values)
}

// renderAs renders a release that is called so.
func renderAs(t *testing.T, name, values string) (map[string]string, error) {
	t.Helper()
	given := chartutil.Values{}
	fatal(t, yaml.UnmarshalStrict([]byte(values), &given))
	c := load(t)
	all, err := chartutil.ToRenderValues(c, given, chartutil.ReleaseOptions{Name: name, Namespace: "sso", Revision: 1,
		IsInstall: true}, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// manifests are all that is rendered, read strictly: a field that Kubernetes does not know is an error.
type manifests struct {
	configs  map[string]core.ConfigMap
	services map[string]core.Service
	set      *apps.StatefulSet
	job      *batch.Job
	ingress  *networking.Ingress
	policy   *networking.NetworkPolicy
	budget   *policy.PodDisruptionBudget
	monitor  *monitoring.ServiceMonitor
	rules    *monitoring.PrometheusRule
	notes    string
}

func rendered(t *testing.T, values string) *manifests {
	t.Helper()
	files, err := render(t, values)
	fatal(t, err)
	return read(t, files)
}

func read(t *testing.T, files map[string]string) *manifests {
	t.Helper()
	m := &manifests{configs: map[string]core.ConfigMap{}, services: map[string]core.Service{}}
	for name, text := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			m.notes = text
			continue
		}
		documents := kyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
		for {
			document, err := documents.Read()
			if err == io.EOF {
				break
			}
			fatal(t, err)
			if err := m.read(document); err != nil {
				t.Errorf("%s: %v\n%s", name, err, document)
			}
		}
	}
	return m
}

func (m *manifests) read(document []byte) error {
	var kind struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	switch kind.APIVersion + " " + kind.Kind {
	case " ": // nothing but a comment
		return nil
	case "v1 ConfigMap":
		var c *core.ConfigMap
		err := strictly(document, &c)
		m.configs[c.Name] = *c
		return err
	case "v1 Service":
		var s *core.Service
		err := strictly(document, &s)
		m.services[s.Name] = *s
		return err
	case "apps/v1 StatefulSet":
		return strictly(document, &m.set)
	case "batch/v1 Job":
		return strictly(document, &m.job)
	case "networking.k8s.io/v1 Ingress":
		return strictly(document, &m.ingress)
	case "networking.k8s.io/v1 NetworkPolicy":
		return strictly(document, &m.policy)
	case "policy/v1 PodDisruptionBudget":
		return strictly(document, &m.budget)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return strictly(document, &m.monitor)
	case "monitoring.coreos.com/v1 PrometheusRule":
		return strictly(document, &m.rules)
	}
	return fmt.Errorf("nobody knows a %v", kind)
}

// strictly reads the one document of its kind as the API server does: a field that there is not, or that is spelt
// in other letters, is an error.
func strictly[T any](document []byte, into **T) error {
	if *into != nil {
		return fmt.Errorf("there are two")
	}
	*into = new(T)
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	unknown, err := kjson.UnmarshalStrict(text, *into)
	return errors.Join(append(unknown, err)...)
}

// program is a keystile that is built once.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "keystile-chart")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "keystile")
	build := exec.Command("go", "build", "-o", program, "./cmd/keystile")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// environment is that of a container, and nothing of this process.
func environment(c core.Container, more ...string) (env []string) {
	for _, v := range c.Env {
		if v.ValueFrom == nil {
			env = append(env, v.Name+"="+v.Value)
		} else if v.ValueFrom.FieldRef != nil {
			env = append(env, v.Name+"="+release+"-keystile-0")
		}
	}
	return append(env, append(more, "PATH="+os.Getenv("PATH"), "HOME="+os.TempDir())...)
}
