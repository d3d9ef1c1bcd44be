package limits

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// A network of many users is not held back for its size, but for its failures.
func TestLimitsForgiveRightPasswordsOfANetwork(t *testing.T) {
	c := History{Half: 5 * time.Minute}
	client := network.Of(netip.MustParseAddr("203.0.113.9"))
	others := c.Around(network.Of(netip.MustParseAddr("203.0.113.10")))
	here := c.Around(client)
	for range 5 {
		c.Count(others, time.Now())
		c.Forgive(others)
	}
	c.Count(here, time.Now())
	if w := c.Weight(here); w != 0 {
		t.Errorf("beside what was right it weighs %d, want 0", w)
	}
	c.Count(others, time.Now())
	if w := c.Weight(here); w != 2 {
		t.Errorf("beside one mistake in its /24 it weighs %d, want 2: it is in its /24 and its /16", w)
	}
}

func TestHistoryForgetsAndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := History{Half: 5 * time.Minute}
		client := c.Around(network.Of(netip.MustParseAddr("203.0.113.9")))
		for range 3 {
			c.Count(client, time.Now())
		}
		time.Sleep(10 * time.Minute)
		c.Count(client, time.Now())
		if w := c.Weight(client); w != 0 {
			t.Errorf("after ten minutes it weighs %d, want 0", w)
		}
		for i := range 3 * historyCapacity {
			c.Count(c.Around(network.Of(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))), time.Now())
		}
		if n := len(c.levels[0].now) + len(c.levels[0].before); n > 2*historyCapacity {
			t.Errorf("%d addresses are counted, want at most %d", n, 2*historyCapacity)
		}
		if len(c.levels[2].now) != 4 { // 10.0 to 10.2 and 203.0
			t.Errorf("%d wide networks are counted, want 4: the narrow ones have rooms of their own", len(c.levels[2].now))
		}
	})
}
