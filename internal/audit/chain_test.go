package audit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func TestChainBeginsOnceAndBehindWhatItSaw(t *testing.T) {
	sum := newChain(digest{})
	first := func(c *chain, after uint64) driver.Record {
		e := entry{Event: numbered(1), After: after}
		return driver.Record{At: e.At, Data: c.append(nil, &e, true)}
	}
	origin := first(sum, 0)
	twice := newChain(digest{})
	twice.id = sum.id
	for name, c := range map[string]struct {
		second driver.Record
		fault  Fault
	}{
		"a chain begun twice":          {first(twice, 10), Misplaced},
		"a chain that saw nothing":     {first(newChain(digest{}), 0), ""},
		"a chain behind the first":     {first(newChain(link(origin.Data)), 10), ""},
		"behind another record":        {first(newChain(digest{1}), 10), Unlinked},
		"behind nothing, with a hash":  {first(newChain(digest{1}), 0), Unlinked},
		"behind what is not there":     {first(newChain(digest{}), 15), Unlinked},
		"behind what stands elsewhere": {first(newChain(link(origin.Data)), 5), Unlinked},
		"behind itself":                {first(newChain(digest{}), 20), Unlinked},
		"not a record of the trail":    {driver.Record{Data: []byte("hello")}, Unreadable},
		"JSON that is no record":       {driver.Record{Data: []byte(`{"n":1,"hash":"` + digest{}.String() + `"}`)}, Unreadable},
		"a record without a number":    {driver.Record{Data: []byte(`{"chain":"c","hash":"` + digest{}.String() + `"}`)}, Unreadable},
		"a record on two lines": {driver.Record{Data: append([]byte("\n"), first(newChain(digest{}), 0).Data...)},
			Unreadable},
		"nothing at all": {driver.Record{}, Unreadable},
	} {
		r := broken(t, renumbered([]driver.Record{origin, c.second}))
		if c.fault == "" && r.Err() != nil || c.fault != "" && (len(r.Breaks) == 0 || r.Breaks[0].Fault != c.fault ||
			r.Breaks[0].Seq != 20) {
			t.Errorf("%s: Verify() = %v, want %q", name, r.Breaks, c.fault)
		}
	}
}

func TestChainDoesNotBeginBehindWhatCameLater(t *testing.T) {
	s := &fakeStore{}
	closed(t, opened(t, s))
	late := newChain(link(s.records[0].Data))
	e := entry{Event: numbered(1), After: 20}
	moved := driver.Record{At: e.At, Data: late.append(nil, &e, true)}
	r := broken(t, renumbered([]driver.Record{moved, s.records[0], s.records[1]}))
	if len(r.Breaks) != 1 || r.Breaks[0] != (Break{Unlinked, 10, late.id, 1}) {
		t.Errorf("Verify() = %v, want the first record unlinked", r.Breaks)
	}
}

func TestBreakIsCalledByItsName(t *testing.T) {
	s := &fakeStore{}
	trail := opened(t, s)
	for i := range 3 {
		trail.Note(numbered(i))
	}
	closed(t, trail)
	gap := broken(t, slices.Delete(slices.Clone(s.records), 2, 3))
	if len(gap.Breaks) != 1 || gap.Breaks[0].Fault != Missing || gap.Breaks[0].Seq != 40 || gap.Breaks[0].N != 4 {
		t.Errorf("Verify(without record 3) = %v, want it missing in front of record 4", gap.Breaks)
	}
	headless := broken(t, slices.Clone(s.records[1:]))
	if len(headless.Breaks) != 1 || headless.Breaks[0].Fault != Headless || headless.Breaks[0].Seq != 20 {
		t.Errorf("Verify(without record 1) = %v, want it headless at record 2", headless.Breaks)
	}
}

func TestNumberOfChainsIsBounded(t *testing.T) {
	s, _ := small(t)
	v := verifier{store: s, sum: newChain(digest{}).sum, chains: map[string]*progress{}}
	for i := range maxChains - 1 {
		v.chains[strconv.Itoa(i)] = &progress{}
	}
	if _, _, err := v.check(t.Context(), s.records[0]); err != nil {
		t.Errorf("check(chain %d) = %v, want no error", maxChains, err)
	}
	if _, _, err := v.check(t.Context(), s.records[2]); !errors.Is(err, errChains) {
		t.Errorf("check(chain %d) = %v, want an error", maxChains+1, err)
	}
}

