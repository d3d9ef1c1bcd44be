package audit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestNoteNowReturnsWhenItIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		began := time.Now()
		trail.Note(numbered(0))
		if err := trail.NoteNow(t.Context(), numbered(1)); err != nil {
			t.Errorf("NoteNow() = %v, want no error", err)
		}
		wantLines(t, s, "audit.begin,r0,r1")
		if !time.Now().Equal(began) {
			t.Errorf("NoteNow() waited %v, want no wait for the flush", time.Since(began))
		}
		closed(t, trail)
	})
}

func TestNoteNowSaysThatTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		s.fail(errAway)
		for i := range 3 {
			began := time.Now()
			if err := trail.NoteNow(t.Context(), numbered(i)); !errors.Is(err, errAway) {
				t.Errorf("NoteNow() = %v, want %v", err, errAway)
			}
			if !time.Now().Equal(began) {
				t.Errorf("NoteNow() waited %v for its answer, want an attempt at once", time.Since(began))
			}
		}
		if err := trail.Stats().Err; !errors.Is(err, errAway) {
			t.Errorf("Stats().Err = %v, want %v", err, errAway)
		}
		s.fail(nil)
		closed(t, trail)
		wantLines(t, s, "audit.begin,r0,r1,r2,audit.end")
	})
}

func TestNoteNowEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		release := make(chan struct{})
		s.before = func() error { <-release; return nil }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := trail.NoteNow(ctx, numbered(0)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("NoteNow() = %v, want the context's error", err)
		}
		if err := trail.NoteNow(ctx, numbered(1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("NoteNow() = %v, want the context's error", err)
		}
		close(release)
		closed(t, trail)
		wantLines(t, s, "audit.begin,r0,audit.end") // r1 was refused before it was noted
	})
}

func TestNoteNowStoresTheEventOrReturnsErrFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s, func(c *Config) { c.queue = minQueue })
		s.fail(errAway)
		fit := noteBytes(trail, 0, minQueue)
		if err := trail.NoteNow(t.Context(), numbered(fit)); !errors.Is(err, errAway) {
			t.Errorf("NoteNow(full queue, store away) = %v, want %v", err, errAway)
		}
		synctest.Wait() // an attempt that has just failed may tell whoever comes now
		s.fail(nil)
		if err := trail.NoteNow(t.Context(), numbered(fit)); err != nil {
			t.Errorf("NoteNow(full queue, store back) = %v, want no error", err)
		}
		trail.mu.Lock()
		trail.held += minQueue // as if others took every room at once
		trail.mu.Unlock()
		if err := trail.NoteNow(t.Context(), numbered(0)); !errors.Is(err, ErrFull) {
			t.Errorf("NoteNow(queue that is always full) = %v, want ErrFull", err)
		}
		closed(t, trail)
		whole(t, s)
	})
}

func TestCloseStoresAllAndEndsTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		trail.Note(numbered(0))
		closed(t, trail)
		closed(t, trail)
		trail.Note(numbered(1))
		if err := trail.NoteNow(t.Context(), numbered(2)); !errors.Is(err, ErrClosed) {
			t.Errorf("NoteNow(after Close) = %v, want ErrClosed", err)
		}
		time.Sleep(time.Minute)
		wantLines(t, s, "audit.begin,r0,audit.end")
		if got := trail.Stats(); got.Lost != 1 {
			t.Errorf("Stats().Lost = %d after Note behind Close, want 1", got.Lost)
		}
	})
}

func TestCloseWaitsForTheStoreAsLongAsItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fakeStore{}
		trail := opened(t, s)
		s.fail(errAway)
		trail.Note(numbered(0))
		go func() { time.Sleep(time.Minute); s.fail(nil) }()
		closed(t, trail)
		wantLines(t, s, "audit.begin,r0,audit.end")
	})
}

func TestCloseSaysWhatIsNotStored(t *testing.T) {
	for name, wait := range map[string]time.Duration{"with time": 5 * time.Second, "without": 0} {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeStore{}
			trail := opened(t, s)
			s.fail(errAway)
			trail.Note(numbered(0))
			trail.Note(numbered(1))
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			defer cancel()
			if err := trail.Close(ctx); err == nil || !strings.Contains(err.Error(), "2 events") || wait > 0 &&
				!errors.Is(err, errAway) {
				t.Errorf("%s: Close(store away) = %v, want 2 events and why", name, err)
			}
		})
	}
}
