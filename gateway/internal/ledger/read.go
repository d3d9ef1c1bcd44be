package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Series returns the usage of an application, ascending by time, then product: what the
// store holds and what this process has charged, each call once. A charge that has
// returned is in it. Other processes' calls are in it when they have sent them.
//
// With an error the rows are those known without the store: never more than the truth. The
// read takes at most 10 s.
func (l *Ledger) Series(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		own, stored, settled, err := l.read(ctx, q)
		if err != nil || settled {
			return merge(own, stored), err
		}
		// Only the store knows whether it has a batch that it has not answered for.
		if _, err := l.send(ctx); err != nil {
			return merge(own, nil), err
		}
	}
}

// SeriesOf is Series of several applications, in one read of the store: rows by application. Its
// rows are all or none.
func (l *Ledger) SeriesOf(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error) {
	all := make(map[string][]driver.Count, len(apps))
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		own, stored, settled, err := l.readOf(ctx, l.store.UsageOf, apps, q)
		if err != nil {
			return nil, err
		}
		if settled {
			for _, app := range apps {
				all[app] = merge(own[app], stored[app])
			}
			return all, nil
		}
		if _, err := l.send(ctx); err != nil {
			return nil, err
		}
	}
}

// OneByOne makes SeriesOf of a Series, where there is no way to read several at once.
func OneByOne(series func(context.Context, driver.UsageQuery) ([]driver.Count, error)) func(context.Context, []string,
	driver.UsageQuery) (map[string][]driver.Count, error) {
	return func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error) {
		all := make(map[string][]driver.Count, len(apps))
		for _, q.AppID = range apps {
			rows, err := series(ctx, q)
			if err != nil {
				return nil, err
			}
			all[q.AppID] = rows
		}
		return all, nil
	}
}

// InOne makes SeriesOf of a store's UsageOf.
func InOne(usageOf func(context.Context, []string, driver.UsageQuery) ([]driver.Count, error)) func(context.Context,
	[]string, driver.UsageQuery) (map[string][]driver.Count, error) {
	return func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error) {
		rows, err := usageOf(ctx, apps, q)
		all := make(map[string][]driver.Count, len(apps))
		for _, row := range rows {
			all[row.AppID] = append(all[row.AppID], row)
		}
		return all, err
	}
}

// readOf is read of several applications.
func (l *Ledger) readOf(ctx context.Context, usageOf func(context.Context, []string,
	driver.UsageQuery) ([]driver.Count, error), apps []string,
	q driver.UsageQuery) (own, stored map[string][]driver.Count, settled bool, err error) {
	if err := l.readLock.enter(ctx); err != nil {
		return nil, nil, false, fmt.Errorf("ledger: read usage: %w", err)
	}
	defer l.readLock.leave()
	own = make(map[string][]driver.Count, len(apps))
	for _, q.AppID = range apps {
		if own[q.AppID], settled = l.unacknowledged(q); !settled {
			return nil, nil, false, nil
		}
	}
	if stored, err = InOne(usageOf)(ctx, apps, q); err != nil {
		return nil, nil, false, fmt.Errorf("ledger: read usage: %w", err)
	}
	return own, stored, true, nil
}

// read returns the rows not acknowledged and the stored ones, as of one moment. Where
// settled is false some rows may be among both, and the stored ones were not asked for.
func (l *Ledger) read(ctx context.Context, q driver.UsageQuery) (own, stored []driver.Count, settled bool, err error) {
	if err := l.readLock.enter(ctx); err != nil {
		own, _ = l.unacknowledged(q)
		return own, nil, false, fmt.Errorf("ledger: read usage: %w", err)
	}
	defer l.readLock.leave()
	if own, settled = l.unacknowledged(q); !settled {
		return own, nil, false, nil
	}
	if stored, err = l.store.Usage(ctx, q); err != nil {
		return own, nil, true, fmt.Errorf("ledger: read usage: %w", err)
	}
	return own, stored, true, nil
}

// unacknowledged returns what is not known to be in the store, and whether it is known not
// to be there.
func (l *Ledger) unacknowledged(q driver.UsageQuery) (rows []driver.Count, settled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	settled = true
	for _, b := range append(slices.Clone(l.queue), l.open) {
		if b == nil {
			continue
		}
		settled = settled && !b.doubtful
		rows = b.answer(rows, q)
	}
	return rows, settled
}

// answers puts a row into its day, if those are asked for, and reports whether it belongs
// to the answer.
func answers(c driver.Count, q driver.UsageQuery) (driver.Count, bool) {
	if q.Daily {
		c.At = driver.Day(c.At)
	}
	return c, (q.Product == "" || q.Product == c.Product) && !c.At.Before(q.From) && c.At.Before(q.To)
}

// merge makes one row of those with the same time and product.
func merge(own, stored []driver.Count) []driver.Count {
	type place struct {
		at      time.Time
		product string
	}
	sums := map[place]driver.Count{}
	for _, c := range slices.Concat(stored, own) {
		c.At = c.At.UTC()
		at := place{c.At, c.Product}
		sums[at] = c.Plus(sums[at])
	}
	rows := make([]driver.Count, 0, len(sums))
	for _, c := range sums {
		rows = append(rows, c)
	}
	slices.SortFunc(rows, func(a, b driver.Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Product, b.Product))
	})
	return rows
}
