package redis

import (
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/limits"
	"github.com/keystile/keystile/oauth/signin/lockout"
)

func TestKnownLocksStayWithoutTheServer(t *testing.T) {
	ns := nodes(t, 2, 0)
	a, b := ns[0].Addresses(lockout.Config{}), ns[1].Addresses(lockout.Config{})
	for i := range 10 {
		who := []lockout.Addresses{a, b}[i%2]
		if wait := who.Begin(ctx, ip("192.0.2.1")); wait != 0 {
			t.Fatal(wait)
		}
		who.End(ctx, ip("192.0.2.1"), true)
	}
	if wait := a.Begin(ctx, ip("192.0.2.1")); wait != 15*time.Minute {
		t.Fatalf("%v, want it locked", wait)
	}
	for _, n := range ns {
		n.proxy.cut()
	}
	for i, who := range []lockout.Addresses{a, b} {
		if wait := who.Begin(ctx, ip("192.0.2.1")); wait < 14*time.Minute {
			t.Errorf("node %d: %v, want it locked", i, wait)
		}
	}
	// Others have this node's share of failures.
	for i := range 5 {
		if wait := a.Begin(ctx, ip("192.0.2.2")); wait != 0 {
			t.Fatal(i, wait)
		}
		a.End(ctx, ip("192.0.2.2"), true)
	}
	if wait := a.Begin(ctx, ip("192.0.2.2")); wait < 14*time.Minute {
		t.Errorf("%v, want it locked after its share", wait)
	}
	ns[0].proxy.listen()
	ns[0].lines.wait(t, again)
	if wait := a.Begin(ctx, ip("192.0.2.2")); wait < 14*time.Minute {
		t.Errorf("%v, want it locked after the return too", wait)
	}
}

func TestAccountsAndEventsKeepTheirShareToo(t *testing.T) {
	n := nodes(t, 2, 0)[0]
	a, who := n.Accounts(), [32]byte{7}
	n.proxy.cut()
	for i := range 5 {
		if wait := a.Begin(ctx, who); wait != 0 {
			t.Fatal(i, wait)
		}
		a.End(ctx, who, true)
	}
	if wait := a.Begin(ctx, who); wait <= 0 || wait > time.Second {
		t.Errorf("%v, want up to a second after its share of failures", wait)
	}
	added := 0
	for range 40 {
		if n.Counter().Add(ctx, "oauth x", prefix("192.0.2.1/32"), 30, time.Minute) == 0 {
			added++
		}
	}
	if added != 15 || n.Counter().Wait(ctx, "oauth x", prefix("192.0.2.1/32"), 30, time.Minute) <= 0 {
		t.Errorf("%d added, want 15", added)
	}
}

func TestAClockThatIsSetBackAdmitsNoMoreAndLocksNobodyForEver(t *testing.T) {
	for _, back := range []time.Duration{time.Millisecond, 30 * time.Second, 365 * 24 * time.Hour} {
		for _, asked := range []int{3, 10, 60} {
			n := nodes(t, 1, 0)[0]
			hold := func() bool {
				v, _ := n.Limiter().HoldAddress(ctx, ip("2001:db8::1"), 60, n.watch.now())
				w := n.Limiter().Allow(ctx, "ks1", 60, n.watch.now())
				if v.OK != w.OK {
					t.Errorf("%v back after %d: the address %+v, the application %+v", back, asked, v, w)
				}
				return v.OK
			}
			ok := 0
			for i := range 120 {
				if i == asked {
					n.watch.pass(-back)
				}
				if hold() {
					ok++
				}
			}
			if ok != 60 {
				t.Errorf("%v back after %d: %d admitted, want 60", back, asked, ok)
			}
			n.watch.pass(limits.Window * 9 / 8)
			if !hold() {
				t.Errorf("%v back after %d: refused a window later", back, asked)
			}
			n.wantConnected(t)
		}
	}
}
