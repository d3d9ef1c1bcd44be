package network

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

var start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func client(text string) netip.Prefix { return Of(netip.MustParseAddr(text)) }

// v6 is a /64 of the i-th /56 of 2001:db8::/32 and those after it.
func v6(i, j int) netip.Prefix {
	n := uint64(0x2001_0db8)<<32 + uint64(i)<<8 + uint64(j)
	var b [16]byte
	for k := range 8 {
		b[k] = byte(n >> (56 - 8*k))
	}
	return netip.PrefixFrom(netip.AddrFrom16(b), 64)
}

func take(c *Counts, p netip.Prefix, limit, n int, at time.Time) (admitted int) {
	for range n {
		if c.Take(p, "", limit, at).OK {
			admitted++
		}
	}
	return admitted
}

// A naive count by eighths stands beside: every event in a list.
func TestCountsAgreeWithAListOfEvents(t *testing.T) {
	type event struct {
		bucket int64
		r      Receipt
	}
	for seed, window := range []time.Duration{time.Minute, 24 * time.Hour, 1, 100, 8} {
		r := rand.New(rand.NewPCG(uint64(seed), 56))
		c, at := NewCounts(window, 0), start
		width := (int64(window) + 7) / 8
		kinds := []string{"", "a", "b"}
		lists := map[string][]event{}
		c.Wait(client("192.0.2.1"), "", 1, start) // buckets are numbered from here
		var latest int64
		refused := 0
		for range 20_000 {
			at = at.Add(time.Duration(r.Int64N(int64(window)/20 + 2)))
			asked := at.Add(-time.Duration(r.IntN(2) * r.IntN(int(min(int64(window)/5+1, 1<<30)))))
			latest = max(latest, int64(asked.Sub(start))+farthest)
			now := latest / width
			kind, limit := kinds[r.IntN(3)], 1+r.IntN(5)
			list := slices.DeleteFunc(lists[kind], func(e event) bool { return now-e.bucket > 8 })
			if len(list) > 0 && r.IntN(5) == 0 {
				i := r.IntN(len(list))
				c.Return(list[i].r)
				list = slices.Delete(list, i, i+1)
			}
			want := Answer{OK: len(list) < 4*limit, Remaining: max(0, 4*limit-len(list)-1)}
			first := now
			if want.OK && len(list) > 0 {
				first = list[0].bucket
			} else if !want.OK {
				first = list[len(list)-4*limit].bucket
			}
			want.Reset = time.Duration((first+9)*width - int64(asked.Sub(start)) - farthest)
			p := client("192.0.2." + string(rune('1'+r.IntN(9))))
			wait := c.Wait(p, kind, limit, asked)
			got := c.Take(p, kind, limit, asked)
			if want.OK {
				list = append(list, event{now, got.Receipt})
			} else {
				refused++
			}
			if lists[kind] = list; (wait == 0) != want.OK || !want.OK && wait != want.Reset ||
				(got.Receipt != Receipt{}) != want.OK {
				t.Fatalf("window %v: Wait = %v and %+v, want %+v", window, wait, got, want)
			}
			if got.Receipt = (Receipt{}); got != want {
				t.Fatalf("window %v: %+v, want %+v", window, got, want)
			}
		}
		if refused < 500 {
			t.Errorf("window %v: %d refused, the events do not try what they should", window, refused)
		}
	}
}

func TestNetworkLimitHoldsInEveryWindow(t *testing.T) {
	c, at, r := NewCounts(time.Minute, 0), start, rand.New(rand.NewPCG(1, 2))
	var admitted []time.Time
	for range 50_000 {
		at = at.Add(time.Duration(r.Int64N(int64(2 * time.Second))))
		if c.Take(v6(1, r.IntN(256)), "", 10, at).OK {
			admitted = append(admitted, at)
		}
	}
	most := 0
	for i := range admitted {
		n, _ := slices.BinarySearchFunc(admitted[i:], admitted[i].Add(time.Minute), time.Time.Compare)
		most = max(most, n)
	}
	if most != 40 {
		t.Errorf("the fullest minute of a /56 holds %d, want 40", most)
	}
}

func TestRetryAfterRetryAfterIsAdmitted(t *testing.T) {
	c, at := NewCounts(time.Minute, 0), start
	for i := range 40 {
		take(c, client("192.0.2.1"), 10, 1, at.Add(time.Duration(i)*time.Second))
	}
	at = at.Add(40 * time.Second)
	for range 50 {
		wait := c.Wait(client("192.0.2.2"), "", 10, at)
		if wait <= 0 || wait > 68*time.Second {
			t.Fatalf("Wait = %v, want some time up to a window and an eighth", wait)
		}
		if at = at.Add(wait); c.Wait(client("192.0.2.2"), "", 10, at.Add(-1)) != 1 {
			t.Fatal("a nanosecond before that there is room already")
		}
		for c.Take(client("192.0.2.2"), "", 10, at).OK {
			at = at.Add(time.Millisecond)
		}
	}
}

