package search

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

var errCrash = errors.New("the process ends here")

// crashing is a store whose n-th write fails, before it is done or behind it.
type crashing struct {
	*office
	left int
	done bool // the write is done and its answer lost
}

func (c *crashing) SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if c.left--; c.left != 0 {
		return c.office.SaveTrailIndex(ctx, docs...)
	}
	if c.done {
		if _, err := c.office.SaveTrailIndex(ctx, docs...); err != nil {
			return 0, err
		}
	}
	return 0, errCrash
}

// documents returns how many documents the index has under each beginning.
func (o *office) documents(t *testing.T) map[byte]int {
	t.Helper()
	n := map[byte]int{}
	for _, span := range append([]driver.Span{driver.Is(headEntry)}, wholeSpans...) {
		for next := span.From; next != ""; {
			docs, after, err := o.TrailIndex(t.Context(), driver.Between(next, span.To), driver.Page)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range docs {
				n[d.ID[0]]++
			}
			next = after
		}
	}
	return n
}

// whole checks that everything is indexed once, and nothing else is there.
func (o *office) whole(t *testing.T) {
	t.Helper()
	h, err := loadHead(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if n := o.documents(t); n['h'] != 1 || n['s'] != len(h.segments) || n['p'] != parts*len(h.groups) {
		t.Errorf("the index has %v documents by letter, want 1 head, %d segments and %d parts", n, len(h.segments),
			parts*len(h.groups))
	}
	next := uint64(0)
	for i, s := range append(h.groups, h.segments...) {
		if i > 0 && s.first != next {
			t.Errorf("block %d begins at %d, want %d", i, s.first, next)
		}
		next = s.last + 1
	}
	if next != h.cursor+1 {
		t.Errorf("the last block ends before %d, and the cursor is %d", next, h.cursor)
	}
}

func TestWhereverAnIndexerIsKilledNothingIsLostOrTwice(t *testing.T) {
	for _, done := range []bool{false, true} {
		for at := 1; ; at++ {
			o := newOffice(t, memory.New())
			o.grow(t, 8*50+60)
			c := &crashing{office: o, left: at, done: done}
			x := small(c)
			var err error
			for busy := true; busy && err == nil; {
				busy, err = x.Turn(t.Context())
			}
			o.check(t, o, 5, 0)
			o.settle(t, o)
			o.check(t, o, 5, 0)
			o.whole(t)
			if err == nil {
				if at < 12 {
					t.Errorf("only %d writes were tried", at)
				}
				break
			}
			if t.Failed() {
				t.Fatalf("write %d, done: %v", at, done)
			}
		}
	}
}

func TestIndexersAtOnceIndexEverythingOnce(t *testing.T) {
	o := newOffice(t, memory.New())
	o.grow(t, 2_000)
	var both sync.WaitGroup
	for range 3 {
		both.Go(func() {
			x := small(o)
			for busy := true; busy; {
				var err error
				if busy, err = x.Turn(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		o.check(t, o, 1, 0)
	}
	both.Wait()
	o.whole(t)
	o.check(t, o, 50, 0)
}

func TestPrunedRecordsTakeTheirIndexAlong(t *testing.T) {
	o := newOffice(t, memory.New())
	for _, through := range []uint64{100, 1_000, 1_230, 2_400} {
		o.grow(t, 1_000)
		o.settle(t, o)
		if _, err := o.Prune(t.Context(), through); err != nil {
			t.Fatal(err)
		}
		o.check(t, o, 30, through+1) // before the index knows
		o.settle(t, o)
		o.settle(t, o)
		o.check(t, o, 30, through+1)
		h, err := loadHead(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range append(h.groups, h.segments...) {
			if s.last <= through {
				t.Errorf("behind %d there is still the index of %d to %d", through, s.first, s.last)
			}
		}
		o.whole(t)
	}
}

func TestSearchBesideRemovalAndIndexingMissesNothingThatStays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	o := newOffice(t, memory.New())
	o.grow(t, 6_000)
	var work sync.WaitGroup
	work.Go(func() {
		x := small(o)
		for i := uint64(0); ; i++ {
			busy, err := x.Turn(t.Context())
			if err != nil {
				t.Error(err)
			}
			if i%5 == 0 && i < 200 {
				if _, err := o.Prune(t.Context(), 10*i); err != nil {
					t.Error(err)
				}
				x.pruned = began.AddDate(-100, 0, 0)
			}
			if !busy && i > 200 {
				return
			}
		}
	})
	for range 200 {
		q := o.drawQuery()
		got, _ := walk(t, o, q)
		left := got
		for len(left) > 0 && left[len(left)-1].Seq <= 2_000 {
			left = left[:len(left)-1]
		}
		if want := o.want(q, 2_001); !same(left, want) {
			t.Fatalf("%+v finds %d events, want %d", q, len(left), len(want))
		}
	}
	work.Wait()
}

func TestIndexOfAnotherTrailIsMadeAnew(t *testing.T) {
	o := newOffice(t, memory.New())
	o.grow(t, 1_500)
	o.settle(t, o)
	other := newOffice(t, memory.New())
	// as if only the documents had been restored
	for _, span := range append([]driver.Span{driver.Is(headEntry)}, wholeSpans...) {
		docs, _, err := o.TrailIndex(t.Context(), span, driver.Page)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			d.Version = 0
			if _, err := other.SaveTrailIndex(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, n := range []int{10, 100, 2_000} {
		other.grow(t, n)
		other.check(t, other, 20, 0)
	}
	other.settle(t, other)
	other.check(t, other, 20, 0)
	other.whole(t)
}

func TestReindexingMakesTheSameIndex(t *testing.T) {
	o := newOffice(t, memory.New())
	if err := Reindex(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.grow(t, 1_500)
	o.settle(t, o)
	old, err := loadHead(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := Reindex(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.check(t, o, 20, 0)
	o.settle(t, o)
	o.check(t, o, 20, 0)
	o.whole(t)
	if h, err := loadHead(t.Context(), o); err != nil || h.key == old.key || h.cursor != old.cursor {
		t.Errorf("the index made anew has key %x and cursor %d, %v; want another key and cursor %d", h.key, h.cursor, err,
			old.cursor)
	}
}

func TestHostileTextsAreFoundAndFindNothingElse(t *testing.T) {
	o := newOffice(t, memory.New())
	long := fmt.Sprintf("%0500d", 7)
	hostile := []string{"\x1f", "a\x1fb", "\x00", "'; DROP", "%", "*", "\xff\xfe", long, long + "x", "\u202e", "p00.", " ",
		"ä"}
	for _, text := range hostile {
		o.note(t, event.Event{At: began, Kind: event.Call, User: text, RequestID: text, App: text, IP: text})
	}
	o.grow(t, 1_000)
	for range 2 {
		for _, text := range hostile {
			for _, q := range []event.Query{{User: text}, {RequestID: text}, {App: text}, {IP: text}, {Kind: text}} {
				if err := check(&q); err != nil {
					t.Fatal(err)
				}
				got, _ := walk(t, o, q)
				if want := o.want(q, 0); !same(got, want) || len(want) == 0 && q.Kind == "" {
					t.Errorf("%+v (%+q) finds %d events, want %d", q, text, len(got), len(want))
				}
			}
		}
		o.settle(t, o)
	}
}

func TestQueryThatCannotBeAskedIsInvalid(t *testing.T) {
	o := newOffice(t, memory.New())
	for _, q := range []event.Query{
		{Limit: -1}, {Limit: event.MaxLimit + 1}, {Status: "6xx"}, {Status: "200"}, {From: began, To: began},
		{Apps: make([]string, event.MaxApps+1)},
	} {
		if _, err := Find(t.Context(), o, q); !errors.Is(err, driver.ErrInvalid) {
			t.Errorf("%+v = %v, want %v", q, err, driver.ErrInvalid)
		}
	}
	o.grow(t, 3)
	for _, q := range []event.Query{{Apps: []string{}}, {App: o.all[0].App, Apps: []string{"another"}}} {
		if page, err := Find(t.Context(), o, q); err != nil || len(page.Entries) > 0 {
			t.Errorf("%+v = %v, %v, want nothing", q, page, err)
		}
	}
}
