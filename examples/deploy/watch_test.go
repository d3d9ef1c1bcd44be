package deploy

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// The chart brings both along, so they lie there.
const (
	alertsFile    = "chart/files/alerts.yaml"
	dashboardFile = "chart/files/grafana.json"
)

// dashboard is as much of one as is judged.
type dashboard struct {
	SchemaVersion int
	Annotations   struct{ List []struct{ Expr string } }
	Templating    struct {
		List []struct {
			Name, Type, Definition, AllValue string
		}
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               struct{ Type, UID string }
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	fatal(t, json.Unmarshal([]byte(read(t, dashboardFile)), &d))
	return d
}

// asGrafana replaces the variables of a query with what Grafana does, where all is chosen. It looks over as much
// as four scrapes, and here ten.
func asGrafana(expr string) string {
	return strings.NewReplacer("$__rate_interval", "10s", "$job", ".+", "$instance", ".+").Replace(expr)
}

// queries returns each query of the dashboard.
func (d dashboard) queries(t *testing.T) (all []string) {
	t.Helper()
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			expr := asGrafana(target.Expr)
			if strings.Contains(expr, "$") || !strings.Contains(target.Expr, `job=~"$job", instance=~"$instance"`) {
				t.Errorf("%s %s does not ask by the variables that there are: %s", p.Title, target.RefID, target.Expr)
			}
			all = append(all, expr)
		}
	}
	return all
}

// rules is as much of a file of rules as there is.
type rules struct {
	Groups []struct {
		Name  string
		Rules []rule
	}
}

type rule struct {
	Alert, Expr         string
	Holds               string `yaml:"for"`
	Labels, Annotations map[string]string
}

func readRules(t *testing.T) (all []rule) {
	t.Helper()
	var file rules
	d := yaml.NewDecoder(strings.NewReader(read(t, alertsFile)))
	d.KnownFields(true)
	fatal(t, d.Decode(&file))
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// selectors finds what an expression selects: a metric's name, and what stands in braces behind it.
var selectors = regexp.MustCompile(`\b(?:keystile_|process_|go_|up\b)\w*(?:\{[^}]*\})?`)

// A real Prometheus watches a node on a data folder and one on PostgreSQL and Redis that are used in every way.
// Each query of each panel returns numbers, and each rule is one that Prometheus evaluates, over series that exist.
func TestPanelShowsAServiceThatIsUsedAndEveryRuleIsEvaluated(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two nodes and Prometheus")
	}
	installed(t, "prometheus")
	up := newUpstream(t)
	nodes := startNodes(t, up.URL)
	p := startPrometheus(t, nodes)
	use(t, nodes)

	asked := readDashboard(t).queries(t)
	for _, r := range readRules(t) {
		asked = append(asked, selectors.FindAllString(r.Expr, -1)...)
	}
	slices.Sort(asked)
	asked = slices.Compact(asked)
	if len(asked) < 100 {
		t.Fatalf("%d queries: the test reads the wrong files", len(asked))
	}
	for _, query := range p.silent(t, asked, patience) {
		t.Errorf("nothing is returned for %s", query)
	}
	for _, planted := range []string{`sum(rate(keystile_no_such_metric_total[10s]))`, `keystile_tokens_issued_total{grant_type="implicit"}`} {
		if left := p.silent(t, []string{planted}, 3*time.Second); len(left) != 1 {
			t.Errorf("a query that cannot return anything goes unnoticed: %s", planted)
		}
	}
	p.wantRulesInOrder(t)
	p.wantVariables(t)
}

// wantRulesInOrder waits until each rule was evaluated, without an error.
func (p *prometheus) wantRulesInOrder(t *testing.T) {
	t.Helper()
	want, well := len(readRules(t)), 0
	if !until(t, patience, func(ctx context.Context) bool {
		var data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
		fatal(t, p.get(ctx, "/api/v1/rules", nil, &data))
		well = 0
		for _, g := range data.Groups {
			for _, r := range g.Rules {
				if r.Health == "err" {
					t.Fatalf("%s: %s", r.Name, r.LastError)
				}
				if r.Health == "ok" {
					well++
				}
			}
		}
		return well == want
	}) {
		t.Errorf("%d rules were evaluated, want %d", well, want)
	}
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// wantVariables wants something to choose from for each variable, and annotations that can be asked for.
func (p *prometheus) wantVariables(t *testing.T) {
	t.Helper()
	d := readDashboard(t)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		asks := labelValues.FindStringSubmatch(v.Definition)
		if asks == nil || v.AllValue != ".+" {
			t.Errorf("%s is chosen by %q, and all of it by %q", v.Name, v.Definition, v.AllValue)
			continue
		}
		var values []string
		fatal(t, p.get(t.Context(), "/api/v1/label/"+asks[2]+"/values", url.Values{"match[]": {asGrafana(asks[1])}}, &values))
		if len(values) == 0 {
			t.Errorf("there is no %s to choose", v.Name)
		}
	}
	for _, a := range d.Annotations.List {
		if _, err := p.finite(t.Context(), asGrafana(a.Expr)); err != nil {
			t.Error(err)
		}
	}
}
