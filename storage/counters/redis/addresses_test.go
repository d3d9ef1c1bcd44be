package redis

import (
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// Decision 19.
func TestTenFailuresLockAnAddress(t *testing.T) {
	w := newWatch()
	c := open(t, Options{clock: w.now})
	a := c.Addresses(counters.Lock{})
	for i := range 10 {
		if wait := a.Begin(ctx, ip("192.0.2.7")); wait != 0 {
			t.Fatalf("attempt %d waits %v", i, wait)
		}
		a.End(ctx, ip("192.0.2.7"), true)
	}
	if wait := a.Begin(ctx, ip("192.0.2.7")); wait != 15*time.Minute {
		t.Fatalf("after ten failures: %v, want 15 minutes", wait)
	}
	w.pass(15*time.Minute - time.Millisecond)
	if wait := a.Begin(ctx, ip("192.0.2.7")); wait != time.Millisecond {
		t.Fatalf("just before the end: %v", wait)
	}
	if !a.Clear(ctx, ip("192.0.2.7")) || a.Clear(ctx, ip("192.0.2.7")) {
		t.Fatal("Clear must find the lock once")
	}
	if wait := a.Begin(ctx, ip("192.0.2.7")); wait != 0 {
		t.Fatalf("after Clear: %v", wait)
	}
	c.wantConnected(t)
}

func TestGuessesMadeInParallelAreNoMore(t *testing.T) {
	w := newWatch()
	c := open(t, Options{clock: w.now})
	a := c.Addresses(counters.Lock{})
	for range 10 {
		a.Begin(ctx, ip("192.0.2.7"))
	}
	if wait := a.Begin(ctx, ip("192.0.2.7")); wait != 2*time.Second {
		t.Fatalf("the eleventh in flight waits %v, want 2s", wait)
	}
	a.End(ctx, ip("192.0.2.7"), false)
	if wait := a.Begin(ctx, ip("192.0.2.7")); wait != 0 {
		t.Fatalf("after a success: %v", wait)
	}
	w.pass(5 * time.Minute)
	if wait := a.Begin(ctx, ip("192.0.2.7")); wait != 0 {
		t.Fatalf("after the places of a node that died: %v", wait)
	}
	c.wantConnected(t)
}

// Decision 56.
func TestFailuresDelayAnAccount(t *testing.T) {
	w := newWatch()
	c := open(t, Options{clock: w.now})
	a, who := c.Accounts(), [32]byte{1}
	for range 10 {
		if wait := a.Begin(ctx, who); wait != 0 {
			t.Fatal(wait)
		}
		a.End(ctx, who, true)
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if wait := a.Begin(ctx, who); wait != want*time.Second {
			t.Fatalf("%v, want %vs", wait, int(want))
		}
		w.pass(want * time.Second)
		if wait := a.Begin(ctx, who); wait != 0 {
			t.Fatal(wait)
		}
		if wait := a.Begin(ctx, who); wait != time.Second {
			t.Fatalf("a second one at a time waits %v", wait)
		}
		a.End(ctx, who, true)
	}
	w.pass(5 * time.Minute)
	if wait := a.Begin(ctx, who); wait != 0 {
		t.Fatal(wait)
	}
	c.wantConnected(t)
}

func TestCounterAddsAndWaits(t *testing.T) {
	w := newWatch()
	c := open(t, Options{clock: w.now})
	n := c.Counter()
	for _, client := range []string{"192.0.2.7/32", "2001:db8::/64", "2001:db8::/56", "2001:db8::/48"} {
		p := prefix(client)
		for range 30 {
			if wait := n.Add(ctx, "oauth x", p, 30, 10*time.Minute); wait != 0 {
				t.Fatal(client, wait)
			}
		}
		w.pass(time.Minute)
		if wait := n.Wait(ctx, "oauth x", p, 30, 10*time.Minute); wait != 9*time.Minute-29*time.Microsecond &&
			wait != 9*time.Minute {
			t.Fatal(client, wait)
		}
		if wait := n.Add(ctx, "oauth x", p, 30, 10*time.Minute); wait != 9*time.Minute-29*time.Microsecond &&
			wait != 9*time.Minute {
			t.Fatal(client, wait)
		}
		if wait := n.Add(ctx, "oauth y", p, 30, 10*time.Minute); wait != 0 {
			t.Fatal(client, wait)
		}
	}
	c.wantConnected(t)
}
