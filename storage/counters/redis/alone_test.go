package redis

import (
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

func TestKnownLocksStayWithoutTheServer(t *testing.T) {
	ns := nodes(t, 2, 0)
	a, b := ns[0].Addresses(counters.Lock{}), ns[1].Addresses(counters.Lock{})
	for i := range 10 {
		who := []counters.Addresses{a, b}[i%2]
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
	for i, who := range []counters.Addresses{a, b} {
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

func TestClockThatIsSetBackAdmitsNoMoreAndLocksNobodyForEver(t *testing.T) {
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
			n.watch.pass(counters.Window * 9 / 8)
			if !hold() {
				t.Errorf("%v back after %d: refused a window later", back, asked)
			}
			n.wantConnected(t)
		}
	}
}

func TestCountsFromBeforeTheClockWasSetBackExpire(t *testing.T) {
	n := nodes(t, 1, 0)[0]
	last := func(asked int) (address, app counters.Verdict) {
		for range asked {
			address, _ = n.Limiter().HoldAddress(ctx, ip("192.0.2.1"), 60, n.watch.now())
			app = n.Limiter().Allow(ctx, "ks1", 60, n.watch.now())
		}
		return address, app
	}
	last(3)
	n.watch.pass(-365 * 24 * time.Hour)
	if address, app := last(1); address.Remaining != 56 || app.Remaining != 56 {
		t.Errorf("%+v, %+v: want four counted", address, app)
	}
	n.watch.pass(counters.Window + time.Second)
	if address, app := last(1); address.Remaining != 59 || app.Remaining != 59 {
		t.Errorf("%+v, %+v: want the others gone a window later", address, app)
	}
	n.wantConnected(t)
}

func TestNetworkForgetsNothingWhenTheClockIsSetBack(t *testing.T) {
	n := nodes(t, 1, 0)[0]
	hold := func(i int) bool {
		v, _ := n.Limiter().HoldAddress(ctx, v6of(i), 10, n.watch.now())
		return v.OK
	}
	for i := range 40 {
		if !hold(i) {
			t.Fatal(i)
		}
	}
	n.watch.pass(-30 * time.Second)
	if hold(40) {
		t.Error("a /56 makes more than 40")
	}
	n.watch.pass(counters.Window * 9 / 8)
	if !hold(41) {
		t.Error("a /56 is refused a window later")
	}
}

// Refused attempts leave all the same.
func TestClockThatIsSetBackLocksNobodyForLongerThanALock(t *testing.T) {
	n := nodes(t, 1, 0)[0]
	a, d, few := n.Addresses(counters.Lock{}), n.Accounts(), [32]byte{3}
	for range 12 {
		a.Begin(ctx, ip("192.0.2.1"))
		a.End(ctx, ip("192.0.2.1"), true)
		d.FailKnown(ctx, few)
		n.Limiter().HoldAddress(ctx, ip("192.0.2.1"), 5, n.watch.now())
		n.Counter().Add(ctx, "mails", prefix("192.0.2.1/32"), 5, time.Minute)
	}
	n.watch.pass(-365 * 24 * time.Hour)
	refused := func() (n4 int) {
		v, _ := n.Limiter().HoldAddress(ctx, ip("192.0.2.1"), 5, n.watch.now())
		for _, wait := range []time.Duration{
			v.RetryAfter, n.Counter().Wait(ctx, "mails", prefix("192.0.2.1/32"), 5, time.Minute), a.Begin(ctx, ip("192.0.2.1")),
			d.Begin(ctx, few),
		} {
			if wait > 15*time.Minute {
				t.Errorf("told to wait %v", wait)
			}
			if wait > 0 {
				n4++
			}
		}
		return n4
	}
	if n4 := refused(); n4 != 4 {
		t.Errorf("%d of four refuse after the clock was set back, want all", n4)
	}
	n.watch.pass(15*time.Minute + time.Second)
	if n4 := refused(); n4 != 0 {
		t.Errorf("%d of four still refuse a quarter of an hour later", n4)
	}
	n.wantConnected(t)
}

// An attempt that began without the server must not end the place of another there.
func TestAttemptThatBeganAloneTakesNobodysPlace(t *testing.T) {
	ns := nodes(t, 2, 0)
	a, b := ns[0].Addresses(counters.Lock{}), ns[1].Addresses(counters.Lock{})
	d, e, who := ns[0].Accounts(), ns[1].Accounts(), [32]byte{9}
	begin := func() {
		if wait := max(a.Begin(ctx, ip("192.0.2.1")), d.Begin(ctx, who)); wait != 0 {
			t.Fatal(wait)
		}
	}
	begin()
	ns[0].proxy.cut()
	begin()
	ns[0].lines.wait(t, alone)
	ns[0].proxy.listen()
	ns[0].lines.wait(t, again)
	a.End(ctx, ip("192.0.2.1"), true)
	d.End(ctx, who, true)
	addresses, accounts := 0, 0
	for range 12 {
		if b.Begin(ctx, ip("192.0.2.1")) == 0 {
			addresses++
		}
		if e.Begin(ctx, who) == 0 {
			accounts++
		}
	}
	if addresses != 8 || accounts != 8 {
		t.Errorf("%d and %d attempts beside a failure and one in flight, want 8", addresses, accounts)
	}
}
