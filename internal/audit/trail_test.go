package audit

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/event"
)

func TestEventIsStoredOnceAndInOrder(t *testing.T) {
	const writers, each = 64, 200
	s := &fakeStore{}
	trail := opened(t, s)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				e := Event{Kind: event.Call, App: strconv.Itoa(w), RequestID: strconv.Itoa(i)}
				if i%50 != 49 {
					trail.Note(e)
				} else if err := trail.NoteNow(t.Context(), e); err != nil {
					t.Errorf("NoteNow() = %v, want no error", err)
				}
			}
		})
	}
	all.Wait()
	closed(t, trail)
	_, entries := whole(t, s)
	next := map[string]int{}
	for _, e := range entries {
		if e.Kind != event.Call {
			continue
		}
		if e.RequestID != strconv.Itoa(next[e.App]) {
			t.Fatalf("writer %s: event %s follows %d others, want it in its order", e.App, e.RequestID, next[e.App])
		}
		next[e.App]++
	}
	for w := range writers {
		if n := next[strconv.Itoa(w)]; n != each {
			t.Errorf("writer %d: %d events are stored, want all %d", w, n, each)
		}
	}
	if got := trail.Stats(); got != (Stats{Stored: writers * each}) {
		t.Errorf("Stats() = %+v, want all stored", got)
	}
}

func TestEventWaitsForTheNextFlushOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s, func(c *Config) { c.flushEvery = 3 * time.Second })
		time.Sleep(time.Hour)
		for i := range 3 {
			trail.Note(numbered(i))
			time.Sleep(time.Second - time.Nanosecond)
			synctest.Wait()
		}
		wantLines(t, s, "audit.begin")
		time.Sleep(3 * time.Nanosecond)
		synctest.Wait()
		wantLines(t, s, "audit.begin,r0,r1,r2")
		trail.Note(numbered(3))
		time.Sleep(3*time.Second - time.Nanosecond)
		synctest.Wait()
		wantLines(t, s, "audit.begin,r0,r1,r2")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantLines(t, s, "audit.begin,r0,r1,r2,r3")
		if s.appends != 3 {
			t.Errorf("%d appends, want one to begin and one for each flush", s.appends)
		}
		closed(t, trail)
		wantLines(t, s, "audit.begin,r0,r1,r2,r3,audit.end")
	})
}

func TestFlushTakesPagesThatAStoreAccepts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		for i := range 2500 {
			trail.Note(numbered(i))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if s.appends != 4 {
			t.Errorf("2,500 events took %d appends, want 3", s.appends-1)
		}
		for range 160 {
			trail.Note(Event{Kind: event.Call, User: strings.Repeat("\x00", 256), Detail: strings.Repeat("\x00", 1024)})
		}
		closed(t, trail)
		if s.appends != 6 { // some 8 KB each
			t.Errorf("160 large events took %d appends, want 2 of about 1 MiB", s.appends-4)
		}
		whole(t, s)
	})
}

func TestHalfFullQueueIsNotLeftToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s, func(c *Config) { c.queue = minQueue })
		began := time.Now()
		size := noteBytes(trail, 0, minQueue/2)
		synctest.Wait()
		wantLines(t, s, "audit.begin")
		trail.Note(numbered(size))
		synctest.Wait()
		if trail.Stats().Waiting != 0 || !time.Now().Equal(began) {
			t.Errorf("%d events wait in a queue that is half full, want a flush", trail.Stats().Waiting)
		}
		closed(t, trail)
	})
}

// noteBytes notes events, numbered from i, as long as they fit in n bytes; it returns the
// next number.
func noteBytes(trail *Trail, i, n int) int {
	for ; ; i++ {
		e := numbered(i)
		if n -= slotSize + trim(&e); n < 0 {
			return i
		}
		trail.Note(e)
	}
}

func TestEventsThatExceedTheQueueAreCountedInTheTrail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s, func(c *Config) { c.queue = minQueue })
		s.fail(errAway)
		fit := noteBytes(trail, 0, minQueue)
		synctest.Wait() // all is taken, and cannot be stored
		for i := range 7 {
			trail.Note(numbered(fit + i))
		}
		if got := trail.Stats(); got.Lost != 7 || got.Waiting != uint64(fit) {
			t.Errorf("Stats() = %+v, want 7 lost and %d waiting", got, fit)
		}
		time.Sleep(time.Minute)
		trail.Note(numbered(fit + 7)) // still no room
		s.fail(nil)
		time.Sleep(time.Minute)
		trail.Note(numbered(fit + 8))
		closed(t, trail)
		report, entries := whole(t, s)
		if report.Lost != 8 {
			t.Errorf("the trail says that %d events were lost, want 8", report.Lost)
		}
		if got := lines(entries[fit:]); got != "r"+strconv.Itoa(fit-1)+",audit.lost 8,r"+strconv.Itoa(fit+8)+",audit.end" {
			t.Errorf("the trail ends in %s, want all that fitted, then audit.lost", got)
		}
		if got := trail.Stats(); got != (Stats{Stored: uint64(fit) + 1, Lost: 8}) {
			t.Errorf("Stats() = %+v, want %d stored, 8 lost", got, fit+1)
		}
	})
}

func TestQueueIsBoundedWhateverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s, func(c *Config) { c.queue = minQueue })
		s.fail(errAway)
		long := strings.Repeat("x", 1<<20)
		for range 1000 {
			trail.Note(Event{Kind: long, RequestID: long, App: long, User: long, Path: long, Detail: long})
			synctest.Wait()
		}
		trail.mu.Lock()
		held := trail.waiting.size() + trail.out.taken.size()
		trail.mu.Unlock()
		if held > minQueue || held < minQueue/2 {
			t.Errorf("%d bytes wait, want up to %d", held, minQueue)
		}
		s.fail(nil)
		closed(t, trail)
		whole(t, s)
	})
}

func TestOpenComplainsOfItsStore(t *testing.T) {
	trail, err := Open(t.Context(), Config{})
	if trail != nil || err == nil || !strings.Contains(err.Error(), "Config.Store") {
		t.Errorf("Open(no store) = %v, %v, want a word on Store", trail, err)
	}
	if trail, err := Open(t.Context(), Config{Store: stuck{}}); trail != nil || !errors.Is(err, errNotRising) {
		t.Errorf("Open(store that repeats itself) = %v, %v, want an error", trail, err)
	}
}
