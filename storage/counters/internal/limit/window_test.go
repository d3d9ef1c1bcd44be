package limit

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, c Config) *Limiter {
	t.Helper()
	l, err := New(c)
	if err != nil {
		t.Fatalf("New(%+v) = %v, want no error", c, err)
	}
	return l
}

// spend makes n requests that must all be admitted.
func spend(t testing.TB, l *Limiter, key string, n, limit int, at time.Time) (receipts []Receipt) {
	t.Helper()
	for i := range n {
		v := l.Allow(key, limit, at)
		if !v.OK {
			t.Fatalf("Allow(%s, %d) refuses request %d of %d", key, limit, i+1, n)
		}
		receipts = append(receipts, v.Receipt)
	}
	return receipts
}

func wantRefused(t testing.TB, l *Limiter, key string, limit int, at time.Time) Verdict {
	t.Helper()
	v := l.Allow(key, limit, at)
	if v.OK {
		t.Fatalf("Allow(%s, %d) admits one more, want it refused", key, limit)
	}
	return v
}

func TestConfigIsRefusedWithEveryComplaint(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   []string
	}{
		{Config{Window: -1}, []string{"Window is -1ns"}},
		{Config{Window: maxWindow + 1}, []string{"Window is 24h0m0.000000001s"}},
		{Config{MaxKeys: -1}, []string{"MaxKeys is -1"}},
		{Config{MaxKeys: maxKeys + 1}, []string{"MaxKeys is 16777217"}},
		{Config{Window: -1, MaxKeys: -1}, []string{"Window is -1ns", "MaxKeys is -1"}},
	} {
		l, err := New(c.config)
		if l != nil || err == nil || strings.Count(err.Error(), "limit:") != len(c.want) {
			t.Fatalf("New(%+v) = %v, %v, want %d complaints", c.config, l, err, len(c.want))
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("New(%+v) = %v, want it to say %q", c.config, err, want)
			}
		}
	}
	open(t, Config{Window: maxWindow, MaxKeys: maxKeys})
}

// Decision 25.
func TestMinuteHoldsSixtyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, Config{})
		spend(t, l, "203.0.113.7", 60, 60, time.Now())
		time.Sleep(time.Minute - 1)
		wantRefused(t, l, "203.0.113.7", 60, time.Now())
		time.Sleep(time.Nanosecond)
		spend(t, l, "203.0.113.7", 60, 60, time.Now())
		wantRefused(t, l, "203.0.113.7", 60, time.Now())
	})
}

func TestLimitHoldsInEveryWindow(t *testing.T) {
	for seed, c := range []Config{{}, {MaxKeys: 3}, {MaxKeys: 200}} {
		t.Logf("seed %d: MaxKeys %d", seed, c.MaxKeys)
		const keys, limit = 400, 7
		r := rand.New(rand.NewPCG(uint64(seed), 60))
		c.Client = clientOf
		l, at := open(t, c), start
		admitted := map[string][]time.Time{}
		for range 100_000 {
			at = at.Add(time.Duration(r.Int64N(int64(20 * time.Millisecond))))
			n := r.IntN(1 + r.IntN(keys))
			key := fmt.Sprintf("192.0.%d.%d", n/40, n%40)
			v := l.Allow(key, limit, at)
			if k := l.identify(key); l.shardOf(k).find(k) == nil {
				key = networkOf(key).String()
			}
			switch {
			case v.OK && r.IntN(4) == 0:
				l.Cancel(v.Receipt)
			case v.OK:
				admitted[key] = append(admitted[key], at)
			}
		}
		most := 0
		for key, times := range admitted {
			for i := range times {
				n, _ := slices.BinarySearchFunc(times[i:], times[i].Add(time.Minute), time.Time.Compare)
				if strings.Contains(key, "/") {
					n = (n + 3) / 4 // a /24 may do four times as much
				}
				if most = max(most, n); n > limit {
					t.Fatalf("%s: %d requests in the minute from %v, want at most %d", key, n, times[i], limit)
				}
			}
		}
		if most != limit {
			t.Errorf("the fullest minute holds %d requests, want the limit %d to be reached", most, limit)
		}
	}
}

