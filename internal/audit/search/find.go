package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

const defaultLimit = 50

// tries bounds how often a search begins, if the index is made anew meanwhile.
const tries = 3

// Bounds of one search.
const (
	mostRecords = 4 * driver.Page
	mostBlocks  = 4 * driver.Page
)

// Find returns a page of the events that a query selects, the newest first.
func Find(ctx context.Context, store Reader, q event.Query) (event.Page, error) {
	if err := check(&q); err != nil {
		return event.Page{}, err
	}
	none := event.Page{Entries: []event.Entry{}}
	if q.Apps != nil && (len(q.Apps) == 0 || q.App != "" && !slices.Contains(q.Apps, q.App)) {
		return none, nil
	}
	var err error
	for range tries {
		f := finder{store: store, q: q, page: none, below: q.Before, records: mostRecords, blocks: mostBlocks}
		if f.below == 0 {
			f.below = math.MaxInt64
		}
		if err = f.find(ctx); err == nil {
			return f.page, nil
		}
		if !errors.Is(err, errMoved) {
			break
		}
	}
	return event.Page{}, err
}

// check completes a query, and returns what is wrong with it as a driver.ErrInvalid.
func check(q *event.Query) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", driver.ErrInvalid, fmt.Sprintf(format, args...))
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	q.Status = strings.ToLower(q.Status)
	switch {
	case q.Limit < 1 || q.Limit > event.MaxLimit:
		return wrong("a page of the audit trail has 1 to %d entries, not %d", event.MaxLimit, q.Limit)
	case len(q.Apps) > event.MaxApps:
		return wrong("a search names at most %d applications, not %d", event.MaxApps, len(q.Apps))
	case q.Status != "" && !slices.Contains([]string{"1xx", "2xx", "3xx", "4xx", "5xx"}, q.Status):
		return wrong("%.20q is no class of statuses; write 2xx, 3xx, 4xx or 5xx", q.Status)
	case !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To):
		return wrong("the search begins at %s, which is not before its end", q.From.UTC().Format(time.RFC3339))
	}
	kept := audit.AsKept(event.Event{App: q.App, User: q.User, Kind: q.Kind, RequestID: q.RequestID, IP: q.IP,
		Actors: []string{q.Agent}, At: time.Unix(0, 0)})
	q.App, q.User, q.Kind, q.RequestID, q.IP = kept.App, kept.User, kept.Kind, kept.RequestID, kept.IP
	q.Agent = kept.Actors[0]
	return nil
}

// finder is one search. It goes down from below.
type finder struct {
	store   Reader
	q       event.Query
	page    event.Page
	below   uint64 // all records from here on are dealt with
	records int    // that it may still read
	blocks  int    // and documents of the index
	done    bool   // the page is full, or nothing more may be read
}

// passes reports whether an event is one that is searched for.
func (f *finder) passes(e *event.Event) bool {
	q := &f.q
	is := func(asked, has string) bool { return asked == "" || asked == has }
	return is(q.App, e.App) && is(q.User, e.User) && is(q.Kind, e.Kind) && is(q.RequestID, e.RequestID) &&
		is(q.IP, e.IP) && (q.Agent == "" || e.ActedBy(q.Agent)) &&
		is(q.Status, class(e.Status)) && (q.Apps == nil || slices.Contains(q.Apps, e.App)) &&
		!e.At.Before(q.From) && (q.To.IsZero() || e.At.Before(q.To))
}

// during reports whether records of a stretch may have times that are searched for.
func (f *finder) during(s recordRange) bool {
	return (f.q.To.IsZero() || s.from < f.q.To.Unix()+1) && (f.q.From.IsZero() || s.until >= f.q.From.Unix())
}

// take looks at records that ascend, the last first, and reports whether more may follow.
func (f *finder) take(records []driver.Record) bool {
	for _, r := range slices.Backward(records) {
		if r.Seq >= f.below {
			continue
		}
		e, err := audit.Decode(r)
		if err == nil && f.passes(&e) {
			if len(f.page.Entries) == f.q.Limit {
				f.page.Next, f.done = f.below, true
				return false
			}
			f.page.Entries = append(f.page.Entries, event.Entry{Seq: r.Seq, Event: e})
		}
		f.below = r.Seq
		if f.records--; f.records <= 0 {
			f.stop(r.At)
			return false
		}
	}
	return true
}

// stop ends a search that has read enough.
func (f *finder) stop(at time.Time) {
	if f.done = true; f.below > 1 {
		f.page.Next, f.page.Stopped, f.page.Reached = f.below, true, at
	}
}

// find goes through what is not indexed yet, then the segments, then the groups. Records move that way
// only, so one that moves meanwhile is met at its old place or at its new one, or at both, and then passed
// over.
func (f *finder) find(ctx context.Context) error {
	h, segments, _, err := loadIndex(ctx, f.store)
	if err != nil {
		return err
	}
	if err := f.tail(ctx, &h); err != nil || f.done || h.cursor == 0 {
		return err
	}
	w := walker{finder: f, head: h, clauses: clausesOf(newHasher(h.key), f.q)}
	if err := w.segments(ctx, segments); err != nil || f.done {
		return err
	}
	return w.groups(ctx)
}

// tail looks at the records behind the last indexed one. They are less than a page, unless the index is
// being made or cannot be written: then it looks at the last pages.
func (f *finder) tail(ctx context.Context, h *head) error {
	n := driver.Page
	if h.cursor > 0 && f.below <= h.cursor+1 {
		n = 1 // nothing is asked of the tail: only whether the index is of this trail
	}
	records, err := f.store.Records(ctx, max(h.cursor, 1)-1, n)
	switch {
	case err != nil:
		return err
	case h.cursor > 0 && (len(records) == 0 || h.foreign(records[0])): // it will be made anew
		*h = head{}
	case n == 1:
		return nil
	case len(records) < driver.Page:
		f.take(behind(records, h.cursor))
		return nil
	}
	last, err := f.store.Appended(ctx)
	if err == nil && last == 0 {
		last, err = audit.Last(ctx, f.store)
	}
	if err != nil {
		return err
	}
	return f.backward(ctx, h.cursor, min(last, f.below-1))
}

// backward looks at the records behind a Seq up to another, the last page first.
func (f *finder) backward(ctx context.Context, after, until uint64) error {
	for until > after {
		from := max(after, until-min(until, driver.Page))
		records, err := f.store.Records(ctx, from, driver.Page)
		if err != nil {
			return err
		}
		n := len(records)
		for n > 0 && records[n-1].Seq > until {
			n--
		}
		if !f.take(records[:n]) {
			return nil
		}
		f.below, until = min(f.below, from+1), from
		if f.records -= driver.Page / 10; f.records <= 0 { // where there are no records it ends, too
			f.stop(time.Time{})
			return nil
		}
	}
	return nil
}

func behind(records []driver.Record, seq uint64) []driver.Record {
	for len(records) > 0 && records[0].Seq <= seq {
		records = records[1:]
	}
	return records
}

// Matcher returns what tells whether an event fits a query, wherever it stands on the trail.
func Matcher(q event.Query) (func(e *event.Event) bool, error) {
	if err := check(&q); err != nil {
		return nil, err
	}
	f := finder{q: q}
	return f.passes, nil
}
