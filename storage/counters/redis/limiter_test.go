package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

func TestApplicationMakesItsLimitInAnyMinute(t *testing.T) {
	w := newWatch()
	c := open(t, Options{clock: w.now})
	allow := func() counters.Verdict { return c.Limiter().Allow(ctx, "ks1", 3, w.now()) }
	for i, want := range []counters.Verdict{
		{OK: true, Limit: 3, Remaining: 2, Reset: time.Minute},
		{OK: true, Limit: 3, Remaining: 1, Reset: 50 * time.Second},
		{OK: true, Limit: 3, Remaining: 0, Reset: 40 * time.Second},
		{Limit: 3, Reset: 30 * time.Second, RetryAfter: 30 * time.Second},
		{Limit: 3, Reset: 20 * time.Second, RetryAfter: 20 * time.Second},
		{Limit: 3, Reset: 10 * time.Second, RetryAfter: 10 * time.Second},
		{OK: true, Limit: 3, Remaining: 0, Reset: 10 * time.Second},
	} {
		if v := allow(); v != want {
			t.Fatalf("request %d: %+v, want %+v", i, v, want)
		}
		w.pass(10 * time.Second)
	}
	c.wantConnected(t)
}

// An account is a client_id, or a client_id and a user (decision 55), with a blank between.
func TestAccountsOfOneClientAreApart(t *testing.T) {
	w := newWatch()
	c := open(t, Options{clock: w.now})
	vendor := "https://agent.example/" + strings.Repeat("x", 160)
	for _, account := range []string{vendor, vendor + " u1", vendor + " u2", vendor + " " + strings.Repeat("u", 47),
		"session {a} *", "user \xc3\xa4 " + strings.Repeat("u", 1024)} {
		for i := range 3 {
			if v := c.Limiter().Allow(ctx, account, 2, w.now()); v.OK != (i < 2) {
				t.Errorf("request %d of %.60q: %+v", i+1, account, v)
			}
		}
	}
	c.wantConnected(t)
}

func TestAddressMakesItsLimitInAnyMinuteHoweverHighItIs(t *testing.T) {
	for _, limit := range []int{1, 6, 7, 60} {
		for _, address := range []string{"192.0.2.7", "2001:db8::1"} {
			w := newWatch()
			c := open(t, Options{clock: w.now})
			for i := range limit {
				v, _ := c.Limiter().HoldAddress(ctx, ip(address), limit, w.now())
				want := counters.Verdict{OK: true, Limit: limit, Remaining: limit - 1 - i,
					Reset: time.Minute - time.Duration(i)*time.Millisecond}
				if v != want {
					t.Fatalf("%s, request %d of %d: %+v, want %+v", address, i, limit, v, want)
				}
				w.pass(time.Millisecond)
			}
			left := time.Minute - time.Duration(limit)*time.Millisecond
			if v, _ := c.Limiter().HoldAddress(ctx, ip(address), limit,
				w.now()); v != (counters.Verdict{Limit: limit, Reset: left, RetryAfter: left}) {
				t.Fatalf("%s, beyond %d: %+v", address, limit, v)
			}
			w.pass(left)
			if v, _ := c.Limiter().HoldAddress(ctx, ip(address), limit, w.now()); !v.OK || v.Remaining != 0 {
				t.Fatalf("%s, after RetryAfter: %+v", address, v)
			}
			c.wantConnected(t)
		}
	}
}

func TestTakenBackRequestWasNeverMade(t *testing.T) {
	for _, address := range []string{"192.0.2.7", "2001:db8::1"} {
		w := newWatch()
		c := open(t, Options{clock: w.now})
		for range 70 {
			v, undo := c.Limiter().HoldAddress(ctx, ip(address), 60, w.now())
			if !v.OK || v.Remaining != 59 {
				t.Fatalf("%s: %+v, want 59 more", address, v)
			}
			undo()
		}
		for range 60 {
			c.Limiter().HoldAddress(ctx, ip(address), 60, w.now())
		}
		_, undo := c.Limiter().HoldAddress(ctx, ip(address), 61, w.now())
		undo()
		if v, _ := c.Limiter().HoldAddress(ctx, ip(address), 61, w.now()); !v.OK || v.Remaining != 0 {
			t.Fatalf("%s: %+v, want the last of 61", address, v)
		}
		c.wantConnected(t)
	}
}

// Decision 56.
func TestNetworksOfIPv6AreCountedToo(t *testing.T) {
	w := newWatch()
	c := open(t, Options{clock: w.now})
	admitted := func(from func(i int) string, n int) (ok int) {
		for i := range n {
			if v, _ := c.Limiter().HoldAddress(ctx, ip(from(i)), 10, w.now()); v.OK {
				ok++
			}
		}
		return ok
	}
	hex := func(i int) string { return string("0123456789abcdef"[i/16%16]) + string("0123456789abcdef"[i%16]) }
	if n := admitted(func(i int) string { return "2001:db8:1:" + hex(i) + "::1" }, 100); n != 40 {
		t.Errorf("a /56 makes %d, want 40", n)
	}
	if n := admitted(func(i int) string { return "2001:db8:1:1" + hex(i) + "::1" }, 100); n != 40 {
		t.Errorf("another /56 makes %d, want 40", n)
	}
	if n := admitted(func(i int) string { return "2001:db8:1:" + hex(i) + "00::1" }, 250); n != 80 {
		t.Errorf("the /48 makes %d more, want 80", n)
	}
	w.pass(68 * time.Second)
	if n := admitted(func(i int) string { return "2001:db8:1:" + hex(i) + "00::1" }, 250); n != 160 {
		t.Errorf("later the /48 makes %d, want 160", n)
	}
	c.wantConnected(t)
}
