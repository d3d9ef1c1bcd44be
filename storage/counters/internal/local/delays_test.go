package local

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func key(i int) [32]byte { return sha256.Sum256(fmt.Append(nil, i)) }

// fail lets n attempts fail, and says how many were let through.
func (d *Delays) fail(key [32]byte, n int) (through int) {
	for range n {
		if d.Begin(key, DelayAfter) == 0 {
			through++
			d.End(key, true, DelayAfter)
		}
	}
	return through
}

func TestFullTableOfAccountsForgetsThoseWithTheFewestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDelays()
		d.capacity = 100
		for i := range 50 {
			d.fail(key(i), DelayAfter)
		}
		for i := range 50 {
			d.fail(key(50+i), 2+i%7)
		}
		for i := range 10_000 {
			if n := d.fail(key(1000+i), 1); n != 1 || len(d.accounts) > 100 {
				t.Fatalf("newcomer %d: %d let through and %d accounts held, want 1 and at most 100", i, n, len(d.accounts))
			}
		}
		for i := range 50 {
			if d.Begin(key(i), DelayAfter) == 0 {
				t.Fatalf("account %d, which was guessed at ten times, was forgotten", i)
			}
		}
		for i := range 50 {
			if e := d.accounts[key(50+i)]; (e == nil || len(e.Value.(*record).failed) != 2+i%7) != (i == 0) {
				t.Errorf("account %d with %d failures: %v", i, 2+i%7, e)
			}
		}
		listed := 0
		for i := range d.byWeight {
			listed += d.byWeight[i].Len()
		}
		if listed != len(d.accounts) {
			t.Errorf("%d listed and %d found", listed, len(d.accounts))
		}
	})
}

func TestFullTableOfDelayedAccountsDropsTheOldest(t *testing.T) {
	d := NewDelays()
	d.capacity = 10
	for i := range 30 {
		if n := d.fail(key(i), 20); n != DelayAfter || len(d.accounts) > 10 {
			t.Fatalf("account %d: %d let through of 20 and %d held, want 10 and at most 10", i, n, len(d.accounts))
		}
	}
}

func TestAccountForgottenInFlightIsCountedWhenItEnds(t *testing.T) {
	d := NewDelays()
	d.capacity = 1
	d.Begin(key(1), DelayAfter)
	d.Begin(key(2), DelayAfter)
	d.End(key(1), true, DelayAfter)
	d.End(key(2), false, DelayAfter)
	if len(d.accounts) != 0 {
		t.Errorf("%d held, want none: the one that fails had to make room for the one that ended", len(d.accounts))
	}
	if n := d.fail(key(1), 20); n != DelayAfter {
		t.Errorf("%d let through, want 10", n)
	}
}

func TestAccountsThatCountForNothingAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDelays()
		for i := range 100 {
			d.Begin(key(i), DelayAfter)
			d.End(key(i), false, DelayAfter)
			d.fail(key(1000+i), 12)
		}
		if len(d.accounts) != 100 {
			t.Errorf("%d held, want the 100 that failed", len(d.accounts))
		}
		time.Sleep(DelayWithin)
		d.fail(key(1), 1)
		if len(d.accounts) != 1 {
			t.Errorf("%d held, want 1", len(d.accounts))
		}
	})
}
