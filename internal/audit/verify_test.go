package audit

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// small is a trail of three chains that share a store: the second begins behind the
// first, which was killed; the third writes beside the second.
func small(t testing.TB) (*fakeStore, []Head) {
	t.Helper()
	s := &fakeStore{}
	dead := opened(t, s)
	note(t, dead, 0)
	t.Cleanup(func() { dead.Close(context.Background()) })
	second, third := opened(t, s), opened(t, s)
	second.Note(numbered(1))
	second.Note(numbered(2))
	note(t, second, 3)
	note(t, third, 4)
	note(t, second, 5)
	closed(t, second)
	closed(t, third)
	s = &fakeStore{records: slices.Clone(s.records)}
	report, _ := whole(t, s)
	if report.Records != 11 || report.Repeated != 0 || len(report.Heads) != 3 {
		t.Fatalf("Verify(small trail) = %+v, want 11 records in 3 chains", report)
	}
	return s, report.Heads
}

func note(t testing.TB, trail *Trail, i int) {
	t.Helper()
	if err := trail.NoteNow(t.Context(), numbered(i)); err != nil {
		t.Fatalf("NoteNow() = %v, want no error", err)
	}
}

// broken verifies a trail that was tampered with.
func broken(t testing.TB, records []driver.Record, kept ...Head) Report {
	t.Helper()
	report, err := Verify(t.Context(), &fakeStore{records: records}, kept...)
	if err != nil {
		t.Fatalf("Verify() = %v, want a report", err)
	}
	return report
}

func TestChangedBitIsFound(t *testing.T) {
	s := &fakeStore{} // begin, two events sent at once, end
	trail := opened(t, s)
	trail.Note(numbered(1))
	note(t, trail, 2)
	closed(t, trail)
	for i, r := range s.records {
		for bit := range 8 * len(r.Data) {
			records := slices.Clone(s.records)
			records[i].Data = bytes.Clone(r.Data)
			records[i].Data[bit/8] ^= 1 << (bit % 8)
			if broken(t, records).Err() == nil {
				t.Fatalf("bit %d of record %d is changed and nobody says so: %q", bit, i, records[i].Data)
			}
		}
		for _, d := range []time.Duration{-1, 1} {
			records := slices.Clone(s.records)
			records[i].At = r.At.Add(d)
			if broken(t, records).Err() == nil {
				t.Errorf("the time of record %d is changed by %d ns and nobody says so", i, d)
			}
		}
	}
}

func TestMissingRecordIsFound(t *testing.T) {
	s, heads := small(t)
	for from := range s.records {
		for to := from + 1; to <= len(s.records); to++ {
			records := slices.Delete(slices.Clone(s.records), from, to)
			if broken(t, records, heads...).Err() == nil {
				t.Errorf("records %d to %d are gone and nobody says so", from, to)
			}
		}
	}
	for i, r := range s.records {
		tail := slices.ContainsFunc(heads, func(h Head) bool { return h.Seq == r.Seq && h.Ended })
		report := broken(t, slices.Delete(slices.Clone(s.records), i, i+1))
		if tail == (report.Err() != nil) {
			t.Errorf("without kept heads, and record %d gone: %v, want a break unless it is a tail", i, report.Err())
		}
		if ended := func(h Head) bool { return h.Ended }; tail && len(slices.DeleteFunc(report.Heads, ended)) != 2 {
			t.Errorf("the tail at record %d is gone, and its chain counts as ended", i)
		}
	}
}

func TestRecordOutOfPlaceIsFound(t *testing.T) {
	s, heads := small(t)
	for i := range s.records {
		for j := range s.records {
			records := slices.Clone(s.records)
			a, b := &records[i], &records[j]
			a.Data, b.Data, a.At, b.At = b.Data, a.Data, b.At, a.At
			found := broken(t, records, heads...).Err() != nil
			same := sameChain(t, s.records[i])(s.records[j])
			switch {
			case found && i == j:
				t.Errorf("the trail is whole and counts as broken")
			case !found && i != j && same:
				t.Errorf("records %d and %d of one chain have changed places and nobody says so", i, j)
			}
		}
	}
}

func TestCopiedRecordIsFound(t *testing.T) {
	s, _ := small(t)
	for i, r := range s.records {
		for at := 0; at <= len(s.records); at++ {
			copied := r
			copied.Seq = uint64(at)*10 + 5
			records := slices.Insert(slices.Clone(s.records), at, copied)
			report := broken(t, records)
			if report.Err() == nil && report.Repeated != 1 {
				t.Errorf("record %d is copied to place %d and nobody says so", i, at)
			}
			// Only the last batch of a chain may stand twice.
			if later := slices.ContainsFunc(s.records[min(i+1, at):at], sameChain(t, r)); later && report.Err() == nil {
				t.Errorf("record %d is copied to place %d, behind later ones, and the trail counts as whole", i, at)
			}
		}
	}
}

