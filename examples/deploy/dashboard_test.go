package deploy

import (
	"slices"
	"strings"
	"testing"
)

func TestDashboardIsOneThatGrafanaImports(t *testing.T) {
	d := readDashboard(t)
	if d.SchemaVersion < 40 {
		t.Errorf("its schema is %d, which Grafana would change", d.SchemaVersion)
	}
	if v := d.Templating.List; len(v) != 3 || v[0].Name != "datasource" || v[0].Type != "datasource" {
		t.Errorf("its variables are %v", v)
	}
	var rows []string
	ids, titles := map[int]bool{}, map[string]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] || titles[p.Type+p.Title] {
			t.Errorf("panel %d %s is there twice", p.ID, p.Title)
		}
		ids[p.ID], titles[p.Type+p.Title] = true, true
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		if p.Datasource.Type != "prometheus" || p.Datasource.UID != "${datasource}" {
			t.Errorf("%s reads %v, and not what was chosen", p.Title, p.Datasource)
		}
		if p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
			t.Errorf("%s has no description, no unit or no query", p.Title)
		}
		var refs []string
		for _, target := range p.Targets {
			if slices.Contains(refs, target.RefID) || len(p.Targets) > 1 && target.LegendFormat == "" {
				t.Errorf("%s: query %s cannot be told from the others", p.Title, target.RefID)
			}
			refs = append(refs, target.RefID)
		}
	}
	for _, about := range []string{"traffic", "sign-in", "token", "quota", "tool", "storage", "node", "connection",
		"runtime", "mail"} {
		if !slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(strings.ToLower(r), about) }) {
			t.Errorf("no row is about %s: %q", about, rows)
		}
	}
}

func TestDashboardPanelsDoNotOverlap(t *testing.T) {
	taken := map[[2]int]string{}
	for _, p := range readDashboard(t).Panels {
		if p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W < 1 || p.GridPos.H < 1 {
			t.Errorf("%s is at %v", p.Title, p.GridPos)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := taken[at]; other != "" {
					t.Fatalf("%s lies on %s", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
	}
}
