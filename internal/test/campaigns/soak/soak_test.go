package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/pgserver"
)

// soakedFor has a soak run and returns its report.
func soakedFor(t *testing.T, o options) report {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it runs without -short")
	}
	if o.storage == "postgres" && pgserver.Installed() == "" {
		t.Skip("no PostgreSQL is installed")
	}
	dir := t.TempDir()
	binary, err := build(t.Context(), dir, o.plant)
	if err != nil {
		t.Fatal(err)
	}
	o.binary, o.people, o.seed = binary, 8, 1
	s, err := newSoak(t.Context(), o, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.site.close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.run(t.Context()); err != nil {
		t.Error(err)
	}
	return s.report()
}

// slack is a factor for times that no test machine reaches: they are not what these tests are about.
const slack = 1000

func TestNodesStayLevelOverRestartsFaultsAndRotations(t *testing.T) {
	r := soakedFor(t, options{storage: "postgres", nodes: 2, minutes: 0.4, rate: 40, redis: true, slower: slack})
	for _, v := range r.Violations {
		t.Error(v)
	}
	for _, e := range events {
		if r.Events[e.name] == 0 && (e.name != "redis-restart" || r.Redis) {
			t.Errorf("there was no %s", e.name)
		}
	}
	if r.Restarts != 2 || r.Kills != 1 || r.Cut == 0 {
		t.Errorf("restarts %d, kills %d, connections cut %d", r.Restarts, r.Kills, r.Cut)
	}
	answered := map[string]int{}
	for _, k := range r.Kinds {
		answered[k.Name] = k.Count
	}
	for _, a := range acts {
		if answered[a.name] == 0 && a.name != "device flow" && a.name != "leaves early" {
			t.Errorf("nobody was answered: %s", a.name)
		}
	}
	if b := r.After.Bills["svc"]; b.Answered == 0 || b.Counted < b.Answered || b.Counted > b.Sent {
		t.Errorf("charged calls: %+v", b)
	}
	var out bytes.Buffer
	if r.print(&out); !strings.Contains(out.String(), "violations 0") {
		t.Errorf("the report is %s", &out)
	}
	file := filepath.Join(t.TempDir(), "report.json")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	var read report
	if err != nil || json.Unmarshal(text, &read) != nil || read.Requests != r.Requests ||
		len(read.Processes) != len(r.Processes) || r.Requests == 0 {
		t.Errorf("the file has %s, %v", text, err)
	}
}

// A soak that finds nothing where there is something would be worth nothing.
func TestPlantedLeaksAreFound(t *testing.T) {
	r := soakedFor(t, options{storage: "bolt", nodes: 1, minutes: 0.4, rate: 60, slower: slack, plant: "goroutines,files",
		events: "key-rotation"})
	found := strings.Join(r.Violations, "\n")
	for _, what := range []string{goroutines + ": ", files + ": ", goroutines + " of node 0 without load: ",
		files + " of node 0 without load: ", "front.ServeHTTP", os.DevNull} {
		if !strings.Contains(found, what) {
			t.Errorf("it does not find %q: %.3000s", what, found)
		}
	}
}

func TestMailServerTakesMailsUnlessItIsAway(t *testing.T) {
	m, err := newMailServer()
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	said := "HELO a\r\nMAIL FROM:<b@example.com>\r\nRCPT TO:<c@example.com>\r\nDATA\r\nSubject: x\r\n\r\n" +
		"RCPT TO:<d@example.com>\r\n.\r\nQUIT\r\n"
	m.away.Store(true)
	if text := talk(t, m, said); text != "" || m.has("c@example.com") {
		t.Errorf("it is away, and says %q", text)
	}
	m.away.Store(false)
	if text := talk(t, m, said); !strings.HasSuffix(text, "250 taken\r\n221 bye\r\n") || !m.has("c@example.com") ||
		m.has("d@example.com") {
		t.Errorf("it says %q and has %v", text, m.got)
	}
}

func TestOptionThatMakesNoSenseIsRefused(t *testing.T) {
	good := options{storage: "postgres", nodes: 2, minutes: 1, people: 8, share: 0.5, slower: 3}
	if err := good.check(); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(*options){
		"--storage": func(o *options) { o.storage = "paper" }, "--nodes": func(o *options) { o.storage = "bolt" },
		"--minutes": func(o *options) { o.minutes = 0.3 },
		"--people":  func(o *options) { o.people = 0 }, "--share": func(o *options) { o.share = 2 },
		"--rate":   func(o *options) { o.rate = -1 },
		"--slower": func(o *options) { o.slower = 0 },
		"--plant":  func(o *options) { o.plant, o.binary = "files", "keystile" },
	} {
		o := good
		change(&o)
		if err := o.check(); err == nil || !strings.HasPrefix(err.Error(), what) {
			t.Errorf("%s: check() = %v", what, err)
		}
	}
}
