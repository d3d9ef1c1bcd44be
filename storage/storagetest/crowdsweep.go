package storagetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func crowdedSweeps() []promise {
	return []promise{
		{name: "4 sweeps at once remove each thing once, beside those who make new ones", test: sweepRace},
		{name: "a document whose end is moved on beside a sweep is there, or its Put was refused", test: sweepBesidePut},
		{name: "4 prunes at once remove each record once", test: pruneRace},
	}
}

func sweepRace(t testing.TB, b driver.Backend) {
	const each = 60
	var docs []driver.Doc
	for i := range each {
		x, d := ending(at(5))
		d.ID = fmt.Sprint("ends ", i)
		issue(t, b, x)
		docs = append(docs, d)
		revoke(t, b, driver.Revocation{Kind: driver.RevokeJTI, ID: fmt.Sprint("ends ", i), Until: at(5)})
	}
	put(t, b, docs...)
	var removed atomic.Int64
	allNil(t, "Sweep(at, 25)", together(6, func(i int) error {
		for j := 0; ; j++ {
			if i >= 4 { // new ones, that stay
				if j == 10 {
					return nil
				}
				_, err := b.Put(t.Context(), doc(fmt.Sprint("stays ", i, j), "stays"))
				if err := errors.Join(err, b.Issue(t.Context(), token("a")),
					b.Revoke(t.Context(), grantEnd(fmt.Sprint(i, j)))); err != nil {
					return err
				}
				continue
			}
			n, err := b.Sweep(t.Context(), at(5), 25)
			if removed.Add(int64(n)); err != nil || j == 12 {
				return err
			}
		}
	}))
	for n := 1; n > 0; {
		var err error
		n, err = b.Sweep(t.Context(), at(5), driver.Page)
		want(t, "Sweep(at)", err, nil)
		removed.Add(int64(n))
	}
	if removed.Load() != 3*each {
		t.Errorf("sweeps at once removed %d, want %d", removed.Load(), 3*each)
	}
	lists(t, b, driver.Is("all"))
	page, _, err := b.List(t.Context(), "thing", driver.Is("stays"), driver.Page)
	if want(t, "List(stays)", err, nil); len(page) != 20 || len(feed(t, b, 0)) != 20 {
		t.Errorf("%d documents and %d revocations that do not end are left, want 20 and 20", len(page), len(feed(t, b, 0)))
	}
}

func sweepBesidePut(t testing.TB, b driver.Backend) {
	for round := range 15 {
		_, d := ending(at(5))
		d.ID = fmt.Sprint(round)
		d.Version = put(t, b, d)
		later := d
		later.ExpiresAt, later.Index = at(900), []string{"kept"}
		var version int64
		answers := together(2, func(i int) (err error) {
			if i == 0 {
				_, err = b.Sweep(t.Context(), at(5), driver.Page)
				return err
			}
			version, err = b.Put(t.Context(), later)
			return err
		})
		want(t, "Sweep(at)", answers[0], nil)
		if answers[1] != nil {
			want(t, "Put(document with a later end)", answers[1], driver.ErrConflict)
			gone(t, b, d.ID)
			continue
		}
		later.Version = version
		sameDoc(t, get(t, b, d.ID), later)
		lists(t, b, driver.Is("kept"), d.ID)
		put(t, b, removal(later))
	}
	lists(t, b, driver.Between("a", "z"))
}

func pruneRace(t testing.TB, b driver.Backend) {
	const all = 100
	for i := range all / 10 {
		record(t, b, fmt.Sprint(i), "", "", "", "", "", "", "", "", "")
	}
	through := trail(t, b, 0, all)[all-6].Seq
	var removed atomic.Int64
	allNil(t, "Prune(through, 20)", together(4, func(int) error {
		for range 8 {
			n, err := b.Prune(t.Context(), through, 20)
			if removed.Add(int64(n)); err != nil {
				return err
			}
		}
		return nil
	}))
	if left := trail(t, b, 0, all); removed.Load() != all-5 || len(left) != 5 {
		t.Errorf("prunes at once removed %d and left %d, want %d and 5", removed.Load(), len(left), all-5)
	}
}