func TestLimitDoesNotCountWhatIsRefused(t *testing.T) {
	l := open(t, Config{})
	spend(t, l, "a", 1, 2, start)
	spend(t, l, "a", 1, 2, start.Add(30*time.Second))
	for i := range 29 {
		wantRefused(t, l, "a", 2, start.Add(time.Duration(31+i)*time.Second))
	}
	spend(t, l, "a", 1, 2, start.Add(time.Minute))
	wantRefused(t, l, "a", 2, start.Add(time.Minute))
}

func TestRetryAfterRetryAfterIsAdmitted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, limit := range []int{1, 2, 60, 600} {
		l, at := open(t, Config{}), start
		for range limit {
			spend(t, l, "a", 1, limit, at)
			at = at.Add(time.Duration(r.Int64N(int64(time.Minute) / int64(limit))))
		}
		for range 100 {
			v := wantRefused(t, l, "a", limit, at)
			if v.Reset != v.RetryAfter || v.RetryAfter <= 0 || v.RetryAfter > time.Minute {
				t.Fatalf("limit %d: %+v, want one wait of at most a minute", limit, v)
			}
			at = at.Add(v.RetryAfter)
			wantRefused(t, l, "a", limit, at.Add(-1))
			spend(t, l, "a", 1, limit, at)
		}
	}
}

func TestVerdictTellsWhatRemains(t *testing.T) {
	l := open(t, Config{})
	for i, want := range []Verdict{
		{OK: true, Limit: 3, Remaining: 2, Reset: 60 * time.Second},
		{OK: true, Limit: 3, Remaining: 1, Reset: 50 * time.Second},
		{OK: true, Limit: 3, Remaining: 0, Reset: 40 * time.Second},
		{Limit: 3, Reset: 30 * time.Second, RetryAfter: 30 * time.Second},
		{Limit: 3, Reset: 20 * time.Second, RetryAfter: 20 * time.Second},
		{Limit: 3, Reset: 10 * time.Second, RetryAfter: 10 * time.Second},
		{OK: true, Limit: 3, Remaining: 0, Reset: 10 * time.Second},
	} {
		got := l.Allow("a", 3, start.Add(time.Duration(i)*10*time.Second))
		if got.Receipt = (Receipt{}); got != want {
			t.Errorf("request %d: %+v, want %+v", i, got, want)
		}
	}
}

// Decision 26: an upgrade changes the rate.
func TestLimitHoldsFromTheNextRequest(t *testing.T) {
	l := open(t, Config{})
	for i := range 6 {
		spend(t, l, "a", 1, 6, start.Add(time.Duration(i)*time.Second))
	}
	at := start.Add(6 * time.Second)
	wantRefused(t, l, "a", 6, at)
	// Three must leave before there is room for one of four.
	if v := wantRefused(t, l, "a", 4, at); v.RetryAfter != 56*time.Second || v.Remaining != 0 {
		t.Errorf("with the limit lowered to 4: %+v, want room in 56 s", v)
	}
	if v := l.Allow("a", 8, at); !v.OK || v.Remaining != 1 {
		t.Errorf("with the limit raised to 8: %+v, want one more after this", v)
	}
	wantRefused(t, l, "a", 4, start.Add(63*time.Second-1))
	spend(t, l, "a", 1, 4, start.Add(63*time.Second))
}

