package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// edges are promises that ordinary use does not notice when they are broken.
func edges() []promise {
	return []promise{
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
		{name: "a canceled Put or Exchange does its work or answers the context's error", test: canceledWrites},
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
