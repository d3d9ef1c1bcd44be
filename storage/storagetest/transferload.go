package storagetest

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

func loading() []promise {
	return []promise{
		{name: "rows are listed exactly as they were loaded", test: func(t testing.TB, b driver.Backend) {
			loadAll(t, b)
			for table, rows := range samples() {
				wantRows(t, b, table, rows...)
			}
		}},
		{name: "loading twice changes nothing more", test: func(t testing.TB, b driver.Backend) {
			loadAll(t, b)
			loadAll(t, b)
			for table, rows := range samples() {
				wantRows(t, b, table, rows...)
			}
		}},
		{name: "nothing to load is fine", test: func(t testing.TB, b driver.Backend) {
			for _, table := range transfer.Tables() {
				load(t, b, table)
			}
		}},
		{name: "rows that were handed in may be changed", test: func(t testing.TB, b driver.Backend) {
			for table, rows := range samples() {
				load(t, b, table, rows...)
				for _, r := range rows {
					clear(r.Key)
					clear(r.Value)
				}
			}
			for table, rows := range samples() {
				wantRows(t, b, table, rows...)
			}
		}},
		{name: "the methods read what was loaded", test: readLoaded},
		{name: "a token spent before stays spent, and one that is revoked stays so", test: spentLoaded},
		{name: "a batch counted before is not counted again", test: func(t testing.TB, b driver.Backend) {
			load(t, b, transfer.Batches, transfer.BatchRow(driver.Batch{Node: "n", Seq: 7}))
			load(t, b, transfer.Usage,
				transfer.UsageRow(driver.Count{AppID: "a", Product: "p", At: driver.Hour(at(0)), Calls: 5}, false))
			for _, seq := range []uint64{6, 7, 8} {
				want(t, "Count()", b.Count(t.Context(), driver.Batch{Node: "n", Seq: seq},
					[]driver.Count{{AppID: "a", Product: "p", At: at(0), Calls: 2}}), nil)
			}
			rows, err := b.Usage(t.Context(), driver.UsageQuery{AppID: "a", From: at(-200), To: at(200)})
			if want(t, "Usage()", err, nil); len(rows) != 1 || rows[0].Calls != 7 {
				t.Errorf("Usage() = %+v, want one row of 7 calls", rows)
			}
		}},
		{name: "no number is given again", test: loadedNumbersGoOn},
		{name: "counters are written up and down", test: func(t testing.TB, b driver.Backend) {
			for _, last := range []uint64{9, math.MaxInt64 - 1, 3, 0, 1} {
				var rows []transfer.Row
				for _, name := range transfer.CounterNames() {
					rows = append(rows, transfer.CounterRow(name, last))
				}
				load(t, b, transfer.Counters, rows...)
				wantRows(t, b, transfer.Counters, rows...)
			}
		}},
	}
}

func readLoaded(t testing.TB, b driver.Backend) {
	loadAll(t, b)
	all := samples()
	for _, r := range all[transfer.Tokens] {
		x, _ := r.Token()
		sameToken(t, read(t, b, x.Key), x)
	}
	for _, r := range all[transfer.Documents] {
		d, _ := r.Doc()
		got, err := b.Get(t.Context(), d.Kind, d.ID)
		want(t, "Get()", err, nil)
		sameDoc(t, got, d)
		for _, entry := range d.Index {
			docs, _, err := b.List(t.Context(), d.Kind, driver.Span{From: entry + driver.Separator + d.ID,
				To: driver.After(entry, d.ID)}, 2)
			if want(t, "List()", err, nil); len(docs) != 1 || docs[0].ID != d.ID || docs[0].Version != d.Version {
				t.Fatalf("List(%q of %q) = %d documents, want this one", entry, d.ID, len(docs))
			}
		}
	}
	for _, r := range all[transfer.Audit] {
		record, _ := r.Record()
		got, err := b.Records(t.Context(), record.Seq-1, 1)
		if want(t, "Records()", err, nil); len(got) != 1 || got[0].Seq != record.Seq || !same(got[0].At, record.At) ||
			string(got[0].Data) != string(record.Data) {
			t.Fatalf("Records(%d) = %+v, want %+v", record.Seq-1, got, record)
		}
	}
	found := 0
	for _, r := range feed(t, b, 0) {
		found++
		if row := transfer.RevocationRow(r); !hasRow(all[transfer.Revocations], row) {
			t.Fatalf("the feed has %+v, which was not loaded", r)
		}
	}
	if found != len(all[transfer.Revocations]) {
		t.Fatalf("the feed has %d revocations, want %d", found, len(all[transfer.Revocations]))
	}
}

func hasRow(rows []transfer.Row, row transfer.Row) bool {
	for _, r := range rows {
		if string(r.Key) == string(row.Key) && string(r.Value) == string(row.Value) {
			return true
		}
	}
	return false
}

