package gateway_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage/counters"
)

const anything = "/.well-known/openid-configuration"

// admitted sends n requests, each from another address, and returns how many were admitted.
func (h *fixture) admitted(n int, from func(i int) string, bearer string) (through int) {
	h.Helper()
	for i := range n {
		if h.call("GET", anything, bearer, "from", "["+from(i)+"]:1").status != 429 {
			through++
		}
	}
	return through
}

// A client with a /48 has 65,536 addresses, and none of the rate of the next one.
func TestSiteHasSixteenTimesTheRateOfAnAddressAndASubnetFour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		site := func(i int) string { return fmt.Sprintf("2001:db8:1:%x::7", i*13%65536) }
		subnet := func(i int) string { return fmt.Sprintf("2001:db8:2:%x::7", i%256) }
		other := func(i int) string { return fmt.Sprintf("2001:db8:3:%x::7", i) }
		if n := h.admitted(2000, site, ""); n != 960 {
			t.Errorf("%d requests of one /48 get through in a minute, want 960", n)
		}
		if n := h.admitted(1000, subnet, ""); n != 240 {
			t.Errorf("%d requests of one /56 get through in a minute, want 240", n)
		}
		if n := h.admitted(100, subnet, ""); n != 0 {
			t.Errorf("%d more get through", n)
		}
		if n := h.admitted(700, func(i int) string { return fmt.Sprintf("2001:db8:2:%x::7", 256*(1+i%200)) }, ""); n != 700 {
			t.Errorf("%d requests of its neighbours in the /48 get through, want 700", n)
		}
		if n := h.admitted(60, other, ""); n != 60 {
			t.Errorf("%d requests of another /48 get through, want 60", n)
		}
		if n := h.admitted(20, site, h.bearer(h.app)); n != 20 {
			t.Errorf("%d requests with a token get through from there, want 20", n)
		}
		a := h.call("GET", anything, "", "from", "[2001:db8:1:1::1]:1")
		if a.status != 429 || a.header.Get("Retry-After") == "" || a.header.Get("RateLimit-Policy") != `"default";q=60;w=60` {
			t.Errorf("refused with %d %v, want to be told when to come back", a.status, a.header)
		}
		time.Sleep(counters.Window + counters.Window/8)
		if n := h.admitted(1, site, ""); n != 1 {
			t.Error("it is refused a minute later too")
		}
	})
}

func TestAddressesOfIPv4AreNotCountedTogether(t *testing.T) {
	h := newFixture(t)
	for i := range 2000 {
		if a := h.call("GET", anything, "", "from", fmt.Sprintf("203.0.%d.%d:1", i/250, i%250)); a.status == 429 {
			t.Fatalf("the %d-th address is refused", i)
		}
	}
}

func TestRateOfASiteHoldsInEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *gateway.Config) { c.PerAddress = 3 })
		var admitted []time.Time
		for i := range 2000 {
			if h.admitted(1, func(int) string { return fmt.Sprintf("2001:db8:1:%x::7", i*257%65536) }, "") == 1 {
				admitted = append(admitted, time.Now())
			}
			time.Sleep(time.Duration(i%400) * time.Millisecond)
		}
		most := 0
		for i := range admitted {
			n, _ := slices.BinarySearchFunc(admitted[i:], admitted[i].Add(counters.Window), time.Time.Compare)
			most = max(most, n)
		}
		if most != 48 {
			t.Errorf("the fullest minute holds %d, want 48", most)
		}
	})
}

// An application that proves itself counts for itself, not for the network of its servers.
func TestRequestOfAnApplicationIsTakenOffItsNetwork(t *testing.T) {
	h := newFixture(t)
	for i := range 500 {
		h.want(h.post("/oauth/token", fmt.Sprintf("[2001:db8:1:%x::7]:1", i%128), machine(h.other)), 200, "a token")
	}
	if n := h.admitted(300, func(i int) string { return fmt.Sprintf("2001:db8:1:%x::7", i%128) }, ""); n != 240 {
		t.Errorf("%d requests of its network get through then, want all 240", n)
	}
}
