package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

func exported(t *testing.T, s Archive, f Filter, format Format) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := Export(t.Context(), s, &out, f, format)
	return out.String(), err
}

func TestExportIsTheTrailLineByLine(t *testing.T) {
	s, _ := small(t)
	want := ""
	for _, r := range s.records {
		want += string(r.Data) + "\n"
	}
	if got, err := exported(t, s, Filter{}, JSONL); err != nil || got != want {
		t.Errorf("Export(jsonl) = %s, %v, want the records as they are stored", got, err)
	}
}

func TestExportHoldsEachRecordOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		s.after = func() error { s.after = nil; return errAway }
		for i := range 3 {
			trail.Note(numbered(i))
		}
		closed(t, trail)
		if report, _ := whole(t, s); report.Repeated != 4 {
			t.Fatalf("%d records stand twice, want the batch of 4", report.Repeated)
		}
		got, err := exported(t, s, Filter{}, JSONL)
		if n := strings.Count(got, "\n"); err != nil || n != 5 {
			t.Errorf("Export() = %d lines, %v, want 5", n, err)
		}
	})
}

func TestFilterChooses(t *testing.T) {
	s := &fakeStore{}
	trail := opened(t, s)
	for i := range 4 {
		e := numbered(i)
		e.Kind, e.App, e.User = []string{event.Call, event.Token}[i%2], []string{"a", "b"}[i/2], []string{"u", "v"}[i/2]
		if i == 2 {
			e.Actors = []string{"b", "planner", "a"}
		}
		trail.Note(e)
	}
	closed(t, trail)
	at := func(i int) time.Time { return numbered(i).At }
	for _, c := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "audit.begin,r0,r1,r2,r3,audit.end"},
		{Filter{Kind: event.Call}, "r0,r2"},
		{Filter{App: "b"}, "r2,r3"},
		{Filter{User: "u"}, "r0,r1"},
		{Filter{Agent: "a"}, "r0,r1,r2"},
		{Filter{Agent: "planner"}, "r2"},
		{Filter{Agent: "a", User: "v"}, "r2"},
		{Filter{User: "u", Kind: event.Token}, "r1"},
		{Filter{From: at(1), To: at(3)}, "r1,r2"},
		{Filter{From: at(2), App: "b"}, "r2,r3"},
		{Filter{To: at(0)}, ""},
		{Filter{Kind: "call "}, ""},
	} {
		got, err := exported(t, s, c.filter, JSONL)
		var entries []entry
		for line := range strings.Lines(got) {
			var e entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Errorf("%+v: line %q: %v", c.filter, line, err)
			}
			entries = append(entries, e)
		}
		if lines(entries) != c.want || err != nil {
			t.Errorf("Export(%+v) = %s, %v, want %s", c.filter, lines(entries), err, c.want)
		}
	}
}

func TestExportContainsNoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\uFFFD=1", "\rx": "'\uFFFDx",
		"\nx": "'\uFFFDx", " =1": "' =1", "\u00a0=1": "'\uFFFD=1", "＝1": "'＝1", "＠x": "'＠x", "＋1": "'＋1", "－1": "'－1",
		"": "", "a=1": "a=1", "/p": "/p", "a\tb": "a\uFFFDb", "密": "密", `a,"b"`: `a,"b"`, "\x1b[31m": "\uFFFD[31m",
	} {
		if got := cell(text); got != want {
			t.Errorf("cell(%q) = %q, want %q", text, got, want)
		}
	}
	s := &fakeStore{}
	trail := opened(t, s, func(c *Config) { c.Name = "=cmd" })
	e := numbered(0)
	for _, place := range texts(&e) {
		*place = "=1,\"\n"
	}
	e.Actors = []string{"=1", "planner"}
	trail.Note(e)
	closed(t, trail)
	got, err := exported(t, s, Filter{}, CSV)
	if err != nil {
		t.Fatalf("Export(csv) = %v, want no error", err)
	}
	table, err := csv.NewReader(strings.NewReader(got)).ReadAll()
	if err != nil || len(table) != 4 || strings.Join(table[0], ",") != strings.Join(columns, ",") {
		t.Fatalf("Export(csv) = %s, %v, want a header and 3 rows", got, err)
	}
	for i, name := range table[0] {
		text := table[2][i]
		if strings.ContainsAny(text[:1], "=+-@\t\r") {
			t.Errorf("%s: the cell %q is a formula", name, text)
		}
	}
	// a path has none of it
	want := "20,2026-08-01T12:00:00Z," + strings.Repeat("'=1,\"\uFFFD|", len(fields)-3) + "'=1,\"|" +
		strings.Repeat("'=1,\"\uFFFD|", 2)
	want = strings.ReplaceAll(want, "|", ",") + "200,1500000,42,0," + table[2][15] + ",2,0,0,'=1 planner"
	if row := strings.Join(table[2], ","); row != want || table[1][10] != "'=cmd" || len(table[2][15]) < 20 {
		t.Errorf("a row is %s, want %s", row, want)
	}
}

func TestBrokenTrailIsExportedWithAnError(t *testing.T) {
	s, _ := small(t)
	s.records[3].Data = []byte("hello")
	got, err := exported(t, s, Filter{}, JSONL)
	if err == nil || !strings.Contains(err.Error(), "Seq 40") || strings.Count(got, "\n") != len(s.records)-1 {
		t.Errorf("Export(broken trail) = %d lines, %v, want the others and an error", strings.Count(got, "\n"), err)
	}
}

func TestExportThatCannotBeWrittenIsAnError(t *testing.T) {
	s, _ := small(t)
	for _, format := range []Format{JSONL, CSV} {
		for k := range 2 {
			many := &fakeStore{}
			if many.records = s.records; k == 1 { // more than fits in a buffer
				trail := opened(t, many)
				for i := range driver.Page {
					trail.Note(numbered(i))
				}
				closed(t, trail)
			}
			if err := Export(t.Context(), many, full{}, Filter{}, format); !errors.Is(err, errAway) {
				t.Errorf("Export(%s, to a full disk) = %v, want its error", format, err)
			}
		}
	}
	if _, err := exported(t, s, Filter{}, "xml"); err == nil || !strings.Contains(err.Error(), "jsonl or csv") {
		t.Errorf("Export(xml) = %v, want an error that names the formats", err)
	}
	s.fail(errAway)
	if _, err := exported(t, s, Filter{}, CSV); !errors.Is(err, errAway) {
		t.Errorf("Export(store away) = %v, want %v", err, errAway)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errAway }
