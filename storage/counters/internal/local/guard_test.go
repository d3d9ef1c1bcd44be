package local

import (
	"encoding/binary"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
)

var testAddress = netip.MustParseAddr("192.0.2.1")

// newGuard makes a Guard by the protocol (8).
func newGuard() *Guard { return NewGuard(10, 5*time.Minute, 15*time.Minute) }

func (g *Guard) begin(ip netip.Addr) time.Duration { return g.Begin(network.Of(ip), g.keep, false) }
func (g *Guard) end(ip netip.Addr, failed bool)    { g.End(network.Of(ip), failed, g.keep) }

func (g *Guard) clear(ip netip.Addr) bool {
	had, _ := g.Clear(network.Of(ip))
	return had
}

// fail makes n attempts that fail, and says how many were let through.
func (g *Guard) fail(ip netip.Addr, n int) (through int) {
	for range n {
		if g.begin(ip) == 0 {
			through++
			g.end(ip, true)
		}
	}
	return through
}

// Protocol 8: 10 failures from one IP within 5 minutes lock that IP for 15 minutes.
func TestTenFailuresLockAnAddressForFifteenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard()
		if n := g.fail(testAddress, 25); n != 10 {
			t.Errorf("%d of 25 attempts let through, want 10", n)
		}
		time.Sleep(15*time.Minute - time.Second)
		if wait := g.begin(testAddress); wait != time.Second {
			t.Errorf("Begin() = %v, want 1s: attempts do not extend the lock", wait)
		}
		time.Sleep(time.Second)
		if n := g.fail(testAddress, 25); n != 10 {
			t.Errorf("after the lock %d let through, want 10 again", n)
		}
	})
}

func TestFailuresCountForFiveMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard()
		g.fail(testAddress, 5)
		time.Sleep(4 * time.Minute)
		g.fail(testAddress, 4)
		time.Sleep(time.Minute) // the first five are too long ago now
		if n := g.fail(testAddress, 25); n != 6 {
			t.Errorf("%d let through, want 6 beside the 4 that count", n)
		}
	})
}

func TestNineFailuresInFiveMinutesGoOnForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard()
		for range 100 {
			if n := g.fail(testAddress, 9); n != 9 {
				t.Fatalf("%d let through, want 9", n)
			}
			time.Sleep(5 * time.Minute)
		}
	})
}

func TestSuccessDoesNotResetTheCount(t *testing.T) {
	g := newGuard()
	g.fail(testAddress, 9)
	for range 50 {
		if wait := g.begin(testAddress); wait != 0 {
			t.Fatalf("Begin() = %v, want 0: successes do not count", wait)
		}
		g.end(testAddress, false)
	}
	if n := g.fail(testAddress, 5); n != 1 {
		t.Errorf("%d let through, want 1 more", n)
	}
}

func TestAttemptsInFlightCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard()
		g.fail(testAddress, 4)
		var through atomic.Int32
		var group sync.WaitGroup
		finish := make(chan struct{})
		for range 30 {
			group.Go(func() {
				wait := g.begin(testAddress)
				if wait == busyWait {
					return
				}
				through.Add(1)
				<-finish
				g.end(testAddress, false)
			})
		}
		synctest.Wait()
		if n := through.Load(); n != 6 {
			t.Errorf("%d in flight beside 4 failures, want 6", n)
		}
		close(finish)
		group.Wait()
		if wait := g.begin(testAddress); wait != 0 {
			t.Errorf("Begin() = %v, want 0: those in flight were right", wait)
		}
	})
}

func TestAddressesAreCountedApart(t *testing.T) {
	for _, c := range []struct {
		promise, a, b string
		same          bool
	}{
		{"two of IPv4", "192.0.2.1", "192.0.2.2", false},
		{"IPv4 and itself in IPv6", "192.0.2.1", "::ffff:192.0.2.1", true},
		{"one /64", "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true},
		{"two /64", "2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"one link with two zones", "fe80::1%eth0", "fe80::2%eth1", true},
	} {
		g := newGuard()
		g.fail(netip.MustParseAddr(c.a), 10)
		if got := g.fail(netip.MustParseAddr(c.b), 1) == 0; got != c.same {
			t.Errorf("%s: locked together = %v, want %v", c.promise, got, c.same)
		}
	}
}

func TestLockOfYourOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(2, time.Hour, time.Minute)
		for range 3 {
			if n := g.fail(testAddress, 5); n != 2 {
				t.Errorf("%d let through, want 2", n)
			}
			time.Sleep(time.Minute)
		}
	})
}

func addressOf(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

func TestFullTableForgetsNoCountedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard()
		g.capacity = 100
		g.fail(addressOf(0), 10) // locked
		for i := range 99 {
			g.fail(addressOf(1+i), 9)
		}
		if n := g.fail(addressOf(1000), 4) + g.fail(addressOf(1001), 100); n != 40 || len(g.known) != 100 {
			t.Errorf("strangers of a /24: %d let through and %d known, want 40 together and 100", n, len(g.known))
		}
		for i := range 99 {
			if n := g.fail(addressOf(1+i), 2); n != 1 {
				t.Fatalf("known %d: %d let through, want the tenth", i, n)
			}
		}
		time.Sleep(15 * time.Minute)
		if n := g.fail(addressOf(2000), 1); n != 1 || len(g.known) != 1 {
			t.Errorf("later: %d let through and %d known, want 1 and 1", n, len(g.known))
		}
	})
}

