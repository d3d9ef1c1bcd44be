package audit

import (
	"context"
	"log/slog"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// The store fails at its k-th call, for every k, before or after the call was done, and
// stays away for some more calls.
func TestStoreFailuresLoseNothing(t *testing.T) {
	for _, done := range []bool{false, true} {
		for times := 1; times <= 3; times++ {
			failed := true
			for k := 1; failed; k++ {
				synctest.Test(t, func(t *testing.T) { failed = failsAt(t, k, times, done) })
			}
		}
	}
}

func failsAt(t *testing.T, k, times int, done bool) (failed bool) {
	calls := 0
	hook := func() error {
		if calls++; calls >= k && calls < k+times {
			failed = true
			return errAway
		}
		return nil
	}
	s := &fakeStore{}
	if s.before = hook; done {
		s.before, s.after = nil, hook
	}
	var trail *Trail
	for err := errAway; err != nil; {
		trail, err = Open(t.Context(), Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	}
	want := ""
	for i := range 6 {
		want += ",r" + strconv.Itoa(i)
		if i%3 == 2 {
			trail.NoteNow(t.Context(), numbered(i)) // an error leaves it in line
		} else {
			trail.Note(numbered(i))
		}
		time.Sleep(700 * time.Millisecond)
	}
	closed(t, trail)
	s.before, s.after = nil, nil
	report, entries := whole(t, s)
	last := entries[len(entries)-8:] // Open may have begun chains that nobody went on with
	if got := lines(last); got != "audit.begin"+want+",audit.end" {
		t.Errorf("call %d fails %d times, done %t: the trail holds %s", k, times, done, got)
	}
	if repeats := report.Repeated > 0; repeats && !done {
		t.Errorf("call %d fails %d times: %d records stand twice, want none", k, times, report.Repeated)
	}
	return failed
}

func TestFailingStoreIsRetriedWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		s.fail(errAway)
		trail.Note(numbered(0))
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.appends < 350 || s.appends > 375 {
			t.Errorf("%d attempts in an hour, want about one in 10 s", s.appends)
		}
		s.fail(nil)
		time.Sleep(longestWait)
		synctest.Wait()
		wantLines(t, s, "audit.begin,r0")
		s.fail(errAway)
		appends := s.appends
		trail.Note(numbered(1))
		time.Sleep(time.Second + firstPause + 2*firstPause)
		synctest.Wait()
		if s.appends != appends+3 {
			t.Errorf("%d attempts after a new failure, want 3: the pauses begin anew", s.appends-appends)
		}
		s.fail(nil)
		closed(t, trail)
	})
}

func TestEventDoesNotPutOffTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s, func(c *Config) { c.flushEvery = time.Minute })
		s.fail(errAway)
		trail.NoteNow(t.Context(), numbered(0))
		trail.Note(numbered(1))
		s.fail(nil)
		time.Sleep(firstPause)
		synctest.Wait()
		wantLines(t, s, "audit.begin,r0,r1")
		closed(t, trail)
	})
}

// hanging is a store that answers nothing but the end of the context.
type hanging struct {
	*fakeStore
	hangs bool
}

func (h *hanging) Append(ctx context.Context, records ...driver.Record) error {
	if h.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return h.fakeStore.Append(ctx, records...)
}

func TestWriteThatHangsIsAbandonedAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{fakeStore: &fakeStore{}}
		trail := opened(t, h)
		h.hangs = true
		began := time.Now()
		if err := trail.NoteNow(t.Context(), numbered(0)); err == nil || time.Since(began) != longestWait {
			t.Errorf("NoteNow(store that hangs) = %v after %v, want an error after %v", err, time.Since(began), longestWait)
		}
		h.hangs = false
		closed(t, trail)
		wantLines(t, h, "audit.begin,r0,audit.end")
	})
}

func TestCloseGivesUpAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{fakeStore: &fakeStore{}}
		trail := opened(t, h)
		h.hangs = true
		trail.Note(numbered(0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := trail.Close(ctx); err == nil || time.Since(began) != time.Second {
			t.Errorf("Close(store that hangs) = %v after %v, want an error after 1 s", err, time.Since(began))
		}
	})
}

// stuck answers every question with the same page.
type stuck struct{ *fakeStore }

func (stuck) Records(context.Context, uint64, int) ([]driver.Record, error) {
	return []driver.Record{{Seq: 1}}, nil
}
