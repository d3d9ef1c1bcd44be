package openapi

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fault is a judge's own: what it objects to although the request is right.
type fault struct {
	judge    string
	document string // its name, or the first digits of its SHA-256
	tool     string // of the document
	says     string // a part of the objection
	why      string
}

// most is how many tools of one document are called.
const most = 40

// unmade is how many tools, and how many arguments, may be left out, in percent, because
// nothing could be made for them.
const unmade = 5

func TestJudgesReadWhatTheProjectsOwnDocumentsDescribe(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	documents := map[string][]byte{}
	for _, file := range files {
		documents[strings.TrimSuffix(filepath.Base(file), ".json")] = must(os.ReadFile(file))(t)
	}
	judge(t, documents, ownFaults, 20)
}

// judge has every document's tools called, and the judges find nothing but their own faults.
func judge(t *testing.T, documents map[string][]byte, faults []fault, least int) {
	h := newHouse(t)
	var sessions []*session
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		sessions = append(sessions, open(t, h, name, documents[name], most)...)
	}
	if err := h.bus.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	var judged []tree
	for _, s := range sessions {
		judged = append(judged, spelledOut(s.judged).(tree))
	}
	for i, address := range prisms(t, judged) {
		sessions[i].prism = prism{address}
	}
	called, all, given, left, used := 0, 0, 0, 0, make([]bool, len(faults))
	for _, s := range sessions {
		all += len(s.tools)
		called += len(s.arguments)
		given, left = given+s.given, left+s.left
		s.run(t, h, faults, used)
	}
	for i, f := range faults {
		if !used[i] {
			t.Errorf("%s is right about %s of %s by now: take the row away", f.judge, f.tool, f.document)
		}
	}
	t.Logf("note: %d calls of %d, with %d arguments of %d, each judged twice", called, all, given, given+left)
	if (all-called)*100 > all*unmade || left*100 > (given+left)*unmade || called < least {
		t.Errorf("%d calls of %d with %d arguments of %d are not enough", called, all, given, given+left)
	}
}

func (s *session) run(t *testing.T, h *house, faults []fault, used []bool) {
	for _, tool := range s.tools {
		if s.arguments[tool.Name] == nil {
			continue
		}
		found, sent := s.try(t, h, tool)
		for judge, objections := range found {
			for _, objection := range objections {
				i := slices.IndexFunc(faults, func(f fault) bool {
					return f.judge == judge && f.document == s.name && f.tool == tool.Name && strings.Contains(objection, f.says)
				})
				if i >= 0 {
					used[i] = true
					continue
				}
				t.Errorf("%s: %s objects to %s of %s: %.1200v\n%.1500s", s.reading, judge, tool.Name, s.name, objection, sent)
			}
		}
	}
}
