package oauth_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
)

// Decision 19: 30 wrong appkeys a minute, by address and client.
func TestAddressMayGuessThirtyAppkeysAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		address := "192.0.2.1"
		h := newFixture(t, func(c *oauth.Config) {
			c.ClientIP = func(*http.Request) netip.Addr { return netip.MustParseAddr(address) }
		})
		guess := func() answer { return h.token("grant_type", "client_credentials", "client_secret", "wrong") }
		right := func() answer { return h.token("grant_type", "client_credentials") }
		for i := range 30 {
			guess().wants(t, fmt.Sprint("guess ", i+1), 401, 401, "invalid_client")
			time.Sleep(time.Second)
		}
		a := right()
		a.wants(t, "the right key after 30 guesses", 429, 429, "temporarily_unavailable")
		if got := a.header.Get("Retry-After"); got != "30" {
			t.Errorf("Retry-After = %q, want 30: the first guess was 30 seconds ago", got)
		}
		h.revoke("x").wants(t, "revoke after 30 guesses", 429, 429, "temporarily_unavailable")
		calls := h.calls.during(func() { guess() })
		if len(calls) != 0 {
			t.Errorf("a guess too many reached the store: %v", calls)
		}
		address = "192.0.2.2"
		right().tokens(t)
		address = "192.0.2.1"
		other := h.register(storage.App{Name: "Other"})
		h.token("grant_type", "client_credentials", "client_id", other.ID, "client_secret", other.AppKey().Reveal()).tokens(t)
		time.Sleep(30 * time.Second)
		right().tokens(t) // a retry after Retry-After succeeds
	})
}

// Decision 19: names that somebody makes up have one count by address, and none
// of the applications that there are.
func TestGuessesAtMadeUpClientsCountTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		guess := func(i int) answer {
			return h.token("grant_type", "client_credentials", "client_id", fmt.Sprint("made up ", i), "client_secret", "wrong")
		}
		for i := range 60 {
			guess(i).wants(t, fmt.Sprint("guess ", i+1), 401, 401, "invalid_client")
		}
		a := guess(60)
		a.wants(t, "the 61st guess", 429, 429, "temporarily_unavailable")
		if got := a.header.Get("Retry-After"); got != "60" {
			t.Errorf("Retry-After = %q, want 60", got)
		}
		h.token("grant_type", "client_credentials").tokens(t)
		time.Sleep(time.Minute)
		guess(61).wants(t, "a minute later", 401, 401, "invalid_client")
	})
}

func TestRightAppkeysAreNotCounted(t *testing.T) {
	h := newFixture(t)
	for range 100 {
		h.token("grant_type", "client_credentials").tokens(t)
	}
}

func TestIPv6PrefixCountsAsOneAddress(t *testing.T) {
	n := 0
	h := newFixture(t, func(c *oauth.Config) {
		c.ClientIP = func(*http.Request) netip.Addr {
			n++
			return netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", n))
		}
	})
	var last answer
	for range 31 {
		last = h.token("grant_type", "client_credentials", "client_secret", "wrong")
	}
	last.wants(t, "the 31st guess from one /64", 429, 429, "temporarily_unavailable")
}
