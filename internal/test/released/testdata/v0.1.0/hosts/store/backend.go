package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Issue: all tokens or none. One that comes twice meets itself.
func (s *Store) Issue(ctx context.Context, tokens ...driver.Token) (err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	return x.issue(tokens)
}

func (x *step) issue(tokens []driver.Token) error {
	for _, t := range tokens {
		if _, err := x.token(t.Key); err == nil {
			return driver.ErrExists
		}
		x.saveToken(t)
	}
	return nil
}

// token adds what the JSON of a driver.Token leaves to the adapter.
type token struct {
	driver.Token
	SpentAt time.Time
}

func tokenKey(key driver.Key) string { return keyOf("token", fmt.Sprintf("%x", key)) }

func (x *step) token(key driver.Key) (driver.Token, error) {
	t, err := load[token](x, tokenKey(key))
	t.Token.Key, t.Token.SpentAt = key, t.SpentAt
	return t.Token, err
}

// saveToken keeps times in UTC, as all methods do: JSON would cut a zone to its minutes.
func (x *step) saveToken(t driver.Token) {
	for _, at := range []*time.Time{&t.GrantedAt, &t.IssuedAt, &t.ExpiresAt, &t.SpentAt, &t.AuthTime} {
		*at = at.UTC()
	}
	x.save(tokenKey(t.Key), token{t, t.SpentAt})
}

// Token: spent, revoked and expired ones too, until they are swept.
func (s *Store) Token(ctx context.Context, key driver.Key) (t driver.Token, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	return x.token(key)
}

// Exchange: one winner, the verdicts in this order, and no look at ExpiresAt.
func (s *Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) (err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	t, err := x.token(key)
	switch {
	case err != nil:
		return err
	case !t.SpentAt.IsZero():
		return driver.ErrSpent
	case x.covered(t):
		return driver.ErrRevoked
	}
	t.SpentAt = at
	x.saveToken(t)
	return x.issue(next)
}

// covered looks at the revocations: they hold for a token that is written after them, too.
func (x *step) covered(t driver.Token) bool {
	for kind, id := range map[string]string{
		driver.RevokeGrant: t.Grant, driver.RevokeApp: t.AppID, driver.RevokeUser: t.UserID,
		driver.RevokeConsent: driver.ConsentID(t.AppID, t.UserID),
	} {
		if r, err := load[driver.Revocation](x, keyOf("revocation", kind, id)); err == nil && r.Covers(t) {
			return true
		}
	}
	return false
}

// Revoke: joins an older one, never shrinks it, and takes a new Seq.
func (s *Store) Revoke(ctx context.Context, rs ...driver.Revocation) (err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	for _, r := range rs {
		key := keyOf("revocation", r.Kind, r.ID)
		if older, err := load[driver.Revocation](x, key); err == nil {
			r = r.Join(older)
		}
		r.Seq, r.Before, r.Until = x.next("revocation"), r.Before.UTC(), r.Until.UTC()
		x.save(key, r)
	}
	return nil
}

// Revocations: no Seq before a lower one. The mutex sees to it; a SQL sequence would not.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) (feed []driver.Revocation, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	scan(x, keyOf("revocation", ""), func(_ string, r driver.Revocation) {
		if r.Seq > after {
			feed = append(feed, r)
		}
	})
	slices.SortFunc(feed, func(a, b driver.Revocation) int { return cmp.Compare(a.Seq, b.Seq) })
	return feed[:min(n, len(feed))], nil
}

// Count: each batch once. Its number and its counts are one step.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) (err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	if seen, _ := load[uint64](x, keyOf("batch", b.Node)); len(counts) == 0 || b.Seq <= seen {
		return nil
	}
	x.save(keyOf("batch", b.Node), b.Seq)
	for _, c := range counts {
		x.add(c, false, driver.Hour(c.At))
		x.add(c, true, driver.Day(c.At))
	}
	return nil
}

// A row of usage: adapters keep whether it is of an hour or a day.
type row struct {
	driver.Count
	Daily bool
}

func rowsKey(app string, daily bool) string { return keyOf("usage", app, fmt.Sprint(daily), "") }

