package migration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// Trail is the audit trail; *storage.Store has it.
type Trail interface {
	Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
}

// Row is one application on one day (UTC).
type Row struct {
	App      string `json:"client_id"`
	Day      string `json:"day"` // 2006-01-02
	PlainKey int64  `json:"plain_key"`
	Signed   int64  `json:"signed"`
	Unproven int64  `json:"unproven"` // check_sso and check_token that named no key: anybody can cause them
	NoPKCE   int64  `json:"no_pkce"`  // codes redeemed at /oauth/token
}

// Report lists what would break if the old endpoints closed, plain appkeys were refused or
// PKCE became mandatory: one row for each application and day.
type Report struct {
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Rows       []Row     `json:"rows"`       // by application, then day
	Unreadable int       `json:"unreadable"` // records that could not be understood
	Truncated  bool      `json:"truncated"`  // there were more rows than fit
}

// maxRows bounds a report in memory: 1,000 applications for 30 days.
const maxRows = 30_000

// Read reads the trail for what happened in [from, to). It reads all of it, because a
// trail has no index by time; it is as exact as the trail, which records what it has lost.
func Read(ctx context.Context, trail Trail, from, to time.Time) (Report, error) {
	t := tally{Report: Report{From: from.UTC(), To: to.UTC()}, rows: map[[2]string]*Row{}, chains: map[string]uint64{}}
	for after := uint64(0); ; {
		page, err := trail.Records(ctx, after, driver.Page)
		switch {
		case err != nil:
			return Report{}, fmt.Errorf("migration: read the trail: %w", err)
		case len(page) == 0:
			return t.report(), nil
		case page[len(page)-1].Seq <= after:
			return Report{}, errors.New("migration: the Seqs of the trail do not rise; this is a fault of the storage adapter")
		}
		for _, r := range page {
			t.add(r)
		}
		after = page[len(page)-1].Seq
	}
}

// tally is a Report in the making.
type tally struct {
	Report
	rows   map[[2]string]*Row // by application and day
	chains map[string]uint64  // how far each chain of the trail has been read
}

func (t *tally) add(r driver.Record) {
	var e struct {
		Chain string `json:"chain"`
		N     uint64 `json:"n"`
		event.Event
	}
	if err := json.Unmarshal(r.Data, &e); err != nil {
		t.Unreadable++
		return
	}
	if e.N != 0 && e.N <= t.chains[e.Chain] {
		return // a batch whose fate was unknown is stored a second time
	}
	t.chains[e.Chain] = e.N
	if e.App == "" || e.At.Before(t.From) || !e.At.Before(t.To) {
		return
	}
	switch {
	case e.Kind == event.Legacy && strings.HasSuffix(e.Detail, event.DetailPlainKey):
		t.row(e.Event, func(row *Row) { row.PlainKey++ })
	case e.Kind == event.Legacy && strings.HasSuffix(e.Detail, event.DetailSigned):
		t.row(e.Event, func(row *Row) { row.Signed++ })
	case e.Kind == event.Legacy:
		t.row(e.Event, func(row *Row) { row.Unproven += max(e.Count, 1) })
	case e.Kind == event.Token && e.Detail == event.DetailNoPKCE && e.Status < 400:
		t.row(e.Event, func(row *Row) { row.NoPKCE++ })
	}
}

func (t *tally) row(e event.Event, count func(*Row)) {
	key := [2]string{e.App, e.At.UTC().Format(time.DateOnly)}
	if t.rows[key] == nil {
		if len(t.rows) >= maxRows {
			t.Truncated = true
			return
		}
		t.rows[key] = &Row{App: key[0], Day: key[1]}
	}
	count(t.rows[key])
}

func (t *tally) report() Report {
	t.Rows = []Row{}
	for row := range maps.Values(t.rows) {
		t.Rows = append(t.Rows, *row)
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.Day, b.Day))
	})
	return t.Report
}

// Render writes the report as a table.
func (m Report) Render(w io.Writer) error {
	days := m.From.Format(time.DateOnly) + " to " + m.To.Format(time.DateOnly)
	if len(m.Rows) == 0 {
		_, err := fmt.Fprintf(w, "From %s nobody used the old endpoints, and every code was redeemed with PKCE.\n", days)
		return errors.Join(err, m.caveats(w))
	}
	fmt.Fprintf(w, "What would break, from %s (UTC):\n\n", days)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "APPLICATION\tDAY\tPLAIN KEY\tSIGNED\tUNPROVEN\tNO PKCE")
	for _, r := range m.Rows {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\n", r.App, r.Day, r.PlainKey, r.Signed, r.Unproven, r.NoPKCE)
	}
	return errors.Join(table.Flush(), m.caveats(w))
}

func (m Report) caveats(w io.Writer) (err error) {
	if m.Unreadable > 0 {
		_, err = fmt.Fprintf(w, "\n%d records could not be read: run keystile audit verify.\n", m.Unreadable)
	}
	if m.Truncated {
		_, err = fmt.Fprintf(w, "\nThere is more than the %d rows shown: ask for fewer days.\n", maxRows)
	}
	return err
}
