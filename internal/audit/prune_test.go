package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// fixture is a trail in a store, and writers that begin, are killed and write beside each other.
type fixture struct {
	testing.TB
	*storage.Store
	backend driver.Backend
	rand    *rand.Rand
	writers []*trailWriter
	noon    time.Time
	at      int // seconds since noon
}

type trailWriter struct {
	*chain
	batch []driver.Record // the last one that was sent
}

func newFixture(t testing.TB, seed uint64) *fixture {
	t.Helper()
	b := memory.New()
	s, err := storage.Open(t.Context(), b, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{TB: t, Store: s, backend: b, rand: rand.New(rand.NewPCG(seed, 1)),
		noon: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
}

// must ends the tests at an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func (f *fixture) moment(seconds int) time.Time {
	return f.noon.Add(time.Duration(seconds) * time.Second)
}

// begin starts a chain behind the last record, or behind one that was the last some time ago.
func (f *fixture) begin() *trailWriter {
	behind := must(f.Appended(f.Context()))
	if late := uint64(f.rand.IntN(3)); behind > late {
		behind -= late // others have written since it looked
	}
	w := &trailWriter{chain: newChain(digest{})}
	e := entry{Event: Event{Kind: begin}}
	if page := must(f.Records(f.Context(), max(behind, 1)-1, 1)); len(page) == 1 && page[0].Seq == behind {
		w.hash, e.After = link(page[0].Data), behind
	}
	f.send(w, e)
	f.writers = append(f.writers, w)
	return w
}

// send stores a batch, one second after the one before.
func (f *fixture) send(w *trailWriter, entries ...entry) {
	f.Helper()
	f.at++
	w.batch = nil
	for i, e := range entries {
		e.At, e.RequestID = f.moment(f.at), fmt.Sprint("r", f.at)
		w.batch = append(w.batch, driver.Record{At: e.At, Data: w.append(nil, &e, i == 0)})
	}
	if err := f.Append(f.Context(), w.batch...); err != nil {
		f.Fatal(err)
	}
}

// step does something that happens to a trail.
func (f *fixture) step() {
	f.Helper()
	if len(f.writers) == 0 || f.rand.IntN(8) == 0 {
		f.begin()
		return
	}
	i := f.rand.IntN(len(f.writers))
	w := f.writers[i]
	switch f.rand.IntN(10) {
	case 0: // closed in order
		f.send(w, entry{Event: Event{Kind: end}})
		f.writers = slices.Delete(f.writers, i, i+1)
	case 1: // killed
		f.writers = slices.Delete(f.writers, i, i+1)
	case 2: // nobody has heard the answer
		if err := f.Append(f.Context(), w.batch...); err != nil {
			f.Fatal(err)
		}
	default:
		f.send(w, slices.Repeat([]entry{{Event: Event{Kind: event.Call}}}, 1+f.rand.IntN(3))...)
	}
}

// fill makes a trail of so many steps.
func (f *fixture) fill(steps int) *fixture {
	f.Helper()
	for range steps {
		f.step()
	}
	return f
}

// older are the limits that remove what is older than some seconds after noon.
func (f *fixture) older(seconds int) Limits {
	return Limits{Now: f.moment(f.at), Before: f.moment(seconds)}
}

func (f *fixture) prune(limits Limits) Plan {
	f.Helper()
	plan := must(PlanPrune(f.Context(), f, limits))
	if removed := must(plan.Do(f.Context(), f, f.moment(f.at))); uint64(removed) < plan.Records {
		f.Fatalf("Do() removed %d, want %d", removed, plan.Records)
	}
	return plan
}

// frozen is a trail to tamper with.
type frozen struct {
	*fakeStore
	given  uint64
	stored storage.Checkpoint
	forged bool
}

func (f *fixture) frozen() frozen {
	f.Helper()
	var s fakeStore
	for after := uint64(0); ; {
		page := must(f.Records(f.Context(), after, driver.Page))
		if len(page) == 0 {
			break
		}
		s.records = append(s.records, page...)
		after = page[len(page)-1].Seq
	}
	return frozen{&s, must(f.Appended(f.Context())), must(f.Checkpoint(f.Context())), false}
}

func (z frozen) Appended(context.Context) (uint64, error) { return z.given, nil }

func (z frozen) Checkpoint(context.Context) (storage.Checkpoint, error) {
	if z.forged {
		return storage.Checkpoint{}, storage.ErrCheckpoint
	}
	return z.stored, nil
}

// with is the same trail with other records.
func (z frozen) with(change func([]driver.Record) []driver.Record) frozen {
	z.fakeStore = &fakeStore{records: change(slices.Clone(z.records))}
	return z
}

func (z frozen) wantFound(t testing.TB, what string) {
	t.Helper()
	report, err := Verify(t.Context(), z)
	if err != nil || report.Err() == nil {
		t.Fatalf("%s, and Verify() = %v, %v", what, report.Err(), err)
	}
}

func TestPrunedTrailIsWholeWhereverItIsCut(t *testing.T) {
	for seed := range uint64(30) {
		f := newFixture(t, seed)
		var kept []Head
		cut := 0
		for range 4 {
			f.fill(25)
			before, _ := whole(t, f, kept...)
			kept = append(kept, before.Heads...)
			cut += f.rand.IntN(f.at - cut)
			plan := f.prune(f.older(cut))
			after, _ := whole(t, f, kept...)
			if plan.Records+after.Records != before.Records || after.Removed.Through != max(plan.Through,
				before.Removed.Through) {
				t.Fatalf("seed %d: %d of %d records are removed up to Seq %d, and %d are left behind Seq %d",
					seed, plan.Records, before.Records, plan.Through, after.Records, after.Removed.Through)
			}
			for _, h := range before.Heads {
				if left := h.Seq > after.Removed.Through; left != slices.Contains(after.Heads, h) {
					t.Fatalf("seed %d: head %v in the report: %t, want %t", seed, h, !left, left)
				}
			}
		}
	}
}

func TestVerifyFindsWhateverIsDoneToAPrunedTrail(t *testing.T) {
	for seed := range uint64(6) {
		f := newFixture(t, seed).fill(40)
		f.prune(f.older(8))
		old := f.frozen()
		f.fill(10)
		f.prune(f.older(12 + f.rand.IntN(16)))
		z := f.frozen()
		whole(t, z)
		for i, r := range z.records {
			z.with(func(all []driver.Record) []driver.Record { return slices.Delete(all, i, i+1) }).wantFound(t,
				fmt.Sprintf("seed %d: record %d is gone", seed, r.Seq))
			z.with(func(all []driver.Record) []driver.Record {
				all[i].Data = bytes.Clone(r.Data)
				all[i].Data[f.rand.IntN(len(r.Data))] ^= 1 << f.rand.IntN(8)
				return all
			}).wantFound(t, fmt.Sprintf("seed %d: record %d is changed", seed, r.Seq))
			z.with(func(all []driver.Record) []driver.Record { return all[:i] }).wantFound(t,
				fmt.Sprintf("seed %d: the trail ends before %d", seed, r.Seq))
			if i > 0 && sameChain(t, r)(z.records[i-1]) && !bytes.Equal(r.Data, z.records[i-1].Data) {
				z.with(func(all []driver.Record) []driver.Record {
					a, b := &all[i-1], &all[i]
					a.Data, b.Data, a.At, b.At = b.Data, a.Data, b.At, a.At
					return all
				}).wantFound(t, fmt.Sprintf("seed %d: records %d and the one before have changed places", seed, r.Seq))
			}
		}
		for what, change := range map[string]func(*frozen){
			"the checkpoint is gone":           func(z *frozen) { z.stored = storage.Checkpoint{} },
			"the checkpoint is an earlier one": func(z *frozen) { z.stored = old.stored },
			"the checkpoint is forged":         func(z *frozen) { z.forged = true },
			"all is gone":                      func(z *frozen) { z.fakeStore = &fakeStore{} },
			"all is gone, and nobody counts":   func(z *frozen) { z.fakeStore, z.given = &fakeStore{}, 0 },
			"the checkpoint is a later one":    func(z *frozen) { z.fakeStore = &fakeStore{records: z.records[:0:0]} },
		} {
			tampered := z
			change(&tampered)
			tampered.wantFound(t, fmt.Sprintf("seed %d: %s", seed, what))
		}
	}
}

func TestTailThatIsGoneIsNoticedWithoutAHead(t *testing.T) {
	f := newFixture(t, 1).fill(30)
	z := f.frozen()
	cut := z.with(func(all []driver.Record) []driver.Record { return all[:len(all)-2] })
	r, err := Verify(t.Context(), cut)
	if err != nil || r.Broken != 1 || r.Breaks[0] != (Break{Fault: Tail, Seq: z.given}) {
		t.Errorf("Verify(without the last two) = %v, %v; want that the tail is gone", r.Breaks, err)
	}
	unknown := cut
	unknown.given = 0
	if r, err := Verify(t.Context(), unknown); err != nil || r.Err() != nil {
		t.Errorf("Verify(without the last two, of a store that cannot tell) = %v, %v; want nothing said", r.Breaks, err)
	}
}

// A chain that goes on after a cut leaves a gap, and nothing in the chains tells of it: the record
// before the gap was the last of its chain.
func TestTailThatIsGoneIsNoticedWhenTheServiceHasGoneOn(t *testing.T) {
	f := newFixture(t, 1)
	f.send(f.begin(), entry{Event: Event{Kind: event.Call}}, entry{Event: Event{Kind: event.Call}})
	z := f.frozen()
	next := newChain(link(z.records[0].Data))
	e := entry{After: 1, Event: Event{Kind: begin, At: f.moment(9)}}
	z = z.with(func(all []driver.Record) []driver.Record {
		return append(all[:1], driver.Record{Seq: 4, At: e.At, Data: next.append(nil, &e, true)})
	})
	z.given = 4
	if r, err := Verify(t.Context(), z); err != nil || r.Broken != 1 || r.Breaks[0] != (Break{Fault: Gone, Seq: 4}) {
		t.Errorf("Verify() = %v, %v; want that records before Seq 4 are gone", r.Breaks, err)
	}
}

func TestKillBetweenCheckpointAndRemovalIsMended(t *testing.T) {
	for step := range 12 {
		f := newFixture(t, 7).fill(40)
		before, _ := whole(t, f)
		plan := must(PlanPrune(t.Context(), f, f.older(20)))
		if _, err := plan.Do(t.Context(), killed{f.Store, f.backend, step}, f.moment(f.at)); !errors.Is(err, errAway) {
			t.Fatalf("Do() = %v, want the kill", err)
		}
		if killed, _ := whole(t, f, before.Heads...); killed.Removed.Through != plan.Through ||
			killed.Records != before.Records-plan.Records {
			t.Fatalf("killed behind %d removals, %d records count behind Seq %d", step, killed.Records, killed.Removed.Through)
		}
		f.fill(5)
		whole(t, f, before.Heads...)
		if step%2 == 0 {
			f.prune(f.older(25))
		} else if _, err := Finish(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		whole(t, f, before.Heads...)
		if z := f.frozen(); z.records[0].Seq <= plan.Through {
			t.Fatalf("record %d is still there, want the rest removed", z.records[0].Seq)
		}
	}
}

// killed ends its process after some removals.
type killed struct {
	*storage.Store
	backend driver.Backend
	after   int
}

func (k killed) Prune(ctx context.Context, through uint64) (int, error) {
	_, err := k.backend.Prune(ctx, through, k.after)
	return 0, errors.Join(err, errAway)
}

func TestPruneByTwoAtOnceIsDoneByOne(t *testing.T) {
	f := newFixture(t, 3).fill(60)
	before, _ := whole(t, f)
	small := must(PlanPrune(t.Context(), f, f.older(10)))
	large := must(PlanPrune(t.Context(), f, f.older(30)))
	if _, err := large.Do(t.Context(), f, f.noon); err != nil {
		t.Fatal(err)
	}
	if n, err := small.Do(t.Context(), f, f.noon); !errors.Is(err, ErrRaced) || n != 0 {
		t.Errorf("Do() of who was late = %d, %v; want %v", n, err, ErrRaced)
	}
	after, _ := whole(t, f, before.Heads...)
	if after.Removed.Through != large.Through || after.Removed.Removed != large.Records || after.Removed.Prunes != 1 {
		t.Errorf("the checkpoint says %+v, want that of %+v alone", after.Removed, large)
	}
}

func TestVerifyBeginsAgainAfterAPrune(t *testing.T) {
	f := newFixture(t, 5).fill(60)
	meanwhile := &pruned{fixture: f, at: []int{10, 25, 40}}
	if r, err := Verify(t.Context(), meanwhile); err != nil || r.Err() != nil || r.Removed.Through == 0 {
		t.Errorf("Verify() beside a prune = %v, %v, %+v", r.Err(), err, r.Removed)
	}
	f = newFixture(t, 5).fill(60)
	var out bytes.Buffer
	if err := Export(t.Context(), &pruned{fixture: f, at: []int{25}}, &out, Filter{}, JSONL); !errors.Is(err, errPruned) {
		t.Errorf("Export() beside a prune = %v, want %v", err, errPruned)
	}
}

// pruned is pruned behind the back of a reader of its checkpoint.
type pruned struct {
	*fixture
	at []int
}

func (p *pruned) Appended(ctx context.Context) (uint64, error) {
	if len(p.at) > 0 {
		p.prune(p.older(p.at[0]))
		p.at = p.at[1:]
	}
	return p.fixture.Appended(ctx)
}

func TestClockThatIsAheadRemovesNothing(t *testing.T) {
	f := newFixture(t, 2)
	w := f.begin()
	f.at = 1000 // a clock that is wrong for a while
	for range 5 {
		f.send(w, entry{Event: Event{Kind: event.Call}})
	}
	f.at = 1
	for range 5 {
		f.send(w, entry{Event: Event{Kind: event.Call}})
	}
	limits := Limits{Now: f.moment(10), Before: f.moment(1)}
	if plan := must(PlanPrune(t.Context(), f, limits)); plan.Records != 0 {
		t.Errorf("PlanPrune() = %v while nothing is old, want nothing", plan)
	}
	limits.Before = f.moment(2) // the first record alone: what is dated ahead may be as young as what follows
	if plan := must(PlanPrune(t.Context(), f, limits)); plan.Records != 1 {
		t.Errorf("PlanPrune() = %v, want the first record", plan)
	}
	limits.Before = f.moment(4) // records behind those that are dated ahead are old: so are they
	if plan := must(PlanPrune(t.Context(), f, limits)); plan.Records != 8 {
		t.Errorf("PlanPrune() = %v, want 1, the 5 that are dated ahead, and 2", plan)
	}
}

// A clock that was ahead for an hour must not keep what is noted from then on for ever.
func TestPruneIgnoresManyRecordsDatedAhead(t *testing.T) {
	f := newFixture(t, 2)
	w := f.begin()
	f.at = 100_000
	f.send(w, slices.Repeat([]entry{{Event: Event{Kind: event.Call}}}, 30_000)...)
	f.at = 1
	for range 5 {
		f.send(w, entry{Event: Event{Kind: event.Call}})
	}
	limits := Limits{Now: f.moment(10), Before: f.moment(4), Most: 20_000}
	for i, want := range []uint64{20_000, 10_003, 0} {
		if plan := f.prune(limits); plan.Records != want || plan.Full != (i == 0) {
			t.Errorf("piece %d removed %v, more: %t; want %d records", i+1, plan, plan.Full, want)
		}
	}
	whole(t, f)
}

func TestLastRecordStays(t *testing.T) {
	f := newFixture(t, 4).fill(20)
	f.prune(Limits{Now: f.moment(99), Before: f.moment(99)})
	if z := f.frozen(); len(z.records) != 1 || z.records[0].Seq != z.given {
		t.Fatalf("%d records are left, want the last", len(z.records))
	}
	whole(t, f)
	f.fill(20)
	whole(t, f)
	closed(t, opened(t, f))
	whole(t, f)
	if plan := f.prune(Limits{Now: f.moment(0), Before: f.moment(0)}); plan.Records != 0 {
		t.Errorf("it removed %v, want nothing", plan)
	}
}

func TestSizeOfATrailIsBounded(t *testing.T) {
	f := newFixture(t, 6).fill(100)
	size := func() int64 {
		return must(weigh(t.Context(), f, f.frozen().records[0].Seq-1, f.frozen().given))
	}
	total := size()
	if plan := f.prune(Limits{Bytes: total}); plan.Records != 0 {
		t.Errorf("at its limit it removed %v, want nothing", plan)
	}
	limit := total / 2
	f.prune(Limits{Bytes: limit})
	if left := size(); left > limit/10*9 || left < limit/10*8 {
		t.Errorf("%d bytes are left of %d, want a little less than nine tenths of %d", left, total, limit)
	}
	whole(t, f)
	if plan := f.prune(Limits{Bytes: limit}); plan.Records != 0 {
		t.Errorf("at once it removed %v more, want nothing", plan)
	}
}

func TestLongTrailIsWeighedBySamples(t *testing.T) {
	s := &fakeStore{} // whose Seqs have gaps
	want := int64(0)
	for i := range 50_000 {
		data := bytes.Repeat([]byte("x"), 200+i%400)
		want += int64(len(data))
		s.records = append(s.records, driver.Record{Seq: uint64(i+1) * 10, Data: data})
	}
	got, err := weigh(t.Context(), s, 0, 500_000)
	if err != nil || got < want/10*9 || got > want/10*11 || s.reads > samples {
		t.Errorf("weigh() = %d, %v after %d reads; want about %d after up to %d", got, err, s.reads, want, samples)
	}
}

func TestPruneIsDoneInPieces(t *testing.T) {
	f := newFixture(t, 8).fill(100)
	limits := f.older(50)
	all := must(PlanPrune(t.Context(), f, limits))
	limits.Most = 7
	var removed uint64
	for range 100 {
		plan := f.prune(limits)
		whole(t, f)
		if removed += plan.Records; plan.Records > 7 {
			t.Fatalf("a piece has %d records, want up to 7", plan.Records)
		}
		if !plan.Full {
			break
		}
	}
	if r, _ := whole(t, f); removed != all.Records || r.Removed.Through != all.Through || r.Removed.Removed != removed {
		t.Errorf("%d records up to Seq %d are removed in pieces, want %d up to %d", removed, r.Removed.Through, all.Records,
			all.Through)
	}
}

func TestCheckpointThatDoesNotOpenStopsAPrune(t *testing.T) {
	z := newFixture(t, 9).fill(20).frozen()
	z.forged = true
	if _, err := PlanPrune(t.Context(), z, Limits{Before: time.Now(), Now: time.Now()}); !errors.Is(err,
		storage.ErrCheckpoint) {
		t.Errorf("PlanPrune() = %v, want %v", err, storage.ErrCheckpoint)
	}
	r, err := Verify(t.Context(), z)
	if err != nil || r.Breaks[0] != (Break{Fault: Forged}) || !strings.Contains(r.Err().Error(),
		"in front of the trail: checkpoint") {
		t.Errorf("Verify() = %v, %v", r.Err(), err)
	}
}

func TestBreaksInWhatIsRemovedAreRemembered(t *testing.T) {
	f := newFixture(t, 10)
	f.send(f.begin(), slices.Repeat([]entry{{Event: Event{Kind: event.Call}}}, 5)...)
	if err := f.Append(t.Context(), driver.Record{At: f.moment(1), Data: []byte("not of the trail")}); err != nil {
		t.Fatal(err)
	}
	f.fill(20)
	if plan := f.prune(f.older(5)); plan.Broken != 1 || !strings.Contains(plan.String(), "with 1 breaks in them") {
		t.Errorf("the plan is %v, want 1 break", plan)
	}
	f.prune(f.older(8))
	if r, _ := whole(t, f); r.Removed.Broken != 1 {
		t.Errorf("the checkpoint knows of %d breaks, want 1", r.Removed.Broken)
	}
}

// A chain that is gone as a whole leaves a gap in the Seqs and nothing else: once its place is
// removed, nobody could tell any more.
func TestRecordsThatAreMissingAmongWhatIsRemovedAreRemembered(t *testing.T) {
	f := newFixture(t, 13)
	goes, short := f.begin(), f.begin()
	f.send(goes, entry{Event: Event{Kind: event.Call}})
	f.send(short, entry{Event: Event{Kind: end}})
	for range 5 {
		f.send(goes, entry{Event: Event{Kind: event.Call}})
	}
	z := f.frozen()
	z = z.with(func(all []driver.Record) []driver.Record {
		return slices.DeleteFunc(all, func(r driver.Record) bool { return strings.Contains(string(r.Data), short.id) })
	})
	found, err := Verify(t.Context(), z)
	if err != nil || found.Broken != 2 {
		t.Fatalf("Verify() = %v, %v; want the two gaps", found.Breaks, err)
	}
	if plan := must(PlanPrune(t.Context(), z, f.older(8))); plan.Broken != found.Broken ||
		plan.now.Broken != found.Broken {
		t.Errorf("the plan is %v, want the breaks %v", plan, found.Breaks)
	}
	z.given = 0 // of a store that cannot tell
	if plan := must(PlanPrune(t.Context(), z, f.older(8))); plan.Broken != 0 {
		t.Errorf("the plan is %v of a store whose Seqs may have gaps, want no breaks", plan)
	}
}

// A record that a plan has missed because another process removed it meanwhile is no break.
func TestPlanMadeBesideAPruneFindsNoBreaks(t *testing.T) {
	f := newFixture(t, 5).fill(60)
	if plan, err := PlanPrune(t.Context(), &pruned{fixture: f, at: []int{25}}, f.older(40)); !errors.Is(err, ErrRaced) {
		t.Errorf("PlanPrune() = %v, %v; want %v", plan, err, ErrRaced)
	}
}

func TestKeptHeadsBehindTheCheckpoint(t *testing.T) {
	f := newFixture(t, 11)
	ended, goes := f.begin(), f.begin()
	f.send(goes, entry{Event: Event{Kind: event.Call}})
	f.send(ended, entry{Event: Event{Kind: end}})
	early, _ := whole(t, f)
	f.send(goes, entry{Event: Event{Kind: event.Call}})
	cut, _ := whole(t, f)
	f.at++
	f.send(goes, entry{Event: Event{Kind: event.Call}})
	f.prune(Limits{Now: f.moment(99), Before: f.moment(f.at)})
	fresh := f.begin()
	f.send(fresh, entry{Event: Event{Kind: event.Call}})
	now, _ := whole(t, f)
	plain := func(h Head) Head { h.Seq = 0; return h }
	of := func(r Report, w *trailWriter) Head {
		return r.Heads[slices.IndexFunc(r.Heads, func(h Head) bool { return h.Chain == w.id })]
	}
	forged := func(h Head) Head { h.Hash = digest{1}.String(); return h }
	grown := of(cut, goes)
	grown.N, grown.Seq = 99, 99
	deleted := Head{Chain: "deleted", N: 3, Hash: digest{}.String(), Seq: now.Removed.Through + 1}
	for name, c := range map[string]struct {
		head           Head
		behind, broken bool
	}{
		"at the cut":                      {of(cut, goes), false, false},
		"at the cut, of an older version": {plain(of(cut, goes)), false, false},
		"at the cut, with another hash":   {forged(of(cut, goes)), false, true},
		"before the cut":                  {of(early, goes), true, false},
		"before the cut, without a Seq":   {plain(of(early, goes)), true, false},
		"of a chain that ended":           {of(early, ended), false, false},
		"with another hash, before":       {forged(of(early, goes)), true, false},
		"behind the cut":                  {of(now, fresh), false, false},
		"behind the cut, another hash":    {forged(of(now, fresh)), false, true},
		"that was never reached":          {grown, false, true},
		"of a chain that is gone":         {deleted, false, true},
		"of an unknown chain without Seq": {plain(deleted), false, true},
	} {
		r, err := Verify(t.Context(), f, c.head)
		if err != nil || (r.Err() != nil) != c.broken || (len(r.Behind) == 1) != c.behind {
			t.Errorf("a head %s: %v, behind %v, %v; want broken %t, behind %t", name, r.Err(), r.Behind, err, c.broken, c.behind)
		}
	}
}

func TestCheckpointIsBounded(t *testing.T) {
	chains := map[string]*progress{}
	for i := range 3 * maxLinks {
		id := fmt.Sprintf("%026d", i)
		chains[id] = &progress{head: Head{Chain: id, N: 1 << 60, Hash: digest{}.String(), Seq: uint64(i), Ended: i%3 == 0},
			again: 1 << 60}
	}
	kept, dropped := links(chains, uint64(3*maxLinks))
	if len(kept) != maxLinks || dropped != 2*maxLinks || kept[maxLinks-1].Seq != 3*maxLinks-1 {
		t.Fatalf("links() keeps %d and drops %d, want the last %d", len(kept), dropped, maxLinks)
	}
	f := newFixture(t, 12).fill(20)
	plan := must(PlanPrune(t.Context(), f, f.older(8)))
	plan.now.Chains = kept
	if _, err := plan.Do(t.Context(), f, f.noon); err != nil {
		t.Fatal(err)
	}
	if d := must(f.backend.Get(t.Context(), "checkpoint", "audit")); len(d.Data) > driver.MaxData*3/4 {
		t.Errorf("the largest checkpoint has %d bytes, want much less than %d", len(d.Data), driver.MaxData)
	}
}