// add finds the row by a key whose order is the one that Usage answers in.
func (x *step) add(c driver.Count, daily bool, start time.Time) {
	key := rowsKey(c.AppID, daily) + keyOf(start.Format(time.RFC3339), c.Product)
	sum, _ := load[row](x, key)
	c.At = start
	x.save(key, row{c.Plus(sum.Count), daily})
}

// Usage: From counts, To does not; by time, then by product.
func (s *Store) Usage(ctx context.Context, q driver.UsageQuery) (rows []driver.Count, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	scan(x, rowsKey(q.AppID, q.Daily), func(_ string, r row) {
		if (q.Product == "" || q.Product == r.Product) && !r.At.Before(q.From) && r.At.Before(q.To) {
			rows = append(rows, r.Count)
		}
	})
	return rows, nil
}

// Append: in the order given.
func (s *Store) Append(ctx context.Context, records ...driver.Record) (err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	for _, r := range records {
		r.Seq, r.At = x.next("record"), r.At.UTC()
		x.save(keyOf("record", fmt.Sprintf("%020d", r.Seq)), r)
	}
	return nil
}

// Records: like Revocations.
func (s *Store) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	scan(x, keyOf("record", ""), func(_ string, r driver.Record) {
		if r.Seq > after && len(page) < n {
			page = append(page, r)
		}
	})
	return page, nil
}

// Appended: the last number that was given, whatever became of its record.
func (s *Store) Appended(ctx context.Context) (last uint64, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	if last, err = load[uint64](x, keyOf("last", "record")); err == driver.ErrNotFound {
		err = nil
	}
	return last, err
}

// Prune: the lowest first. Their numbers are not given again: next counts on.
func (s *Store) Prune(ctx context.Context, through uint64, n int) (removed int, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	scan(x, keyOf("record", ""), func(key string, r driver.Record) {
		if r.Seq <= through && removed < n {
			x.remove(key)
			removed++
		}
	})
	return removed, nil
}

// Get: expired ones too, until they are swept.
func (s *Store) Get(ctx context.Context, kind, id string) (d driver.Doc, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	return load[driver.Doc](x, keyOf("doc", kind, id))
}

// List: by the bytes of entry + 0x1F + id, and next is the first place that did not fit.
func (s *Store) List(ctx context.Context, kind string, span driver.Span,
	n int) (docs []driver.Doc, next string, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	found := map[string]string{}
	scan(x, keyOf("doc", kind, ""), func(key string, d driver.Doc) {
		for _, entry := range d.Index {
			if place := entry + driver.Separator + d.ID; span.From <= place && place < span.To {
				found[place] = key
			}
		}
	})
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if len(docs) == n {
			return docs, place, nil
		}
		d, _ := load[driver.Doc](x, found[place])
		docs = append(docs, d)
	}
	return docs, "", nil
}

// Put: all documents or none, and a version that was never given before.
func (s *Store) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	if err := driver.CheckPut(docs...); err != nil || len(docs) == 0 {
		return 0, err
	}
	x := s.begin(ctx)
	defer x.end(&err)
	version = int64(x.next("version"))
	for _, d := range docs {
		key := keyOf("doc", d.Kind, d.ID)
		switch stored, err := load[driver.Doc](x, key); {
		case d.Version == 0 && err == nil:
			return 0, &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrExists}
		case d.Version != stored.Version: // a removed document has version 0
			return 0, &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrConflict}
		case d.Deleted:
			x.remove(key)
		default:
			d.Version, d.ExpiresAt = version, d.ExpiresAt.UTC()
			x.save(key, d)
		}
	}
	return version, nil
}

// Sweep: what ended by at, up to n, and nothing that never ends; rows of hours end too.
func (s *Store) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error) {
	x := s.begin(ctx)
	defer x.end(&err)
	end := func(key string, end time.Time) {
		if removed < n && !end.IsZero() && !end.After(at) {
			x.remove(key)
			removed++
		}
	}
	scan(x, keyOf("token", ""), func(key string, t token) { end(key, t.ExpiresAt) })
	scan(x, keyOf("revocation", ""), func(key string, r driver.Revocation) { end(key, r.Until) })
	scan(x, keyOf("doc", ""), func(key string, d driver.Doc) { end(key, d.ExpiresAt) })
	scan(x, keyOf("usage", ""), func(key string, r row) {
		if !r.Daily {
			end(key, r.At.Add(driver.UsageHours+1))
		}
	})
	return removed, nil
}