func TestVerifyLeavesWhatIsAppendedMeanwhileForLater(t *testing.T) {
	s, _ := small(t)
	n := 0
	for r, err := range all(t.Context(), s, 0, 30) {
		if n++; err != nil || r.Seq > 30 {
			t.Errorf("all(until Seq 30) reads Seq %d, %v", r.Seq, err)
		}
	}
	if n != 3 {
		t.Errorf("all(until Seq 30) reads %d records, want 3", n)
	}
}

func TestTrailContinuesAfterRecordsThatCannotBeRead(t *testing.T) {
	s := &fakeStore{}
	s.Append(t.Context(), driver.Record{Data: []byte("hello")})
	trail := opened(t, s)
	closed(t, trail)
	r := broken(t, s.records)
	if r.Broken != 1 || r.Breaks[0] != (Break{Fault: Unreadable, Seq: 10}) {
		t.Errorf("Verify() = %v, want the one record that cannot be read", r.Breaks)
	}
	s.records[0].Data = []byte("hullo")
	if r := broken(t, s.records); r.Broken != 2 || r.Breaks[1].Fault != Unlinked {
		t.Errorf("Verify() = %v, want that it has changed", r.Breaks)
	}
}

func TestBreaksSayWhereAndWhatToDo(t *testing.T) {
	for _, c := range []struct {
		b    Break
		want string
	}{
		{Break{Changed, 12, "c", 3}, `Seq 12 (chain "c", record 3): changed: `},
		{Break{Unreadable, 12, "", 0}, `Seq 12: unreadable: `},
		{Break{Cut, 0, "c", 3}, `in no place (chain "c", record 3): cut: `},
	} {
		if got := c.b.String(); !strings.HasPrefix(got, c.want) || !strings.Contains(got, "compare with a backup") {
			t.Errorf("String() = %s, want %s...", got, c.want)
		}
	}
	var r Report
	for i := range 2 * maxBreaks {
		r.add(Break{Fault: Changed, Seq: uint64(i + 1)})
	}
	if len(r.Breaks) != maxBreaks || r.Broken != 2*maxBreaks ||
		!strings.Contains(fmt.Sprint(r.Err()), "2000 places, first at Seq 1:") {
		t.Errorf("a report of %d breaks lists %d and says %v, want %d and the first", r.Broken, len(r.Breaks), r.Err(),
			maxBreaks)
	}
}

func TestHeadReadsBack(t *testing.T) {
	_, heads := small(t)
	for _, h := range heads {
		if got, err := ParseHead(h.String()); err != nil || got.plain() != h.plain() || got.Seq != h.Seq {
			t.Errorf("ParseHead(%s) = %+v, %v, want %+v", h, got, err, h)
		}
	}
	sum := digest{}.String()
	if h, err := ParseHead("c:1:" + sum); err != nil || h != (Head{Chain: "c", N: 1, Hash: sum}) {
		t.Errorf("ParseHead(of an earlier version) = %+v, %v", h, err)
	}
	for _, text := range []string{"", "c", "c:1", "c:0:" + sum, ":1:" + sum, "c:-1:" + sum, "c:1:" + sum[1:],
		"c:1:" + sum + ":", "c:1:" + sum + ":x", "c:1:" + sum + ":1:1", "c:1:A" + sum[1:], "c:1:" + sum + "00"} {
		if h, err := ParseHead(text); err == nil {
			t.Errorf("ParseHead(%q) = %+v, want an error", text, h)
		}
	}
}

func TestEndOfALongTrailIsFoundInFewReads(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 8, 9, 1023, 1024, 1025, 100_000} {
		s := &fakeStore{records: make([]driver.Record, n)}
		renumbered(s.records)
		r, err := last(t.Context(), s)
		if err != nil || r.Seq != uint64(n)*10 {
			t.Errorf("last(%d records) = Seq %d, %v, want %d", n, r.Seq, err, n*10)
		}
		if s.reads > 100 {
			t.Errorf("last(%d records) takes %d reads", n, s.reads)
		}
	}
}

func TestPageMoreIsRead(t *testing.T) {
	s := &fakeStore{}
	trail := opened(t, s)
	for i := range 2*driver.Page + 1 {
		trail.Note(numbered(i))
	}
	closed(t, trail)
	if r, _ := whole(t, s); r.Records != 2*driver.Page+3 {
		t.Errorf("Verify() read %d records, want %d", r.Records, 2*driver.Page+3)
	}
}
