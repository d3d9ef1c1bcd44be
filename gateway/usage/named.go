package usage

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Bounds of one answer of usage by user, tool, member or agent. Names are in it with all their rows, those
// with the most calls first.
const (
	maxNames    = 1_000
	maxNamed    = 10_000    // rows
	maxSummed   = 1_000_000 // rows that are read for it: about 100 MB
	summers     = 2         // answers that are made at a time
	maxSpan     = 64        // days that are read at once
	fewRows     = 2_000     // after which more days are read at once
	summingWait = 5 * time.Second
)

// byName answers by user, tool, member or agent, and counts the calls of all names since a time before the span.
func (r *Reader) byName(ctx context.Context, q Query, since time.Time) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, summingWait)
	defer cancel()
	select {
	case r.summing <- struct{}{}:
		defer func() { <-r.summing }()
	case <-limited.Done():
		return Answer{}, ErrBusy
	}
	a := q.answer()
	sums, err := r.sum(ctx, q, since, &a)
	if errors.Is(err, storage.ErrInvalid) && since.Before(q.From) { // the span itself may not be too much
		a = q.answer()
		sums, err = r.sum(ctx, q, q.From, &a)
	}
	if err != nil {
		return Answer{}, err
	}
	return sums.fill(a), nil
}

// named sums up the rows of names.
type named map[string]*sum

type sum struct {
	calls int64
	rows  []driver.Count // ascending
}

// daysAtOnce returns how many days are read first. Of users there may be any number. Tools, members and
// agents are few, so that a day of them has few rows, unless they are by the hour.
func (q Query) daysAtOnce() int {
	if q.Daily && q.By != ByUser {
		return maxSpan
	}
	return 1
}

// sum reads the rows of a dimension, few days at a time: a store hands out all rows of a question. Those that lie
// before the span are added to an answer.
func (r *Reader) sum(ctx context.Context, q Query, since time.Time, a *Answer) (named, error) {
	all := named{}
	id, rows, days := ledger.By(q.ClientID, dimensions[q.By]), 0, q.daysAtOnce()
	for from := since; from.Before(q.To); {
		to := driver.Day(from).AddDate(0, 0, days)
		if to.After(q.To) {
			to = q.To
		}
		page, err := r.rows(ctx, driver.UsageQuery{AppID: id, From: from, To: to, Daily: q.Daily}, q)
		if err != nil {
			return nil, err
		}
		if rows += len(page); rows > maxSummed {
			return nil, refused("this is too much for one answer: ask for a shorter span")
		}
		for _, row := range page {
			if row.At.Before(q.From) {
				a.addBefore(row)
			} else {
				all.add(row)
			}
		}
		if from, days = to, 1; len(page) < fewRows {
			days = min(2*int(to.Sub(since)/(24*time.Hour))+1, maxSpan)
		}
	}
	return all, nil
}

// rows returns rows of a dimension. The calls that no other agent sent are the application's own: they have no rows, so
// those by agent are what is left of all.
func (r *Reader) rows(ctx context.Context, of driver.UsageQuery, q Query) ([]driver.Count, error) {
	if q.By != ByAgent {
		return r.c.Series(ctx, of)
	}
	both, err := r.c.SeriesOf(ctx, []string{of.AppID, q.ClientID}, of)
	if err != nil {
		return nil, err
	}
	return withRest(both[of.AppID], both[q.ClientID], q), nil
}

// withRest adds to the rows of agents what they lack to all calls, as rows of the application.
func withRest(agents, products []driver.Count, q Query) []driver.Count {
	app, _, _ := strings.Cut(q.ClientID, " ")
	rest := map[time.Time]driver.Count{}
	for _, row := range products {
		at := row.At.UTC()
		rest[at] = driver.Count{Product: app, At: at, Calls: row.Calls, Errors: row.Errors}.Plus(rest[at])
	}
	for _, row := range agents {
		own := rest[row.At.UTC()]
		own.Calls, own.Errors = own.Calls-row.Calls, own.Errors-row.Errors
		rest[row.At.UTC()] = own
	}
	all := slices.Clone(agents)
	for _, row := range rest {
		if row.Calls > 0 {
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b driver.Count) int { return a.At.Compare(b.At) })
	return all
}

func (n named) add(row driver.Count) {
	s := n[row.Product]
	if s == nil {
		s = &sum{}
		n[row.Product] = s
	}
	s.calls = driver.Count{Calls: s.calls}.Plus(row).Calls
	row.AppID = ""
	s.rows = append(s.rows, row)
}

// fill adds the names with the most calls to an answer.
func (n named) fill(a Answer) Answer {
	names := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(cmp.Compare(n[b].calls, n[a].calls), cmp.Compare(a, b))
	})
	var rows []driver.Count
	for i, name := range names {
		if i > 0 && (i >= maxNames || len(rows)+len(n[name].rows) > maxNamed || a.Omitted.Names > 0) {
			a.Omitted.Names++
			a.Omitted.Calls = driver.Count{Calls: a.Omitted.Calls}.Plus(driver.Count{Calls: n[name].calls}).Calls
			continue
		}
		rows = append(rows, n[name].rows...)
	}
	slices.SortFunc(rows, func(a, b driver.Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Product, b.Product))
	})
	for _, row := range rows {
		a.add(row)
	}
	return a
}
