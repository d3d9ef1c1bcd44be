package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

func listingRows() []promise {
	return []promise{
		{name: "an empty store has three counters and nothing else", test: func(t testing.TB, b driver.Backend) {
			for _, table := range transfer.Tables() {
				var rows []transfer.Row
				if table == transfer.Counters {
					for _, name := range transfer.CounterNames() {
						rows = append(rows, transfer.CounterRow(name, 0))
					}
				}
				wantRows(t, b, table, rows...)
			}
		}},
		{name: "what the methods have written is listed as they read it", test: listedAsRead},
		{name: "counters count on when what they counted is gone", test: countersStay},
		{name: "rows that were handed out may be changed", test: func(t testing.TB, b driver.Backend) {
			loadAll(t, b)
			for table, rows := range samples() {
				for _, r := range listed(t, b, table, transfer.PageRows) {
					clear(r.Key)
					clear(r.Value)
				}
				wantRows(t, b, table, rows...)
			}
		}},
		{name: "rows are listed while others write", test: listedBesideWriters},
		{name: "a canceled context may end it, with its error", test: func(t testing.TB, b driver.Backend) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := adapter(t, b).Rows(ctx, transfer.Tokens, nil, 1); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Rows(canceled) = %v", err)
			}
			if err := adapter(t, b).Load(ctx, transfer.Tokens, nil, nil); err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Load(canceled) = %v", err)
			}
		}},
	}
}

// listedAsRead compares the tables with what the methods of the Backend return.
func listedAsRead(t testing.TB, b driver.Backend) {
	spent, live := token("a"), token("b")
	spent.Key[0], live.Key[0] = 1, 2
	live.ExpiresAt = oddTimes()[11]
	issue(t, b, spent, live)
	want(t, "Exchange(token)", b.Exchange(t.Context(), spent.Key, at(3)), nil)
	wantRows(t, b, transfer.Tokens, transfer.TokenRow(read(t, b, spent.Key)), transfer.TokenRow(read(t, b, live.Key)))

	revoke(t, b, driver.Revocation{Kind: driver.RevokeApp, ID: "b", Before: at(1)},
		driver.Revocation{Kind: driver.RevokeApp, ID: "a", Before: at(2), Until: at(9)})
	revoke(t, b, driver.Revocation{Kind: driver.RevokeApp, ID: "b", Before: at(0)})
	rs := feed(t, b, 0) // a, then b, which was joined
	wantRows(t, b, transfer.Revocations, transfer.RevocationRow(rs[0]), transfer.RevocationRow(rs[1]))

	batch := driver.Batch{Node: "n", Seq: 7}
	want(t, "Count()", b.Count(t.Context(), batch,
		[]driver.Count{{AppID: "a", Product: "p", At: at(0), Calls: 3, Errors: 1}}), nil)
	wantRows(t, b, transfer.Batches, transfer.BatchRow(batch))
	sum := driver.Count{AppID: "a", Product: "p", Calls: 3, Errors: 1}
	hour, day := sum, sum
	hour.At, day.At = driver.Hour(at(0)), driver.Day(at(0))
	wantRows(t, b, transfer.Usage, transfer.UsageRow(hour, false), transfer.UsageRow(day, true))

	want(t, "Append()", b.Append(t.Context(), driver.Record{At: at(0), Data: []byte("a")}, driver.Record{At: at(1)}), nil)
	records, err := b.Records(t.Context(), 0, 9)
	want(t, "Records()", err, nil)
	wantRows(t, b, transfer.Audit, transfer.RecordRow(records[0]), transfer.RecordRow(records[1]))

	put(t, b, doc("b", "x", "y"), driver.Doc{Kind: "thing", ID: "a", ExpiresAt: at(5)})
	d := get(t, b, "b")
	d.Data = []byte("changed")
	put(t, b, d)
	wantRows(t, b, transfer.Documents, transfer.DocRow(get(t, b, "a")), transfer.DocRow(get(t, b, "b")))
}

