package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// edges are promises that ordinary use does not notice when they are broken.
func edges() []promise {
	return []promise{
		{name: "times are in the years 1 to 9999", test: years},
		{name: "what ended long ago is there until it is swept, whatever a clock says", test: longAgo},
		{name: "of 16 revocations of one user at once the latest Before and Until stay", test: joinRace},
		{name: "a Seq handed in with a revocation is not read", test: func(t testing.TB, b driver.Backend) {
			r := grantEnd("a")
			r.Seq = 1000
			revoke(t, b, grantEnd("b"), r)
			if got := feed(t, b, 0); len(got) != 2 || got[1].Seq == 1000 {
				t.Fatalf("Revocations(0) = %+v, want two with a Seq of the store", got)
			}
		}},
		{name: "two callers who put the same documents in opposite order both get through", test: oppositeOrder},
		{name: "a span may end at a document, which is not in it", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "x"), doc("b", "x"), doc("c", "x"))
			lists(t, b, driver.Between("x", "x"+driver.Separator+"b"), "a")
			lists(t, b, driver.Between("x"+driver.Separator+"b", driver.After("x", "b")), "b")
		}},
		{name: "a batch may hold several applications", test: func(t testing.TB, b driver.Backend) {
			other := calls("ai", at(0), 20)
			other.AppID = "other"
			count(t, b, "node", 1, calls("ai", at(0), 10), other)
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 10))
			other.At = driver.Hour(at(0))
			usage(t, b, hours("other"), other)
		}},
		{name: "products are ordered by bytes", test: func(t testing.TB, b driver.Backend) {
			hour := driver.Hour(at(0))
			count(t, b, "node", 1, calls("a", at(0), 1), calls("B", at(0), 1), calls("a b", at(0), 1), calls("a\x01", at(0), 1))
			usage(t, b, hours("app"), calls("B", hour, 1), calls("a", hour, 1), calls("a\x01", hour, 1), calls("a b", hour, 1))
		}},
		{name: "a canceled Put or Exchange does its work or answers the context's error", test: canceledWrites},
	}
}

// years catches a Backend that keeps a time as nanoseconds in one integer of 64 bits: those
// end in 2262, and begin in 1677. Keep the seconds and the nanoseconds, or a text of one width.
func years(t testing.TB, b driver.Backend) {
	const hint = "keep seconds and nanoseconds, as 64 bits of nanoseconds hold the years 1678 to 2261 alone"
	moments := []time.Time{
		time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC), time.Date(1600, 2, 29, 1, 2, 3, 4, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999999999, time.UTC),
		time.Date(2262, 4, 12, 0, 0, 0, 5, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
	}
	for i, moment := range moments {
		back := func(what string, got time.Time) {
			t.Helper()
			if !same(got, moment) {
				t.Fatalf("%s: %v came back as %v; %s", what, moment, got, hint)
			}
		}
		x, d := ending(moment)
		issue(t, b, x)
		back("ExpiresAt of a token", read(t, b, x.Key).ExpiresAt)
		put(t, b, d)
		back("ExpiresAt of a document", get(t, b, d.ID).ExpiresAt)
		revoke(t, b, driver.Revocation{Kind: driver.RevokeUser, ID: "nobody " + fmt.Sprint(i), Before: moment, Until: moment})
		r := feed(t, b, 0)[i]
		back("Before of a revocation", r.Before)
		back("Until of a revocation", r.Until)
		want(t, "Append(record)", b.Append(t.Context(), driver.Record{At: moment}), nil)
		back("At of an audit record", trail(t, b, uint64(i), 1)[0].At)
		count(t, b, "node", uint64(i+1), calls("ai", moment, 1))
		day := driver.Day(moment)
		rows, err := b.Usage(t.Context(), driver.UsageQuery{AppID: "app", From: day, To: day.Add(1), Daily: true})
		if want(t, "Usage(day)", err, nil); len(rows) != 1 || !same(rows[0].At, day) {
			t.Fatalf("Usage(day of %v) = %v, want its row; %s", moment, rows, hint)
		}
	}
	for i, moment := range moments { // each ends in its turn
		removed, err := b.Sweep(t.Context(), moment.Add(-1), driver.Page)
		want(t, "Sweep(before)", err, nil)
		if _, err := b.Get(t.Context(), "thing", fmt.Sprint("until ", moment)); err != nil {
			t.Fatalf("Sweep(%v) removed %d, and with them what ends a nanosecond later; %s", moment.Add(-1), removed, hint)
		}
		_, err = b.Sweep(t.Context(), moment, driver.Page)
		want(t, "Sweep(then)", err, nil)
		gone(t, b, fmt.Sprint("until ", moment))
		if got := feed(t, b, 0); len(got) != len(moments)-1-i {
			t.Fatalf("Sweep(%v) leaves %d revocations, want %d; %s", moment, len(got), len(moments)-1-i, hint)
		}
	}
}

