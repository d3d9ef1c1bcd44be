package attempt

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/storage/counters"
)

const delayAfter = 10 // failures at an account (decision 56)

// delayedTurns are those of an account that others have made wait, for whatever is proven there.
func delayedTurns(t *testing.T, kind string) (turns *Turns, account limits.Account) {
	turns, account = &Turns{Delays: counters.NewAccounts(), Counter: counters.NewCounter()}, limits.AccountOf(kind, "mina")
	for i := range 2 * delayAfter {
		if wait, end := turns.Begin(t.Context(), account, client("203.0.%d.1", i)); wait == 0 {
			end(true)
		}
	}
	return turns, account
}

func client(format string, args ...any) netip.Prefix {
	return network.Of(netip.MustParseAddr(fmt.Sprintf(format, args...)))
}

// keepDelayed fails in a known browser, so that the delay lets nobody through.
func (t *Turns) keepDelayed(account limits.Account) {
	t.Delays.FailKnown(context.Background(), account)
}

// A code by email that has expired ends an attempt without a guess, and so does a second factor that has ended.
func TestTurnsWithoutAGuessAreNotUsedUp(t *testing.T) {
	for _, kind := range []string{byPassword, byCode, ByPasskey, SecondFactor} {
		synctest.Test(t, func(t *testing.T) {
			turns, account := delayedTurns(t, kind)
			ended := 0
			for range 60 {
				turns.keepDelayed(account)
				for i := range 200 {
					if wait, end := turns.Begin(t.Context(), account, client("%d.51.100.1", 1+i)); wait == 0 {
						end(false)
						ended++
					}
				}
				time.Sleep(time.Minute - time.Second)
			}
			turns.keepDelayed(account)
			if wait, _ := turns.Begin(t.Context(), account, client("192.168.2.1")); wait > 0 || ended < 2*reserves[0][0] {
				t.Errorf("%s: after %d that ended, a newcomer waits %v", kind, ended, wait)
			}
		})
	}
}

// Of so many at once none has failed yet.
func TestGuessesAtOnceAreNoMoreThanAFifthOfThoseOfAnHour(t *testing.T) {
	for name, c := range map[string]struct {
		from func(i int) netip.Prefix
		most int
	}{
		"a /48": {func(i int) netip.Prefix { return client("2001:db8:0:%x::", i) }, 2 + 2 + 15 + 2},
		"a /16": {func(i int) netip.Prefix { return client("198.51.%d.%d", i%256, i/256) }, 2 + 120 + 120 + 5},
		"a /8":  {func(i int) netip.Prefix { return client("10.%d.%d.1", i%256, i/256) }, 360 + 240 + 240 + 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			turns, account := delayedTurns(t, byPassword)
			turns.keepDelayed(account)
			begun := 0
			for i := range 65536 {
				if wait, _ := turns.Begin(t.Context(), account, c.from(i)); wait == 0 {
					begun++
				}
			}
			if begun > c.most || begun < c.most/2 {
				t.Errorf("%s: %d were begun at once, want at most %d", name, begun, c.most)
			}
		})
	}
}

// A minute after a mistake, a person in a network of their own has their next try, until the fourth.
func TestNetworkThatFailsHasFourTriesAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, account := delayedTurns(t, byPassword)
		through := 0
		for range 59 {
			turns.keepDelayed(account)
			for i := range 20 { // others leave nothing of what is for all
				if wait, end := turns.Begin(t.Context(), account, client("203.0.%d.1", i)); wait == 0 {
					end(true)
				}
			}
			turns.keepDelayed(account)
			if wait, end := turns.Begin(t.Context(), account, client("192.168.2.1")); wait == 0 {
				through++
				end(true)
			}
			time.Sleep(time.Minute)
		}
		if through < fewFailures {
			t.Errorf("%d were let through in an hour, want at least %d", through, fewFailures)
		}
	})
}
