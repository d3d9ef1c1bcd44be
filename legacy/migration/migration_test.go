package migration_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/legacy/migration"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// pages is a trail of records, two to a page.
type pages []driver.Record

func (p pages) Records(_ context.Context, after uint64, _ int) ([]driver.Record, error) {
	return p[min(int(after), len(p)):min(int(after)+2, len(p))], nil
}

// trailOf numbers events.
func trailOf(t *testing.T, events ...any) (p pages) {
	for i, e := range events {
		text, raw := e.(string)
		data := []byte(text)
		if !raw {
			data = must(json.Marshal(e))(t)
		}
		p = append(p, driver.Record{Seq: uint64(i + 1), Data: data})
	}
	return p
}

func happened(kind, app, detail string, at time.Time) event.Event {
	return event.Event{Kind: kind, App: app, Detail: detail, At: at, Status: 200}
}

// Decision 50.
func TestReportCountsByApplicationAndDay(t *testing.T) {
	late, failed := happened(event.Token, "a", event.DetailNoPKCE, noon),
		happened(event.Token, "a", event.DetailNoPKCE, noon)
	late.At = noon.In(time.FixedZone("", 14*3600)).Add(11*time.Hour + 59*time.Minute) // the same day in UTC
	failed.Status = 400
	trail := trailOf(t,
		happened(event.Legacy, "b", "callback plain", noon),
		happened(event.Legacy, "a", "login plain", noon),
		happened(event.Legacy, "a", "callback plain", noon),
		happened(event.Legacy, "a", "login signed", noon),
		happened(event.Legacy, "a", "check_sso open", noon),
		late, failed,
		happened(event.Token, "a", "authorization_code", noon),
		happened(event.Call, "a", "login plain", noon),
		happened(event.Legacy, "", "login", noon),
		happened(event.Legacy, "a", "login signed", noon.AddDate(0, 0, 1)),
		happened(event.Legacy, "a", "login plain", noon.Add(-1)),
		happened(event.Legacy, "a", "login plain", noon.AddDate(0, 0, 30)),
		"no json",
	)
	m := must(migration.Read(t.Context(), trail, noon, noon.AddDate(0, 0, 30)))(t)
	got := fmt.Sprint(m.Rows, m.Unreadable, m.Truncated)
	want := fmt.Sprint([]migration.Row{
		{App: "a", Day: "2026-08-01", PlainKey: 2, Signed: 1, Unproven: 1, NoPKCE: 1},
		{App: "a", Day: "2026-08-02", Signed: 1},
		{App: "b", Day: "2026-08-01", PlainKey: 1},
	}, 1, false)
	if got != want {
		t.Errorf("report = %s, want %s", got, want)
	}
}

func TestReportHasALimitOfRowsAndReportsIt(t *testing.T) {
	var crowd flood
	for i := range 30_002 {
		crowd = append(crowd, driver.Record{Seq: uint64(i + 1), Data: fmt.Appendf(nil, `{"at":"2026-08-01T12:00:00Z","kind":"legacy","app":"a%d","detail":"login plain"}`, i)})
	}
	m := must(migration.Read(t.Context(), crowd, noon, noon.Add(1)))(t)
	if len(m.Rows) != 30_000 || !m.Truncated {
		t.Errorf("%d rows, truncated %t, want 30,000 and true", len(m.Rows), m.Truncated)
	}
}

// flood is a trail with long pages.
type flood []driver.Record

func (f flood) Records(_ context.Context, after uint64, n int) ([]driver.Record, error) {
	return f[min(int(after), len(f)):min(int(after)+n, len(f))], nil
}

func TestBatchThatIsStoredTwiceCountsOnce(t *testing.T) {
	record := func(chain string, n int) string {
		return fmt.Sprintf(`{"chain":%q,"n":%d,"at":"2026-08-01T12:00:00Z","kind":"legacy","app":"a","detail":"login plain"}`, chain, n)
	}
	trail := trailOf(t, record("x", 1), record("x", 2), record("x", 1), record("x", 2), record("x", 3), record("y", 1))
	m := must(migration.Read(t.Context(), trail, noon, noon.Add(1)))(t)
	if len(m.Rows) != 1 || m.Rows[0].PlainKey != 4 {
		t.Errorf("rows = %+v, want one with 4 plain keys", m.Rows)
	}
}

func TestReportIsATable(t *testing.T) {
	m := migration.Report{From: noon, To: noon.AddDate(0, 0, 30), Unreadable: 2, Truncated: true, Rows: []migration.Row{
		{App: "ks1", Day: "2026-08-01", PlainKey: 12, Signed: 3, Unproven: 4, NoPKCE: 5},
		{App: "longer-than-that", Day: "2026-08-02", Signed: 1},
	}}
	const want = `What would break, from 2026-08-01 to 2026-08-31 (UTC):

APPLICATION       DAY         PLAIN KEY  SIGNED  UNPROVEN  NO PKCE
ks1               2026-08-01  12         3       4         5
longer-than-that  2026-08-02  0          1       0         0

2 records could not be read: run keystile audit verify.

There is more than the 30000 rows shown: ask for fewer days.
`
	var out strings.Builder
	if err := m.Render(&out); err != nil || out.String() != want {
		t.Errorf("Render = %v, %s, want\n%s", err, out.String(), want)
	}
	out.Reset()
	if err := (migration.Report{From: noon, To: noon}).Render(&out); err != nil ||
		!strings.Contains(out.String(), "nobody used the old endpoints") {
		t.Errorf("Render(nothing) = %v, %s", err, out.String())
	}
	if err := m.Render(full{}); err == nil {
		t.Error("Render to a full disk = no error")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// looping is a trail whose Seqs do not rise, away one that is gone.
type (
	looping struct{}
	away    struct{}
)

func (looping) Records(context.Context, uint64, int) ([]driver.Record, error) {
	return []driver.Record{{Seq: 1}}, nil
}
func (away) Records(context.Context, uint64, int) ([]driver.Record, error) {
	return nil, storage.ErrUnavailable
}

func TestTrailThatCannotBeReadGivesNoReport(t *testing.T) {
	if _, err := migration.Read(t.Context(), looping{}, noon, noon); err == nil {
		t.Error("a trail that does not rise: no error")
	}
	if _, err := migration.Read(t.Context(), away{}, noon, noon); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a trail that is gone: %v, want ErrUnavailable", err)
	}
}
