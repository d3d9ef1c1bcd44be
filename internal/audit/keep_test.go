package audit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// kept is a trail with a keeper, in a bubble whose clock is the service's.
type kept struct {
	testing.TB
	*storage.Store
	backend driver.Backend
	key     storage.MasterKey
	trail   *Trail
	log     bytes.Buffer
	keeper  Keeper
}

func newKept(t *testing.T, keep time.Duration, bytes int64) *kept {
	t.Helper()
	k := &kept{TB: t, backend: memory.New(), key: storage.NewMasterKey()}
	k.Store = must(storage.Open(t.Context(), k.backend, k.key))
	k.trail = opened(t, k.Store)
	t.Cleanup(func() { k.trail.Close(context.Background()) })
	k.keeper = Keeper{Store: k.Store, Keep: keep, Bytes: bytes, Reached: k.Store.Reached, Note: k.trail.NoteNow,
		Log: slog.New(slog.NewTextHandler(&k.log, nil))}
	return k
}

// note notes events, a second apart.
func (k *kept) note(n int) {
	k.Helper()
	for i := range n {
		if err := k.trail.NoteNow(k.Context(), Event{Kind: event.Call, Bytes: int64(i)}); err != nil {
			k.Fatal(err)
		}
		time.Sleep(time.Second)
	}
}

// run lets the keeper work for some time.
func (k *kept) run(length time.Duration) {
	ctx, stop := context.WithTimeout(k.Context(), length)
	defer stop()
	k.keeper.Run(ctx)
}

const day = 24 * time.Hour

func TestRunningServiceRemovesWhatIsTooOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, 400*day, 0)
		k.note(100)
		time.Sleep(400*day - time.Hour)
		k.run(time.Hour)
		if r, _ := whole(t, k); r.Records != 101 || r.Removed.Through != 0 {
			t.Fatalf("within 400 days %d records are left of 101", r.Records)
		}
		k.note(3)
		k.run(2 * time.Hour)
		r, entries := whole(t, k)
		said := entries[len(entries)-1]
		if r.Removed.Through != 101 || r.Records != 4 || r.Removed.Prunes != 1 {
			t.Errorf("after 400 days %d records are left behind %+v, want the 3 that are young and what was said", r.Records,
				r.Removed)
		}
		if want := "audit prune by the service: 101 records up to Seq 101, noted from 2000-01-01T00:00:00Z to " +
			"2000-01-01T00:01:39Z"; said.Kind != event.Admin || said.Detail != want {
			t.Errorf("the trail says %s %q, want %q", said.Kind, said.Detail, want)
		}
		if !strings.Contains(k.log.String(), `msg="old audit records were removed" records=101 through=101`) {
			t.Errorf("the log says %s", k.log.String())
		}
	})
}

func TestRunningServiceBoundsTheSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 20_000
		k := newKept(t, 0, limit)
		for range 5 {
			k.note(60)
			k.run(time.Minute)
			size := must(weigh(t.Context(), k, 0, must(k.Appended(t.Context()))))
			if size > limit {
				t.Fatalf("the trail has %d bytes, want up to %d", size, limit)
			}
		}
		if r, _ := whole(t, k); r.Removed.Through == 0 {
			t.Errorf("nothing was removed: %+v", r)
		}
	})
}

func TestTrailWithoutLimitsKeepsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, 0, 0)
		k.note(10)
		time.Sleep(4000 * day)
		k.run(time.Hour)
		if r, _ := whole(t, k); r.Records != 11 || r.Removed.Through != 0 {
			t.Errorf("%d records are left of 11", r.Records)
		}
	})
}

func TestServiceWhoseClockIsAheadRemovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, 400*day, 0)
		k.note(10)
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		k.SweepEvery(ctx, time.Minute, func(error) {}) // an hour of service, which marks the time
		time.Sleep(4000 * day)                         // the clock jumps while the service is stopped
		started := must(storage.Open(t.Context(), k.backend, k.key))
		k.keeper.Store, k.keeper.Reached = started, started.Reached
		k.run(time.Hour)
		if r, _ := whole(t, k); r.Records != 11 || r.Removed.Through != 0 {
			t.Errorf("%d records are left of 11", r.Records)
		}
		k.run(8 * day) // it is believed by then
		if r, _ := whole(t, k); r.Removed.Through != 11 {
			t.Errorf("records are removed up to Seq %d, want 11", r.Removed.Through)
		}
	})
}

func TestPruneRemovesNothingThatItCannotNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, day, 0)
		k.note(10)
		time.Sleep(2 * day)
		k.keeper.Note = func(context.Context, Event) error { return errAway }
		if _, err := k.keeper.Turn(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("Turn() = %v, want %v", err, errAway)
		}
		k.run(time.Hour)
		if r, _ := whole(t, k); r.Records != 11 || r.Removed.Through != 0 {
			t.Errorf("%d records are left of 11", r.Records)
		}
		if n := strings.Count(k.log.String(), "level=ERROR"); n != 1 || !strings.Contains(k.log.String(), errAway.Error()) {
			t.Errorf("the log says it %d times, want once: %s", n, k.log.String())
		}
	})
}

// The clock of a machine may be ahead when it is first started: that record alone keeps nothing.
func TestFirstRecordThatIsDatedAheadKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKept(t, day, 0)
		e := entry{Event: Event{Kind: begin, At: time.Now().Add(4000 * day)}}
		closed(t, k.trail)
		k.Store = must(storage.Open(t.Context(), memory.New(), k.key))
		k.keeper.Store, k.keeper.Reached = k.Store, k.Store.Reached
		if err := k.Append(t.Context(), driver.Record{At: e.At, Data: newChain(digest{}).append(nil, &e, true)}); err != nil {
			t.Fatal(err)
		}
		k.trail = opened(t, k.Store)
		k.keeper.Note = k.trail.NoteNow
		k.note(10)
		time.Sleep(2 * day)
		k.note(1)
		if _, err := k.keeper.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r, _ := whole(t, k); r.Removed.Through != 12 {
			t.Errorf("records are removed up to Seq %d, want 12", r.Removed.Through)
		}
	})
}
