package storagetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// picking are promises of a driver.Picker. A Backend that is none keeps them by not being asked.
func picking() []promise {
	return []promise{
		{name: "the records that are asked for come, ascending and once, with every field", test: picked(pickFields)},
		{name: "what is not there is left out", test: picked(pickMissing)},
		{name: "a page of Seqs is answered in one call", test: picked(pickPage)},
	}
}

func picked(test func(testing.TB, driver.Backend, driver.Picker)) func(testing.TB, driver.Backend) {
	return func(t testing.TB, b driver.Backend) {
		if p, ok := driver.As[driver.Picker](b); ok {
			test(t, b, p)
		}
	}
}

func pick(t testing.TB, p driver.Picker, seqs ...uint64) []driver.Record {
	t.Helper()
	records, err := p.Pick(t.Context(), seqs...)
	want(t, fmt.Sprintf("Pick(%d Seqs)", len(seqs)), err, nil)
	return records
}

func pickFields(t testing.TB, b driver.Backend, p driver.Picker) {
	want(t, "Append(records)", b.Append(t.Context(), driver.Record{At: abroad(at(1).Add(1)), Data: []byte("\x00\xff{}")},
		driver.Record{}), nil)
	record(t, b, "c", "d", "e")
	all := trail(t, b, 0, 9)
	asked := []uint64{all[3].Seq, all[0].Seq, all[3].Seq, all[1].Seq}
	kept := slices.Clone(asked)
	got := pick(t, p, asked...)
	if !slices.Equal(asked, kept) {
		t.Errorf("Pick(seqs) has changed its argument to %d", asked)
	}
	if len(got) != 3 {
		t.Fatalf("Pick(seqs) = %d records, want 3", len(got))
	}
	for i, wanted := range []driver.Record{all[0], all[1], all[3]} {
		if got[i].Seq != wanted.Seq || !same(got[i].At, wanted.At) || !slices.Equal(got[i].Data, wanted.Data) {
			t.Errorf("Pick(seqs)[%d] = %+v, want %+v", i, got[i], wanted)
		}
	}
	clear(got[2].Data)
	wantTrail(t, pick(t, p, all[3].Seq), "d")
}

func pickMissing(t testing.TB, b driver.Backend, p driver.Picker) {
	wantTrail(t, pick(t, p))
	wantTrail(t, pick(t, p, 1, 7, math.MaxInt64))
	record(t, b, "a", "b", "c")
	all := trail(t, b, 0, 9)
	prune(t, b, all[0].Seq, 9, 1)
	wantTrail(t, pick(t, p, 0, all[0].Seq, all[2].Seq, all[2].Seq+1, math.MaxInt64), "c")
}

func pickPage(t testing.TB, b driver.Backend, p driver.Picker) {
	texts := make([]string, driver.Page)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	record(t, b, texts...)
	var seqs []uint64
	for _, r := range trail(t, b, 0, driver.Page) {
		seqs = append(seqs, r.Seq)
	}
	wantTrail(t, pick(t, p, seqs...), texts...)
}