// Decision 56: what strangers share may make them wait, and no longer than
// failures count.
func TestNetworkIsNeverLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGuard(10, 5*time.Minute, 24*time.Hour)
		g.capacity = 1
		for range 3 {
			g.fail(addressOf(1), 1)
			if n := g.fail(addressOf(2), 100); n != 40 {
				t.Fatalf("%d let through, want 40", n)
			}
			wait := g.begin(addressOf(3))
			if wait < 5*time.Minute || wait > 6*time.Minute {
				t.Fatalf("Begin() = %v, want to wait about the 5 minutes that failures count", wait)
			}
			for range 1000 {
				g.fail(addressOf(3), 1) // does not make it longer
			}
			time.Sleep(wait)
			g.fail(addressOf(1), 1)
			if wait := g.begin(addressOf(3)); wait != 0 {
				t.Errorf("Begin() after that = %v, want 0", wait)
			}
			g.end(addressOf(3), false)
			time.Sleep(6 * time.Minute)
		}
	})
}

func TestSuccessesCountedByNetworkAreTakenBack(t *testing.T) {
	g := newGuard()
	g.capacity = 1
	g.fail(addressOf(1), 1)
	for range 1000 {
		if wait := g.begin(addressOf(2)); wait != 0 {
			t.Fatalf("Begin() = %v, want 0: nobody there has failed", wait)
		}
		g.end(addressOf(2), false)
	}
}

func TestAttemptEndsWhereItBegan(t *testing.T) {
	g := NewGuard(1, 5*time.Minute, 15*time.Minute)
	g.capacity = 1
	g.begin(addressOf(1)) // takes the room
	g.begin(addressOf(2)) // counted by its network
	g.end(addressOf(1), false)
	g.begin(addressOf(2)) // there is room now, but not for an attempt that is in flight elsewhere
	g.end(addressOf(2), false)
	g.end(addressOf(2), false)
	if len(g.known) != 0 || len(g.byNetwork) != 0 {
		t.Errorf("left behind: %d known, %d elsewhere, want nothing", len(g.known), len(g.byNetwork))
	}
	g.begin(addressOf(1))
	if n := g.fail(addressOf(2), 100); n != 4 {
		t.Errorf("%d let through, want 4: none of those before have failed", n)
	}
}

// flood is the i-th /64 of an attacker who owns a /44.
func flood(i int) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2a0d_beef_0000_0000+uint64(i))
	return netip.AddrFrom16(b)
}

// visitor is one of 200 who have nothing to do with the attackers nor with each other.
func visitor(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{198, byte(i), 100, 7})
	}
	return netip.AddrFrom16([16]byte{0x2a, 0x02, 0x81, byte(i), 1, 2, 3, 4, 5})
}

func TestMillionAddressesThatFailKeepNobodyElseOut(t *testing.T) {
	if testing.Short() {
		t.Skip("counts to a million")
	}
	g := newGuard()
	for i := range 1_000_000 {
		g.fail(flood(i), 1)
	}
	for i := range 100_000 {
		g.fail(addressOf(i), 1)
	}
	for i := range 200 {
		if n := g.fail(visitor(i), 10); n != 10 {
			t.Fatalf("%v: %d let through, want 10", visitor(i), n)
		}
	}
	for _, ip := range []netip.Addr{flood(1_000_001), addressOf(99_999)} {
		if n := g.fail(ip, 1000); n > 160 || g.begin(ip) == 0 {
			t.Errorf("%v, a stranger among the flood: %d let through, want at most what a /48 or /16 may", ip, n)
		}
	}
	if len(g.known) != capacity {
		t.Errorf("%d known, want %d", len(g.known), capacity)
	}
}

func TestSuccessLeavesNothingBehind(t *testing.T) {
	g := newGuard()
	for i := range 1000 {
		g.begin(addressOf(i))
		g.end(addressOf(i), false)
	}
	if len(g.known) != 0 {
		t.Errorf("%d addresses kept, want 0", len(g.known))
	}
}

func TestOperatorEndsALockout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard()
		if g.clear(testAddress) {
			t.Error("there was something to clear")
		}
		g.fail(testAddress, 25)
		if g.begin(testAddress) == 0 || !g.clear(testAddress) {
			t.Fatal("the address is not locked")
		}
		if n := g.fail(testAddress, 9); n != 9 || !g.clear(testAddress) || g.clear(testAddress) {
			t.Errorf("%d of 9 let through, and what failed is not forgotten once", n)
		}
		if wait := g.begin(testAddress); wait != 0 {
			t.Errorf("Begin() = %v", wait)
		}
		g.clear(testAddress) // while an attempt is in flight
		g.end(testAddress, true)
		if n := g.fail(testAddress, 25); n != 9 {
			t.Errorf("%d let through, want 9 beside the one that was in flight", n)
		}
	})
}
