package openapi

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fault is a validator's own: what it objects to although the request is right.
type fault struct {
	name     string
	document string // its name, or the first digits of its SHA-256
	tool     string // of the document
	text     string // a part of the objection
	why      string
}

// most bounds the tools of one document that are called.
const most = 40

// unmade bounds the tools and arguments that may be left out, in percent, because
// nothing could be made for them.
const unmade = 5

func TestDocumentsOfTheProjectAreReadByOtherParsers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	documents := map[string][]byte{}
	for _, file := range files {
		documents[strings.TrimSuffix(filepath.Base(file), ".json")] = must(os.ReadFile(file))(t)
	}
	h, upstreams := validator(t, documents, ownFaults, 50)
	for i := 0; i < len(upstreams); i += 2 {
		mistaken(t, h, upstreams[i], upstreams[i+1])
	}
}

// mistaken makes sure that the validators would notice: what was not asked for is objected to.
func mistaken(t *testing.T, h *fixture, asked, sent *upstream) {
	for _, tool := range asked.tools {
		right, wrong := asked.arguments[tool.Name], sent.arguments[tool.Name]
		if bytes.Equal(encoded(t, right), encoded(t, wrong)) {
			continue
		}
		asked.arguments[tool.Name] = wrong
		found, request := asked.try(t, h, tool)
		asked.arguments[tool.Name] = right
		_, unseen := blind[asked.name+" "+tool.Name]
		if len(found["kin-openapi"]) == 0 || (len(found["Prism"]) == 0) != unseen {
			t.Errorf("%s of %s with other arguments: %v is objected to\n%s", tool.Name, asked.name, found, request)
		}
	}
}

// validator has every document's tools called, and the validators find nothing but their own faults.
func validator(t *testing.T, documents map[string][]byte, faults []fault,
	least int) (h *fixture, upstreams []*upstream) {
	h = newFixture(t)
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		upstreams = append(upstreams, open(t, h, name, documents[name], most)...)
	}
	if err := h.bus.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	var checked []tree
	for _, s := range upstreams {
		checked = append(checked, spelledOut(s.checked).(tree))
	}
	for i, address := range prisms(t, checked) {
		upstreams[i].prism = prism{address}
	}
	called, all, given, left, used := 0, 0, 0, 0, make([]bool, len(faults))
	for _, s := range upstreams {
		all += len(s.tools)
		called += len(s.arguments)
		given, left = given+s.given, left+s.left
		s.run(t, h, faults, used)
	}
	for i, f := range faults {
		if !used[i] {
			t.Errorf("%s is right about %s of %s by now, or its row is never needed (%s): take it away", f.name, f.tool,
				f.document, f.why)
		}
	}
	t.Logf("note: %d calls of %d, with %d arguments of %d, each judged twice", called, all, given, given+left)
	if (all-called)*100 > all*unmade || left*100 > (given+left)*unmade || called < least {
		t.Errorf("%d calls of %d with %d arguments of %d are not enough", called, all, given, given+left)
	}
	return h, upstreams
}

func (s *upstream) run(t *testing.T, h *fixture, faults []fault, used []bool) {
	for _, tool := range s.tools {
		if s.arguments[tool.Name] == nil {
			continue
		}
		found, sent := s.try(t, h, tool)
		for name, objections := range found {
			for _, objection := range objections {
				i := slices.IndexFunc(faults, func(f fault) bool {
					return f.name == name && f.document == s.name && f.tool == tool.Name && strings.Contains(objection, f.text)
				})
				if i >= 0 {
					used[i] = true
					continue
				}
				t.Errorf("%s: %s objects to %s of %s: %.1200v\n%.1500s", s.reading, name, tool.Name, s.name, objection, sent)
			}
		}
	}
}
