package storagetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/transfer"
)

func replacing() []promise {
	return []promise{
		{name: "a token that is replaced ends when the new one does", test: func(t testing.TB, b driver.Backend) {
			x := token("a")
			x.ExpiresAt = at(1)
			load(t, b, transfer.Tokens, transfer.TokenRow(x))
			x.ExpiresAt, x.SpentAt = at(5), at(2)
			load(t, b, transfer.Tokens, transfer.TokenRow(x))
			sweep(t, b, at(4), 0)
			sameToken(t, read(t, b, x.Key), x)
			sweep(t, b, at(5), 1)
			wantRows(t, b, transfer.Tokens)
		}},
		{name: "a revocation that is replaced moves in the feed", test: func(t testing.TB, b driver.Backend) {
			r := driver.Revocation{Seq: 2, Kind: driver.RevokeApp, ID: "a", Before: at(9), Until: at(1)}
			other := driver.Revocation{Seq: 3, Kind: driver.RevokeApp, ID: "b"}
			load(t, b, transfer.Revocations, transfer.RevocationRow(r), transfer.RevocationRow(other))
			r.Seq, r.Before, r.Until = 7, at(3), at(5) // it may shrink: rows are not joined
			load(t, b, transfer.Revocations, transfer.RevocationRow(r))
			rs := feed(t, b, 0)
			if len(rs) != 2 || rs[0].ID != "b" || rs[1].Seq != 7 || !same(rs[1].Before, at(3)) {
				t.Fatalf("Revocations() = %+v", rs)
			}
			sweep(t, b, at(4), 0)
			sweep(t, b, at(5), 1)
		}},
		{name: "a revocation gives way to another one with its Seq", test: func(t testing.TB, b driver.Backend) {
			a, z := driver.Revocation{Seq: 1, Kind: driver.RevokeApp, ID: "a"},
				driver.Revocation{Seq: 2, Kind: driver.RevokeApp, ID: "z"}
			load(t, b, transfer.Revocations, transfer.RevocationRow(a), transfer.RevocationRow(z))
			a.Seq = 2
			load(t, b, transfer.Revocations, transfer.RevocationRow(a))
			wantRows(t, b, transfer.Revocations, transfer.RevocationRow(a))
			if rs := feed(t, b, 0); len(rs) != 1 || rs[0].ID != "a" {
				t.Fatalf("Revocations() = %+v, want the one that was loaded", rs)
			}
			z.Seq = 1
			load(t, b, transfer.Revocations, transfer.RevocationRow(z))
			a.Seq, z.Seq = 1, 2 // both at once, each with the other's
			load(t, b, transfer.Revocations, transfer.RevocationRow(a), transfer.RevocationRow(z))
			wantRows(t, b, transfer.Revocations, transfer.RevocationRow(a), transfer.RevocationRow(z))
		}},
		{name: "a document that is replaced is found by its new entries alone", test: func(t testing.TB, b driver.Backend) {
			d := driver.Doc{Kind: "thing", ID: "a", Version: 5, Index: []string{"old", "both"}, ExpiresAt: at(1)}
			load(t, b, transfer.Documents, transfer.DocRow(d))
			d.Version, d.Index, d.ExpiresAt = 3, []string{"both", "new"}, at(5)
			load(t, b, transfer.Documents, transfer.DocRow(d))
			lists(t, b, driver.Is("old"))
			lists(t, b, driver.Is("both"), "a")
			lists(t, b, driver.Is("new"), "a")
			sweep(t, b, at(4), 0)
			d.Version = put(t, b, d) // the stored version is the loaded one, though it is lower
			sameDoc(t, get(t, b, "a"), d)
			sweep(t, b, at(5), 1)
		}},
		{name: "an hour that is too old is swept though it was loaded after a sweep",
			test: func(t testing.TB, b driver.Backend) {
				sweep(t, b, at(0), 0)
				old := transfer.UsageRow(driver.Count{AppID: "a", At: driver.Hour(at(0).Add(-driver.UsageHours - 2*time.Hour)),
					Calls: 1}, false)
				load(t, b, transfer.Usage, old)
				sweep(t, b, at(0), 1)
				wantRows(t, b, transfer.Usage)
			}},
	}
}

