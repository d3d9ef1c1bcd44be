package admin

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// notes puts events on the trail, as many as n.
func (o *office) notes(n int) {
	o.t.Helper()
	var records []driver.Record
	for i := range n {
		e := event.Event{At: time.Date(2026, 11, 21, 12, 0, i, 0, time.UTC), Kind: event.Call, User: fmt.Sprint("user", i%3),
			App:       "shop",
			RequestID: fmt.Sprint("request", i), Status: 200 + 100*(i%4), Method: "GET", Path: "/a\x1b[31m"}
		text, err := json.Marshal(e)
		if err != nil {
			o.t.Fatal(err)
		}
		records = append(records, driver.Record{At: e.At, Data: fmt.Appendf(text[:len(text)-1], `,"hash":"%064x"}`, 0)})
	}
	if err := o.target.Store.Append(o.t.Context(), records...); err != nil {
		o.t.Fatal(err)
	}
}

// actedFor puts calls on the trail that agents made for a user.
func (o *office) actedFor(sub string, chains ...[]string) {
	o.t.Helper()
	for _, actors := range chains {
		e := event.Event{At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Kind: event.Call, User: sub, App: actors[0],
			Actors: actors, Status: 200}
		text, err := json.Marshal(e)
		if err != nil {
			o.t.Fatal(err)
		}
		r := driver.Record{At: e.At, Data: fmt.Appendf(text[:len(text)-1], `,"hash":"%064x"}`, 0)}
		if err := o.target.Store.Append(o.t.Context(), r); err != nil {
			o.t.Fatal(err)
		}
	}
}

func TestTrailIsSearchedForWhatAnAgentDidForAUser(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := newOffice(t)
		o.app()
		ada := o.user("ada")
		o.notes(9)
		o.actedFor(ada, []string{"planner"}, []string{"shopper", "planner"}, []string{"shopper"})
		o.actedFor("ugone", []string{"planner"})
		if served {
			o.serve()
		}
		for _, c := range []struct {
			asked string
			want  int
		}{
			{"--agent planner --for ada", 2}, {"--agent planner --for " + ada, 2}, {"--agent planner --user " + ada, 2},
			{"--agent planner", 3}, {"--agent shopper --for ada --app shopper", 2}, {"--agent shop", 9}, {"--for ADA", 3},
			{"--agent planner --for u" + strings.Repeat("a", 26), 0}, {"--agent planner --user ugone", 1},
		} {
			if found := o.rows(append([]string{"audit", "search"}, strings.Fields(c.asked)...)...); len(found) != c.want {
				t.Errorf("served %t: %s finds %d events, want %d: %v", served, c.asked, len(found), c.want, found)
			}
		}
		code, out, errs := o.run("", "audit", "search", "--agent", "planner", "--for", "ada")
		if code != 0 || !strings.Contains(out, "ACT") || !strings.Contains(out, "shopper planner") {
			t.Errorf("served %t: %d %q %q", served, code, out, errs)
		}
		if _, out, _ := o.run("", "audit", "tail", "--for", "ada", "--lines", "9"); strings.Count(out, "\n") != 3 ||
			!strings.Contains(out, "act=shopper planner") {
			t.Errorf("served %t: tail shows %q", served, out)
		}
		if code, _, errs := o.run("", "audit", "search", "--for", "nobody"); code != 1 ||
			!strings.Contains(errs, `there is no user "nobody"`) {
			t.Errorf("served %t: a search for nobody is %d %q", served, code, errs)
		}
		if code, _, errs := o.run("", "audit", "tail", "--for", "ada", "--user", ada); code != 2 ||
			!strings.Contains(errs, "exclude each other") {
			t.Errorf("served %t: two users are %d %q", served, code, errs)
		}
	}
}

func TestTrailIsSearchedWithAServerAndWithoutOne(t *testing.T) {
	for _, served := range []bool{false, true} {
		o := newOffice(t)
		o.app() // there is a folder then
		o.notes(600)
		if served {
			o.serve()
		}
		found := o.rows("audit", "search", "--user", "user1", "--status", "3xx", "--limit", "7")
		if len(found) != 7 || found[0]["request_id"] != "request589" || found[6]["status"] != 300.0 {
			t.Errorf("served %t: it finds %v", served, found)
		}
		if all := o.rows("audit", "search", "--app", "shop", "--limit", "10000"); len(all) != 600 {
			t.Errorf("served %t: it finds %d events of the application, want 600", served, len(all))
		}
		if found := o.rows("audit", "search", "--request-id", "request5", "--from", "2026-11-21", "--to",
			"2026-11-22"); len(found) != 1 {
			t.Errorf("served %t: it finds %v", served, found)
		}
		code, out, errs := o.run("", "audit", "search", "--limit", "2")
		if lines := strings.Split(out, "\n"); code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[0], "SEQ") ||
			!strings.Contains(errs, "--before 599") || strings.Contains(out, "\x1b") {
			t.Errorf("served %t: %d %q %q", served, code, out, errs)
		}
		code, out, errs = o.run("", "audit", "tail", "--lines", "2", "--kind", "call")
		if lines := strings.Split(out, "\n"); code != 0 || len(lines) != 3 ||
			!strings.Contains(lines[1], "request_id=request599") {
			t.Errorf("served %t: tail is %d %q %q", served, code, out, errs)
		}
		for _, wrong := range [][]string{{"search", "--status", "200"}, {"search", "--limit", "0"},
			{"search", "--before", "x"}, {"tail", "--lines", "x"}} {
			if code, _, errs := o.run("", append([]string{"audit"}, wrong...)...); code != 2 {
				t.Errorf("served %t: %q = %d %q, want 2", served, wrong, code, errs)
			}
		}
		o.must("audit", "reindex")
	}
}