// longAgo catches a Backend that looks at a clock: all other times here lie in the future.
func longAgo(t testing.TB, b driver.Backend) {
	once := time.Date(2001, time.July, 1, 12, 0, 0, 1, time.UTC)
	x, d := ending(once)
	next, _ := ending(once)
	issue(t, b, x)
	d.Version = put(t, b, d)
	revoke(t, b, driver.Revocation{Kind: driver.RevokeUser, ID: "user b", Before: at(60), Until: once})
	sameToken(t, read(t, b, x.Key), x)
	sameDoc(t, get(t, b, d.ID), d)
	lists(t, b, driver.Is("all"), d.ID)
	if got := feed(t, b, 0); len(got) != 1 {
		t.Errorf("Revocations(0) = %v, want the one whose Until has long passed", got)
	}
	want(t, "Exchange(ended long ago)", b.Exchange(t.Context(), x.Key, once, next), nil)
	sameToken(t, read(t, b, next.Key), next)
	y := token("b")
	issue(t, b, y)
	want(t, "Exchange(revoked)", b.Exchange(t.Context(), y.Key, once), driver.ErrRevoked)
	d.Version = put(t, b, d)
	sweep(t, b, once, 4)
}

func joinRace(t testing.TB, b driver.Backend) {
	for round := range 10 {
		user := driver.Revocation{Kind: driver.RevokeUser, ID: fmt.Sprint("user ", round)}
		allNil(t, "Revoke(user)", together(16, func(i int) error {
			r := user
			r.Before, r.Until = at(i), at(600-i)
			return b.Revoke(t.Context(), r)
		}))
		user.Before, user.Until = at(15), at(600)
		got := feed(t, b, 0)
		if len(got) != round+1 {
			t.Fatalf("Revocations(0) = %d revocations, want %d", len(got), round+1)
		}
		sameRevocation(t, got[round], user)
	}
}

// oppositeOrder catches locks taken document by document: a database ends such a deadlock
// with an error, others wait for ever.
func oppositeOrder(t testing.TB, b driver.Backend) {
	put(t, b, doc("a"), doc("b"))
	answers := together(2, func(i int) error {
		for range 25 {
			for again := true; again; {
				a, errA := b.Get(t.Context(), "thing", "a")
				z, errZ := b.Get(t.Context(), "thing", "b")
				docs := []driver.Doc{a, z}
				if i == 1 {
					slices.Reverse(docs)
				}
				_, err := b.Put(t.Context(), docs...)
				again = errors.Is(err, driver.ErrConflict)
				if err = errors.Join(errA, errZ, err); err != nil && !again {
					return err
				}
			}
		}
		return nil
	})
	allNil(t, "Put(a, b)", answers)
}

func canceledWrites(t testing.TB, b driver.Backend) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range 20 {
		x, d := token("a"), doc(fmt.Sprint(i))
		issue(t, b, x)
		if err := b.Exchange(ctx, x.Key, at(1)); err != nil {
			want(t, "Exchange(canceled, token)", err, context.Canceled)
		} else if read(t, b, x.Key).SpentAt.IsZero() {
			t.Errorf("Exchange(canceled, token) = nil, and the token is not spent")
		}
		if _, err := b.Put(ctx, d); err != nil {
			want(t, "Put(canceled, document)", err, context.Canceled)
		} else {
			get(t, b, d.ID)
		}
	}
}