func unloading() []promise {
	return []promise{
		{name: "what is gone is gone everywhere", test: func(t testing.TB, b driver.Backend) {
			loadAll(t, b)
			for table, rows := range samples() {
				if table == transfer.Counters {
					continue
				}
				var gone [][]byte
				for _, r := range rows {
					gone = append(gone, r.Key)
				}
				want(t, "Load(gone)", adapter(t, b).Load(t.Context(), table, nil, gone), nil)
				wantRows(t, b, table)
				want(t, "Load(gone, again)", adapter(t, b).Load(t.Context(), table, nil, gone), nil)
			}
			wantRows(t, b, transfer.Counters, samples()[transfer.Counters]...)
			if rs := feed(t, b, 0); len(rs) > 0 {
				t.Errorf("the feed still has %d revocations", len(rs))
			}
			lists(t, b, driver.Is("all"))
			sweep(t, b, at(1<<20), 0)
		}},
		{name: "rows come and go in one step", test: func(t testing.TB, b driver.Backend) {
			for table, rows := range samples() {
				if table == transfer.Counters {
					continue
				}
				half := len(rows) / 2
				load(t, b, table, rows[:half]...)
				var gone [][]byte
				for _, r := range rows[:half] {
					gone = append(gone, r.Key)
				}
				want(t, "Load(rows, gone)", adapter(t, b).Load(t.Context(), table, rows[half:], gone), nil)
				wantRows(t, b, table, rows[half:]...)
			}
		}},
	}
}

func copyingStores() []promise {
	return []promise{
		{name: "a store is copied to it and back, exactly", test: func(t testing.TB, b driver.Backend) {
			source, back := memory.New(), memory.New()
			loadAll(t, source)
			for _, c := range [][2]driver.Backend{{source, b}, {b, back}} {
				report, err := transfer.Copy(t.Context(), c[0], c[1], transfer.Options{PageRows: 10})
				if want(t, "Copy()", err, nil); !report.Finished {
					t.Fatalf("Copy() = %+v", report)
				}
			}
			for table, rows := range samples() {
				wantRows(t, b, table, rows...)
				wantRows(t, back, table, rows...)
			}
		}},
		{name: "a copy that failed in the middle goes on", test: func(t testing.TB, b driver.Backend) {
			source := memory.New()
			loadAll(t, source)
			runs := 0
			for ended := false; !ended; runs++ {
				left := 3
				_, err := transfer.Copy(t.Context(), source, failing{b, adapter(t, b), &left}, transfer.Options{PageRows: 25})
				if ended = err == nil; !ended {
					want(t, "Copy(to a store that fails)", err, errFails)
				}
			}
			if runs < 5 {
				t.Errorf("it was done in %d runs", runs)
			}
			for table, rows := range samples() {
				wantRows(t, b, table, rows...)
			}
		}},
		{name: "what differs is repaired, and what is too much is removed", test: func(t testing.TB, b driver.Backend) {
			source := memory.New()
			for table, rows := range samples() {
				load(t, source, table, rows[:len(rows)-1]...)
			}
			_, err := transfer.Copy(t.Context(), source, b, transfer.Options{Live: true})
			want(t, "Copy()", err, nil)
			for table, rows := range samples() {
				last := len(rows) - 1
				load(t, b, table, transfer.Row{Key: rows[1].Key, Value: rows[2].Value}, rows[last])
			}
			_, err = transfer.Copy(t.Context(), source, b, transfer.Options{PageRows: 7})
			want(t, "Copy(again)", err, nil)
			for table := range samples() {
				wantRows(t, b, table, listed(t, source, table, transfer.PageRows)...)
			}
		}},
	}
}

var errFails = errors.New("it fails")

// failing is a Backend whose Load fails after some.
type failing struct {
	driver.Backend
	transfer.Adapter
	left *int
}

func (f failing) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	if *f.left--; *f.left < 0 {
		return errFails
	}
	return f.Adapter.Load(ctx, table, rows, gone)
}