func TestLimitsAtTheEdges(t *testing.T) {
	l := open(t, Config{})
	for range 1000 {
		if v := l.Allow("a", Unlimited, start); v != (Verdict{OK: true, Limit: Unlimited, Remaining: Unlimited}) {
			t.Fatalf("Allow(unlimited) = %+v", v)
		}
	}
	for _, limit := range []int{0, -2, -1 << 63} {
		if v := l.Allow("a", limit, start); v != (Verdict{Reset: time.Minute, RetryAfter: time.Minute}) {
			t.Errorf("Allow(limit %d) = %+v, want it refused with a whole window to wait", limit, v)
		}
	}
	if n := l.keys.held.Load(); n != 0 {
		t.Errorf("%d keys are held, want none: nothing was counted", n)
	}
	if v := l.Allow("a", 1<<63-1, start); !v.OK || v.Remaining != 1<<63-2 {
		t.Errorf("Allow(the largest limit) = %+v", v)
	}
	spend(t, l, "", 1, 1, start)
	wantRefused(t, l, "", 1, start)
	spend(t, l, strings.Repeat("k", 1<<20), 1, 1, start)
}

func TestBusyKeyTakesNoMorePlaceThanItsLimit(t *testing.T) {
	const limit = 1_000
	l := open(t, Config{})
	for i := range 20_000 {
		l.Allow("a", limit, start.Add(time.Duration(i)*7*time.Millisecond))
	}
	k := l.identify("a")
	s := l.shardOf(k)
	if n := len(s.rings[s.find(k).ring-1].buf); n != limit-1 {
		t.Errorf("there is place for %d events beside the newest, want %d", n, limit-1)
	}
}

func TestWaitSaysWhatAllowWouldAndCountsNothing(t *testing.T) {
	for name, l := range map[string]*Limiter{
		"keys with a window": open(t, Config{}),
		"keys without":       open(t, Config{MaxKeys: 1, Client: clientOf}),
	} {
		at := time.Now()
		l.Allow("2001:db8::1", 1, at) // takes the one place
		for i := range 400 {
			key, at := "198.51.100.7", at.Add(time.Duration(i)*time.Second/3)
			wait := l.Wait(key, 3, at)
			if again := l.Wait(key, 3, at); again != wait {
				t.Fatalf("%s: asked twice it is %v and %v", name, wait, again)
			}
			if v := l.Allow(key, 3, at); v.RetryAfter != wait {
				t.Fatalf("%s: %d: Wait = %v, and then Allow says %v", name, i, wait, v.RetryAfter)
			}
		}
		if l.Wait("x", 0, at) != time.Minute || l.Wait("x", Unlimited, at) != 0 {
			t.Errorf("%s: Wait of no limit and of none at all = %v, %v", name, l.Wait("x", Unlimited, at), l.Wait("x", 0, at))
		}
	}
}

// A client is counted in the window of its address, and by the networks around it where that has no place.
func TestClientIsCountedWithoutATextOfIt(t *testing.T) {
	now := time.Now()
	l, err := New(Config{MaxKeys: 64})
	if err != nil {
		t.Fatal(err)
	}
	client := netip.MustParsePrefix("2001:db8::/64")
	key := client.Addr().As16()
	for i := range 3 {
		if v := l.AllowClient(client, 3, now); !v.OK || v.Remaining != 2-i {
			t.Fatalf("request %d: %+v", i+1, v)
		}
	}
	if v := l.AllowClient(client, 3, now); v.OK {
		t.Errorf("a fourth is admitted: %+v", v)
	}
	if v := l.Allow(string(key[:]), 3, now); v.OK {
		t.Errorf("by its bytes it is another one: %+v", v)
	}
	if v := l.AllowClient(client, Unlimited, now); !v.OK || v.Remaining != Unlimited {
		t.Errorf("without a limit: %+v", v)
	}
	for i := range 200 { // the table is full
		l.AllowClient(netip.PrefixFrom(netip.AddrFrom16([16]byte{0x30, byte(i)}), 64), 3, now)
	}
	admitted := 0
	for i := range 100 {
		other := netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, 0, 0, byte(i + 1)}), 64)
		if v := l.AllowClient(other, 3, now); v.OK {
			admitted++
			l.Cancel(v.Receipt)
			v = l.AllowClient(other, 3, now)
		}
	}
	if admitted == 0 || admitted == 100 {
		t.Errorf("%d of 100 neighbours are admitted while the table is full, want as many as their network may do", admitted)
	}
	if n := testing.AllocsPerRun(100, func() { l.AllowClient(client, 3, now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