func countersStay(t testing.TB, b driver.Backend) {
	revoke(t, b, driver.Revocation{Kind: driver.RevokeGrant, ID: "g", Until: at(0)})
	seq := feed(t, b, 0)[0].Seq
	want(t, "Append()", b.Append(t.Context(), driver.Record{At: at(0)}, driver.Record{At: at(0)}), nil)
	records, err := b.Records(t.Context(), 0, 9)
	want(t, "Records()", err, nil)
	last := records[1].Seq
	d := doc("a")
	d.Version = put(t, b, d)
	version := put(t, b, removal(d))
	sweep(t, b, at(1), 1)
	for range 3 {
		_, err := b.Prune(t.Context(), last, 9)
		want(t, "Prune()", err, nil)
	}
	wantRows(t, b, transfer.Counters, transfer.CounterRow(transfer.LastRecord, last),
		transfer.CounterRow(transfer.LastRevocation, seq), transfer.CounterRow(transfer.LastVersion, uint64(version)))
	for _, table := range []transfer.Table{transfer.Revocations, transfer.Audit, transfer.Documents} {
		wantRows(t, b, table)
	}
}

func listedBesideWriters(t testing.TB, b driver.Backend) {
	loadAll(t, b)
	rows := samples()[transfer.Tokens]
	var both sync.WaitGroup
	for i := range 4 {
		both.Go(func() {
			for n := range 10 {
				x := token(fmt.Sprint("later ", i, n))
				x.Key[0], x.Key[1], x.Key[2] = 255, 255, byte(i*10+n) // behind the samples
				if err := b.Issue(t.Context(), x); err != nil {
					t.Error(err)
				}
			}
		})
		both.Go(func() {
			for range 5 {
				page, err := adapter(t, b).Rows(t.Context(), transfer.Tokens, nil, len(rows))
				if err != nil || len(page) != len(rows) || !bytes.Equal(page[len(page)-1].Value, rows[len(rows)-1].Value) {
					t.Errorf("Rows() = %d rows, %v, want the %d that stay", len(page), err, len(rows))
				}
			}
		})
	}
	both.Wait()
}

func pagingRows() []promise {
	return []promise{
		{name: "pages of any size hold every row once, in order", test: func(t testing.TB, b driver.Backend) {
			loadAll(t, b)
			for table, rows := range samples() {
				for _, n := range []int{1, 2, 3, 7, len(rows), len(rows) + 1, transfer.PageRows} {
					sameRows(t, table, listed(t, b, table, max(1, n)), rows)
				}
			}
		}},
		{name: "a page begins behind a key, whether or not it is there", test: func(t testing.TB, b driver.Backend) {
			for table, rows := range samples() {
				if table == transfer.Counters {
					continue
				}
				var half []transfer.Row
				for i := 0; i < len(rows); i += 2 {
					half = append(half, rows[i])
				}
				load(t, b, table, half...)
				for i, r := range rows {
					page, err := adapter(t, b).Rows(t.Context(), table, r.Key, 1)
					want(t, "Rows(after)", err, nil)
					sameRows(t, table, page, half[min(len(half), i/2+1):min(len(half), i/2+2)])
				}
			}
		}},
		{name: "a page of large rows ends early, and is empty at the end alone", test: func(t testing.TB, b driver.Backend) {
			var rows []transfer.Row
			for i := range 12 {
				rows = append(rows, transfer.DocRow(driver.Doc{Kind: "large", ID: fmt.Sprintf("%02d", i), Version: 1,
					Data: bytes.Repeat([]byte{byte(i)}, 1<<20)}))
			}
			load(t, b, transfer.Documents, rows[:6]...)
			load(t, b, transfer.Documents, rows[6:]...)
			page, err := adapter(t, b).Rows(t.Context(), transfer.Documents, nil, transfer.PageRows)
			want(t, "Rows(large)", err, nil)
			if size := len(page) << 20; len(page) == 0 || size > transfer.PageBytes+1<<20 {
				t.Errorf("a page has %d rows of 1 MiB, want about %d bytes", len(page), transfer.PageBytes)
			}
			wantRows(t, b, transfer.Documents, rows...)
		}},
		{name: "ten thousand rows are listed", test: func(t testing.TB, b driver.Backend) {
			var rows []transfer.Row
			for i := range 10_000 {
				x := driver.Token{Kind: driver.KindRefresh, Grant: "g", ExpiresAt: at(i)}
				x.Key[0], x.Key[1], x.Key[39] = byte(i>>8), byte(i), 1
				rows = append(rows, transfer.TokenRow(x))
			}
			for i := 0; i < len(rows); i += transfer.PageRows {
				load(t, b, transfer.Tokens, rows[i:i+transfer.PageRows]...)
			}
			wantRows(t, b, transfer.Tokens, rows...)
		}},
	}
}
