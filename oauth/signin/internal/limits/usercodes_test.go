package limits

import (
	"fmt"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// RFC 8628 5.1: so many guesses at once are no more than as many in turn.
func TestWrongCodesOfAUserAreFiveHoweverManyAreTriedAtOnce(t *testing.T) {
	c, looked := newUserCodes(nil), atomic.Int64{}
	client := network.Of(netip.MustParseAddr("203.0.113.9"))
	var wait sync.WaitGroup
	for range 200 {
		wait.Go(func() {
			c.Try(t.Context(), "u1", client, func() (bool, error) { looked.Add(1); return false, nil })
		})
	}
	wait.Wait()
	if n := looked.Load(); n != WrongCodesPerUser {
		t.Errorf("%d codes were looked up, want %d", n, WrongCodesPerUser)
	}
}

func TestWrongCodesOfAnAddressAreThirtyAndOthersDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, looked := newUserCodes(nil), 0
		here, elsewhere := network.Of(netip.MustParseAddr("203.0.113.9")), network.Of(netip.MustParseAddr("198.51.100.7"))
		wrong := func() (bool, error) { looked++; return false, nil }
		for i := range 100 {
			c.Try(t.Context(), fmt.Sprint("u", i), here, wrong)
		}
		if looked != WrongCodesPerIP {
			t.Errorf("%d codes were looked up for an address, want %d", looked, WrongCodesPerIP)
		}
		if wait, err := c.Try(t.Context(), "u200", elsewhere, wrong); wait != 0 || err != nil {
			t.Errorf("another user elsewhere waits %v, %v", wait, err)
		}
		time.Sleep(DeviceLife)
		if wait, err := c.Try(t.Context(), "u0", here, func() (bool, error) { return true, nil }); wait != 0 || err != nil {
			t.Errorf("ten minutes later they wait %v, %v", wait, err)
		}
	})
}

// The arithmetic of package device.
func TestCodeIsNotFoundWithinItsLife(t *testing.T) {
	codes := math.Pow(20, 8)
	perGuess := openDevicesFree / codes
	if user := WrongCodesPerUser * perGuess; user > 5e-7 {
		t.Errorf("a user finds a code in ten minutes with %g", user)
	}
	if many := 10_000 * WrongCodesPerUser * perGuess; many > 0.005 {
		t.Errorf("ten thousand users find one with %g", many)
	}
}
