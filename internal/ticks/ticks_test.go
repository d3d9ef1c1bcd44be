package ticks

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// some is to be looked at so many times.
type some struct {
	left int
	seen atomic.Int32
}

func (s *some) Tick() bool {
	s.seen.Add(1)
	s.left--
	return s.left > 0
}

func TestWaiterIsLookedAtUntilItIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue[*some]
		if !q.Idle() {
			t.Error("the zero Queue is not idle")
		}
		short, long := &some{left: 1}, &some{left: 3}
		q.Add(long)
		time.Sleep(Every / 2)
		q.Add(short)
		for i, want := range []struct{ short, long int32 }{{0, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 3}} {
			synctest.Wait()
			once, often := short.seen.Load(), long.seen.Load()
			if once != want.short || often != want.long {
				t.Errorf("after %d ticks they were looked at %d and %d times, want %v", i, once, often, want)
			}
			if idle := often == 3; q.Idle() != idle {
				t.Errorf("after %d ticks it is idle: %v", i, !idle)
			}
			time.Sleep(Every)
		}
		again := &some{left: 1}
		q.Add(again)
		time.Sleep(Every)
		if synctest.Wait(); again.seen.Load() != 1 || !q.Idle() {
			t.Errorf("one that comes later was looked at %d times", again.seen.Load())
		}
	})
}

// adds lists another waiter while it is looked at.
type adds struct {
	to   *Queue[*adds]
	more *adds
	seen atomic.Int32
}

func (a *adds) Tick() bool {
	a.seen.Add(1)
	if a.more != nil {
		a.to.Add(a.more)
	}
	return false
}

func TestWaiterThatIsAddedDuringATickIsSeenByTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue[*adds]
		second := &adds{to: &q}
		q.Add(&adds{to: &q, more: second})
		time.Sleep(Every)
		if synctest.Wait(); second.seen.Load() != 0 {
			t.Error("it is looked at in the tick in which it was added")
		}
		time.Sleep(Every)
		if synctest.Wait(); second.seen.Load() != 1 || !q.Idle() {
			t.Errorf("it is looked at %d times, want once", second.seen.Load())
		}
	})
}
