package local

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
)

func TestCounterKeepsFewTablesAndIsStricterBeyondThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(Counter)
		client := network.Of(testAddress)
		for i := range 100 {
			if wait, _ := c.Add(fmt.Sprint(i), client, 1, time.Duration(i+1)*time.Hour/10); wait != 0 {
				t.Fatalf("the first of %d waits %v", i, wait)
			}
			if wait := c.Wait(fmt.Sprint(i), client, 1, time.Duration(i+1)*time.Hour/10); wait == 0 {
				t.Fatalf("the second of %d does not wait", i)
			}
		}
		if len(c.tables) != maxTables {
			t.Errorf("%d tables, want %d", len(c.tables), maxTables)
		}
	})
}

func TestClientsBeyondThoseThatACounterHoldsAreCountedByNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("counts 100,000 clients")
	}
	c := new(Counter)
	for i := range capacity {
		c.Add("mails", network.Of(flood(i)), 5, time.Hour)
	}
	n := 0
	for i := range 100 {
		if wait, _ := c.Add("mails", network.Of(addressOf(i)), 5, time.Hour); wait == 0 {
			n++
		}
	}
	if n != 20 {
		t.Errorf("%d of a /24 are counted, want four times the 5 of one", n)
	}
	for _, other := range []struct{ name, client string }{{"mails", "198.51.100.7/32"}, {"tickets", "10.0.0.1/32"}} {
		if wait, _ := c.Add(other.name, netip.MustParsePrefix(other.client), 5, time.Hour); wait != 0 {
			t.Errorf("%s of %s waits %v for others", other.name, other.client, wait)
		}
	}
}
