package storagetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func auditing() []promise {
	return []promise{
		{name: "every field of a record comes back", test: recordFields},
		{name: "Seq rises in the order of the calls, and within a call", test: func(t testing.TB, b driver.Backend) {
			record(t, b, "a")
			record(t, b, "b", "c")
			record(t, b, "d")
			wantTrail(t, trail(t, b, 0, driver.Page), "a", "b", "c", "d")
		}},
		{name: "a page holds up to n and goes on behind after", test: trailPages},
		{name: "the reader who follows beside 8 writers misses nothing", test: followRecords},
	}
}

func record(t testing.TB, b driver.Backend, texts ...string) {
	t.Helper()
	var records []driver.Record
	for _, text := range texts {
		records = append(records, driver.Record{At: at(0), Data: []byte(text)})
	}
	want(t, "Append(records)", b.Append(t.Context(), records...), nil)
}

func trail(t testing.TB, b driver.Backend, after uint64, n int) []driver.Record {
	t.Helper()
	records, err := b.Records(t.Context(), after, n)
	want(t, fmt.Sprintf("Records(%d, %d)", after, n), err, nil)
	return records
}

// wantTrail checks that a trail holds these texts, and that its Seq rise from above 0.
func wantTrail(t testing.TB, got []driver.Record, texts ...string) {
	t.Helper()
	if len(got) != len(texts) {
		t.Fatalf("Records(after) = %d records, want %d", len(got), len(texts))
	}
	last := uint64(0)
	for i, r := range got {
		if string(r.Data) != texts[i] || r.Seq <= last {
			t.Fatalf("Records(after)[%d] = %q with Seq %d behind %d, want %q and rising", i, r.Data, r.Seq, last, texts[i])
		}
		last = r.Seq
	}
}

func recordFields(t testing.TB, b driver.Backend) {
	puts := []driver.Record{
		{At: abroad(at(1).Add(1)), Data: []byte("\x00\xff{}")},
		{At: at(-1)}, // the trail is ordered by Seq, not by time
		{Data: []byte("no time")},
		{Seq: 1000, At: at(1), Data: []byte("a Seq handed in is not read")},
	}
	want(t, "Append(records)", b.Append(t.Context(), puts...), nil)
	got := trail(t, b, 0, driver.Page)
	if len(got) != len(puts) {
		t.Fatalf("Records(0) = %d records, want %d", len(got), len(puts))
	}
	for i, put := range puts {
		if !same(got[i].At, put.At) || !bytes.Equal(got[i].Data, put.Data) || got[i].Seq == put.Seq {
			t.Errorf("Records(0)[%d] = %+v, want %+v with a Seq of the store, in UTC", i, got[i], put)
		}
	}
}

func trailPages(t testing.TB, b driver.Backend) {
	record(t, b, "a", "b", "c", "d", "e")
	all := trail(t, b, 0, driver.Page)
	wantTrail(t, all, "a", "b", "c", "d", "e")
	wantTrail(t, trail(t, b, all[0].Seq, 3), "b", "c", "d")
	wantTrail(t, trail(t, b, all[3].Seq, 3), "e")
	wantTrail(t, trail(t, b, all[4].Seq, 3))
	wantTrail(t, trail(t, b, all[4].Seq+1000, 3))
}

func followRecords(t testing.TB, b driver.Backend) {
	const writers, each = 8, 20
	var seen []driver.Record
	after := uint64(0)
	answers := meanwhile(writers, each, func(i, j int) error {
		return b.Append(t.Context(),
			driver.Record{Data: fmt.Append(nil, i, " ", j, " first")}, driver.Record{Data: fmt.Append(nil, i, " ", j, " last")})
	}, func() {
		for page := []driver.Record{{}}; len(page) > 0; {
			page = trail(t, b, after, 7)
			for _, r := range page {
				if r.Seq <= after {
					t.Fatalf("Records(%d, 7) holds Seq %d behind it, want rising", after, r.Seq)
				}
				after = r.Seq
			}
			seen = append(seen, page...)
		}
	})
	allNil(t, "Append(two)", answers)
	var texts []string
	for _, r := range trail(t, b, 0, driver.Page) {
		texts = append(texts, string(r.Data))
	}
	wantTrail(t, seen, texts...)
	if len(seen) != 2*writers*each {
		t.Fatalf("the reader saw %d records, want %d", len(seen), 2*writers*each)
	}
}
