package redis

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
)

// Nothing stays for ever, and nothing ends before what it counts has left its window.
func TestKeyEndsAfterItsWindow(t *testing.T) {
	c, r := open(t, Options{}), raw(t)
	a, d := c.Addresses(counters.Lock{}), c.Accounts()
	for _, from := range []string{"192.0.2.1", "2001:db8::1"} {
		for range 9 {
			c.Limiter().HoldAddress(ctx, ip(from), 60, time.Now())
			c.Counter().Add(ctx, "oauth x", network.Of(ip(from)), 30, 10*time.Minute)
		}
		a.Begin(ctx, ip(from))
	}
	c.Limiter().Allow(ctx, "ks1", 60, time.Now())
	d.FailKnown(ctx, [32]byte{1})
	all, err := r.do("KEYS", c.o.Prefix+":*").Strings()
	if err != nil {
		t.Fatal(err)
	}
	least := map[string]time.Duration{"app": time.Minute, "}a": time.Minute, "}c": 10 * time.Minute,
		"}g": 15 * time.Minute, "}d": 5 * time.Minute, "{m": time.Hour}
	found := map[string]int{}
	for _, key := range all {
		for kind, window := range least {
			if !strings.Contains(key, kind) {
				continue
			}
			found[kind]++
			ms := r.number("PTTL", key)
			if lives := time.Duration(ms) * time.Millisecond; lives < window-10*time.Second || kind != "{m" &&
				lives > 2*window+3*time.Second {
				t.Errorf("%q ends in %v, want about %v", key, lives, window)
			}
		}
	}
	for kind := range least {
		if found[kind] == 0 {
			t.Errorf("no key of %q in %q", kind, all)
		}
	}
	c.wantConnected(t)
}
