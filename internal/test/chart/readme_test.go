package chart

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

var settings = regexp.MustCompile(`--set (\S+)`)

// A reader who follows the page gets what it promises.
func TestReadmeSettingsAreTakenByTheChart(t *testing.T) {
	text, err := os.ReadFile(folder + "/../README.md")
	fatal(t, err)
	values := map[string]any{}
	for _, found := range settings.FindAllStringSubmatch(string(text), -1) {
		fatal(t, strvals.ParseInto(strings.ReplaceAll(found[1], "'", ""), values))
	}
	given, err := yaml.Marshal(values)
	fatal(t, err)
	m := rendered(t, string(given))
	c := container(t, m)
	if *m.set.Spec.Replicas != 3 || m.ingress == nil || m.monitor == nil || m.rules == nil || len(m.configs) != 2 ||
		c.Image != "registry.example.com/keystile:v1.0.0" {
		t.Errorf("it makes %d nodes of %s, and %+v", *m.set.Spec.Replicas, c.Image, m)
	}
}