func spentLoaded(t testing.TB, b driver.Backend) {
	spent, ended, live := token("a"), token("b"), token("c")
	spent.SpentAt = at(2)
	load(t, b, transfer.Tokens, transfer.TokenRow(spent), transfer.TokenRow(ended), transfer.TokenRow(live))
	load(t, b, transfer.Revocations,
		transfer.RevocationRow(driver.Revocation{Seq: 5, Kind: driver.RevokeUser, ID: ended.UserID, Before: at(1)}))
	want(t, "Exchange(spent)", b.Exchange(t.Context(), spent.Key, at(3)), driver.ErrSpent)
	want(t, "Exchange(revoked)", b.Exchange(t.Context(), ended.Key, at(3)), driver.ErrRevoked)
	want(t, "Exchange(live)", b.Exchange(t.Context(), live.Key, at(3)), nil)
	want(t, "Issue(a key that is taken)", b.Issue(t.Context(), live), driver.ErrExists)
}

func loadedNumbersGoOn(t testing.TB, b driver.Backend) {
	const record, revocation, version = uint64(1 << 40), uint64(1 << 41), uint64(1 << 42)
	load(t, b, transfer.Counters, transfer.CounterRow(transfer.LastRecord, record),
		transfer.CounterRow(transfer.LastRevocation, revocation), transfer.CounterRow(transfer.LastVersion, version))
	load(t, b, transfer.Revocations, transfer.RevocationRow(driver.Revocation{Seq: 3, Kind: driver.RevokeGrant, ID: "g"}))
	load(t, b, transfer.Audit, transfer.RecordRow(driver.Record{Seq: 3, At: at(0)}))
	load(t, b, transfer.Documents, transfer.DocRow(driver.Doc{Kind: "thing", ID: "a", Version: 3}))
	if last, err := b.Appended(t.Context()); err != nil || last != record && last != 0 {
		t.Errorf("Appended() = %d, %v, want %d", last, err, record)
	}
	want(t, "Append()", b.Append(t.Context(), driver.Record{At: at(0)}), nil)
	records, err := b.Records(t.Context(), 3, 9)
	if want(t, "Records()", err, nil); len(records) != 1 || records[0].Seq <= record {
		t.Errorf("Records() = %+v, want one with a Seq above %d", records, record)
	}
	revoke(t, b, driver.Revocation{Kind: driver.RevokeGrant, ID: "h"})
	if rs := feed(t, b, 3); len(rs) != 1 || rs[0].Seq <= revocation {
		t.Errorf("Revocations() = %+v, want one with a Seq above %d", rs, revocation)
	}
	d := get(t, b, "a")
	if next := put(t, b, d); next <= int64(version) {
		t.Errorf("Put() = version %d, want one above %d", next, version)
	}
	wantCounters := listed(t, b, transfer.Counters, 9)
	for i, above := range []uint64{record, revocation, version} {
		if _, last, err := wantCounters[i].Counter(); err != nil || last <= above {
			t.Errorf("counter %d is %d, %v, want it above %d", i, last, err, above)
		}
	}
}

func refusingRows() []promise {
	return []promise{
		{name: "a row that cannot be read is refused, with all others", test: func(t testing.TB, b driver.Backend) {
			for table, rows := range samples() {
				bad := transfer.Row{Key: rows[1].Key, Value: rows[1].Value[:1]}
				for _, rows := range [][]transfer.Row{{rows[0], bad}, {bad, rows[0]},
					{{Key: []byte("none"), Value: rows[0].Value}}} {
					err := adapter(t, b).Load(t.Context(), table, rows, nil)
					want(t, "Load(a row that is none)", err, driver.ErrInvalid)
				}
				if table != transfer.Counters {
					err := adapter(t, b).Load(t.Context(), table, rows[:1], [][]byte{[]byte("none")})
					want(t, "Load(gone: a key that is none)", err, driver.ErrInvalid)
				}
			}
			for _, table := range transfer.Tables()[1:] {
				wantRows(t, b, table)
			}
		}},
		{name: "a table that is none is refused", test: func(t testing.TB, b driver.Backend) {
			_, err := adapter(t, b).Rows(t.Context(), "things", nil, 1)
			want(t, "Rows(no table)", err, driver.ErrInvalid)
			r := samples()[transfer.Tokens][0]
			want(t, "Load(no table)", adapter(t, b).Load(t.Context(), "things", []transfer.Row{r}, nil), driver.ErrInvalid)
		}},
		{name: "no counter is removed", test: func(t testing.TB, b driver.Backend) {
			loadAll(t, b)
			rows := samples()[transfer.Counters]
			err := adapter(t, b).Load(t.Context(), transfer.Counters, nil, [][]byte{rows[0].Key})
			want(t, "Load(gone: a counter)", err, driver.ErrInvalid)
			wantRows(t, b, transfer.Counters, rows...)
		}},
		{name: "no row has a time before the year 1 or behind 9999", test: func(t testing.TB, b driver.Backend) {
			for _, year := range []int{0, -5, 10_000} {
				r := transfer.RecordRow(driver.Record{Seq: 1, At: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)})
				err := adapter(t, b).Load(t.Context(), transfer.Audit, []transfer.Row{r}, nil)
				if !errors.Is(err, driver.ErrInvalid) {
					t.Errorf("Load(a record of the year %d) = %v, want ErrInvalid", year, err)
				}
			}
		}},
	}
}