// A flood that fills the narrow networks has all others counted by wider ones, each by their own.
func TestNetworkCountsFallBackToWiderOnes(t *testing.T) {
	c := NewCounts(time.Minute, 0)
	for i := range 1 << 16 { // all of a /40: 65,536 /56s, 256 /48s
		take(c, v6(i, 0), 10, 1, start)
	}
	for i := range 1 << 16 { // 65,536 /48s
		take(c, v6(1<<16+i<<8, 0), 10, 1, start)
	}
	if n := take(c, client("2001:dba:ffff::1"), 10, 1000, start); n != 640 {
		t.Errorf("a client of another /32 may do %d, want 640", n)
	}
	if n := take(c, client("198.51.100.1"), 10, 1000, start); n != 160 {
		t.Errorf("a client of IPv4 may do %d, want the 160 of its /16", n)
	}
	if n := take(c, client("198.51.7.7"), 10, 10, start); n != 0 {
		t.Errorf("its neighbour may do %d more", n)
	}
	take(c, v6(0, 0), 10, 1000, start)
	if n := take(c, v6(0, 1), 10, 1, start); n != 0 {
		t.Error("a narrow network that counts was forgotten")
	}
	if n := take(c, client("2001:dc2::1"), 10, 1000, start.Add(68*time.Second)); n != 40 {
		t.Errorf("later a client may do %d, want 40: there is room for its /56 again", n)
	}
}

// The fullest counts stay, whichever clients come.
func TestAmongTheWidestTheOneWithTheFewestEventsIsEvicted(t *testing.T) {
	c := NewCounts(time.Minute, 0)
	slash32 := func(i int) netip.Prefix {
		return client(netip.AddrFrom16([16]byte{0x24, byte(i >> 16), byte(i >> 8), byte(i)}).String())
	}
	for i := range 1 << 15 { // fills all levels
		take(c, v6(i, 0), 1, 1, start)
		take(c, v6(i<<8, 0), 1, 1, start)
	}
	for i := range 8 {
		if n := take(c, slash32(i), 10, 700, start); n != 640 {
			t.Fatalf("the %d-th may do %d, want 640", i, n)
		}
	}
	for i := range 50_000 {
		if !c.Take(slash32(100+i), "", 10, start).OK {
			t.Fatalf("the %d-th network that asks once is refused", i)
		}
	}
	for i := range 8 {
		if n := take(c, slash32(i), 10, 1, start); n != 0 {
			t.Errorf("the %d-th was forgotten for others that ask once", i)
		}
	}
}

func TestClientInNoNetworkHasACountOfItsOwn(t *testing.T) {
	c := NewCounts(time.Minute, 0)
	for _, kind := range []string{"a", "b", "c"} {
		for range 10 {
			if !c.Take(netip.Prefix{}, kind, 10, start).OK {
				t.Fatalf("%s is refused before its limit", kind)
			}
		}
		if c.Take(netip.Prefix{}, kind, 10, start).OK {
			t.Errorf("%s may do more than one client may", kind)
		}
	}
}

func TestEdgesOfTimeAndLimits(t *testing.T) {
	for _, at := range []time.Time{{}, start.AddDate(-3000, 0, 0), start.AddDate(3000, 0, 0)} {
		c := NewCounts(24*time.Hour, 0)
		take(c, client("192.0.2.1"), math.MaxInt, 1, start)
		take(c, client("192.0.2.1"), 1, 9, at)
		if a := c.Take(client("192.0.2.1"), "", 1, at); a.OK || a.Reset <= 0 {
			t.Errorf("at %v: %+v, want it refused for a time", at, a)
		}
	}
	c := NewCounts(time.Minute, 0)
	c.Return(Receipt{})
	c.Return(Receipt{2, 77, 1})
	if a := c.Take(client("192.0.2.1"), "", math.MaxInt, start); !a.OK || a.Remaining != 4*mostLimit-1 {
		t.Errorf("with the largest limit: %+v", a)
	}
}

func TestParallelEventsShareTheLimit(t *testing.T) {
	c := NewCounts(time.Minute, 0)
	var admitted atomic.Int32
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() { admitted.Add(int32(take(c, v6(0, i), 15, 100, start))) })
	}
	if group.Wait(); admitted.Load() != 60 {
		t.Errorf("%d admitted, want 60", admitted.Load())
	}
}

func TestCountsTakeNoMoreMemoryThanTheirCapacity(t *testing.T) {
	if size := unsafe.Sizeof(window{}); size != 56 {
		t.Errorf("a network takes %d bytes, want 56", size)
	}
	c := NewCounts(time.Minute, 125_000)
	for i := range 150_000 {
		take(c, v6(i<<6, 0), 10, 1, start)
	}
	total := 0
	for _, l := range c.levels {
		total += len(l.sets) * int(unsafe.Sizeof([ways]window{}))
	}
	if total > 9_000_000 {
		t.Errorf("%d bytes, want at most 9 MB", total)
	}
}