func sameChain(t *testing.T, a driver.Record) func(driver.Record) bool {
	of := func(r driver.Record) string {
		e, _, _, err := decode(r.Data)
		if err != nil {
			t.Fatalf("decode() = %v, want no error", err)
		}
		return e.Chain
	}
	return func(b driver.Record) bool { return of(a) == of(b) }
}

func TestBatchThatWasSentTwiceIsNoHarm(t *testing.T) {
	s, heads := small(t)
	batch := s.records[4:7] // r1, r2, r3 of the second chain, sent at once
	again := func(records ...driver.Record) Report {
		return broken(t, renumbered(slices.Insert(slices.Clone(s.records), 7, records...)), heads...)
	}
	if r := again(batch...); r.Err() != nil || r.Repeated != 3 || r.Records != 14 {
		t.Errorf("Verify(a batch twice) = %+v, want 3 repeated and no break", r)
	}
	if r := again(slices.Concat(batch, batch)...); r.Err() != nil || r.Repeated != 6 {
		t.Errorf("Verify(a batch three times) = %+v, want 6 repeated and no break", r)
	}
	for name, records := range map[string][]driver.Record{
		"without its end":     batch[:2],
		"without its middle":  {batch[0], batch[2]},
		"without its first":   batch[1:],
		"begun twice":         {batch[0], batch[0], batch[1], batch[2]},
		"with another middle": {batch[0], s.records[8], batch[2]},
		"of an older batch":   {s.records[2]},
	} {
		if again(records...).Err() == nil {
			t.Errorf("the batch stands again %s, and the trail counts as whole", name)
		}
	}
	// At the end of the trail, where nothing comes after it.
	cut := slices.Concat(s.records[:7], batch[:2])
	if broken(t, renumbered(cut)).Err() == nil {
		t.Error("the trail ends amid a batch that stands again, and counts as whole")
	}
	for i := range batch {
		forged := slices.Clone(batch)
		forged[i].Data = bytes.Replace(forged[i].Data, []byte(`"status":200`), []byte(`"status":500`), 1)
		if again(forged...).Err() == nil {
			t.Errorf("record %d of the batch stands again with other words, and the trail counts as whole", i)
		}
	}
}

// renumbered gives Seqs anew, far from the links: those of the first records stay.
func renumbered(records []driver.Record) []driver.Record {
	for i := range records {
		records[i].Seq = uint64(i+1) * 10
	}
	return records
}

func TestHistoryWrittenAnewIsFoundByAKeptHead(t *testing.T) {
	s, heads := small(t)
	other, _ := small(t)
	if r := broken(t, other.records); r.Err() != nil {
		t.Fatalf("Verify(another trail) = %v, want a whole one", r.Err())
	}
	r := broken(t, other.records, heads...)
	if len(r.Breaks) != 3 || r.Breaks[0].Fault != Cut || r.Breaks[0].Chain != heads[0].Chain {
		t.Errorf("Verify(another trail, heads) = %v, want all 3 heads missed", r.Breaks)
	}
	forged := heads[1]
	forged.Hash = heads[0].Hash
	if r := broken(t, s.records, heads[1], forged); len(r.Breaks) != 1 || r.Breaks[0].Fault != Cut {
		t.Errorf("Verify(head with another hash) = %v, want it missed", r.Breaks)
	}
	var early []Head // of a time when the trail was shorter
	for n := 1; n < len(s.records); n++ {
		early = append(early, broken(t, slices.Clone(s.records[:n])).Heads...)
	}
	if r := broken(t, s.records, early...); r.Err() != nil {
		t.Errorf("Verify(earlier heads) = %v, want a whole trail", r.Err())
	}
}

func TestVerifySaysThatTheStoreIsAway(t *testing.T) {
	s, _ := small(t)
	calls := 0
	for k := 1; ; k++ {
		calls = 0
		s.before = func() error {
			if calls++; calls == k {
				return errAway
			}
			return nil
		}
		_, err := Verify(t.Context(), s)
		if calls < k {
			break
		}
		if !errors.Is(err, errAway) {
			t.Errorf("Verify() = %v when call %d fails, want %v", err, k, errAway)
		}
	}
	if _, err := Verify(t.Context(), stuck{}); !errors.Is(err, errNotRising) {
		t.Errorf("Verify(store that repeats itself) = %v, want an error", err)
	}
}
