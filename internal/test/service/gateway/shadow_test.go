package gateway_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// times sends a request n times and returns how many were refused as too many.
func (h *fixture) times(n int, method, target, bearer string, headers ...string) (refused int) {
	for range n {
		if h.call(method, target, bearer, headers...).status == http.StatusTooManyRequests {
			refused++
		}
	}
	return refused
}

func (h *fixture) shadowed(want map[string]uint64) {
	h.Helper()
	if got := h.gateway.Stats().Shadowed; !maps.Equal(got, want) {
		h.Errorf("let through: %v, want %v", got, want)
	}
}

// Decision 86.
func TestRateOfATierInShadowRefusesNobodyAndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *gateway.Config) { c.Shadow.Tiers = []string{storage.TierFree} })
		free, paying := h.bearer(h.app), h.bearer(h.other)
		if n := h.times(67, "GET", "/ai/200", free); n != 0 {
			t.Errorf("%d were refused, want none", n)
		}
		a := h.want(h.call("GET", "/api/v1/quota", free), 200, "a question beyond the rate")
		if got := a.header.Get("Ratelimit"); got != `"default";r=0;t=60` || a.header.Get("Retry-After") != "" {
			t.Errorf("RateLimit %s, Retry-After %q; want what is counted, and no wait", got, a.header.Get("Retry-After"))
		}
		h.shadowed(map[string]uint64{"free": 8})
		if a.number("data.usage_this_month.ai") != 67 {
			t.Errorf("%s: what is let through is charged", a.text)
		}
		if n := h.times(605, "GET", "/ai/200", paying); n != 5 {
			t.Errorf("of another tier %d were refused, want 5", n)
		}
		if n := h.times(65, "GET", "/oauth/jwks", ""); n != 5 {
			t.Errorf("of an address %d were refused, want 5", n)
		}
		h.shadowed(map[string]uint64{"free": 8})
		if s := h.gateway.Stats(); s.OverRate != 10 {
			t.Errorf("%d were refused, want 10: those alone", s.OverRate)
		}
		time.Sleep(time.Minute)
		if h.times(60, "GET", "/ai/200", free); h.gateway.Stats().Shadowed["free"] != 8 {
			t.Error("within the rate of the next minute some were let through: what was over it must not count")
		}
		var sums []event.Event
		for _, e := range h.trail() {
			if e.Kind == event.Limit {
				sums = append(sums, e)
			}
		}
		if len(sums) != 1 || sums[0].Count != 8 || sums[0].App != h.app.ID ||
			sums[0].Detail != "let through over the rate of free" || sums[0].IP != "" {
			t.Errorf("on the trail is %+v, want one record of 8", sums)
		}
	})
}

func TestRateOfAnAddressInShadowRefusesNobodyAndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *gateway.Config) { c.Shadow.Addresses = true })
		bearer := h.bearer(h.app)
		if n := h.times(70, "GET", "/oauth/jwks", "", "from", "203.0.113.9:1"); n != 0 {
			t.Errorf("%d were refused, want none", n)
		}
		h.want(h.call("GET", "/ai/200", "forged", "from", "203.0.113.9:1"), 401, "a token that is none")
		if n := h.times(65, "GET", "/ai/200", bearer); n != 5 {
			t.Errorf("of an application %d were refused, want 5", n)
		}
		h.shadowed(map[string]uint64{"address": 11})
		count, records := int64(0), 0
		for _, e := range h.trail() {
			if e.Kind == event.Limit {
				records++
				count += max(1, e.Count)
				if e.App != "" || e.Detail != "let through over the rate of address" || !strings.HasPrefix(e.IP, "203.0.113.9") {
					t.Errorf("on the trail is %+v", e)
				}
			}
		}
		if count != 11 || records > 3 { // the first two of a minute are records of their own
			t.Errorf("%d records of %d on the trail, want 3 of 11", records, count)
		}
	})
}

// A session counts in the place of the address it comes from.
func TestSessionCountsInShadowWithAddresses(t *testing.T) {
	for _, shadow := range []bool{true, false} {
		h := newFixture(t, func(c *gateway.Config) { c.Shadow.Addresses = shadow })
		refused := 0
		session := h.gateway.Front(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if reqctx.ChargeSession(r.Context(), "s1", "u1") != nil {
				refused++
			}
		}))
		for i := range 65 {
			session.ServeHTTP(&null{http.Header{}}, h.request("GET", "/account", "", nil, "from",
				fmt.Sprintf("203.0.113.%d:1", i)))
		}
		if shadow && refused != 0 || !shadow && refused != 5 {
			t.Errorf("in shadow %t: %d were refused", shadow, refused)
		}
		if shadow {
			h.shadowed(map[string]uint64{"address": 5})
		} else {
			h.shadowed(nil)
		}
	}
}

func TestShadowOfNoTierIsRefused(t *testing.T) {
	h := newFixture(t)
	_, err := gateway.New(t.Context(), gateway.Config{Store: h.store, Tokens: h.tokens, Trail: h.audit,
		Shadow: gateway.Shadow{Tiers: []string{"login"}}, Log: quiet})
	if err == nil || !strings.Contains(err.Error(), `"login" is no tier`) {
		t.Errorf("New() = %v, want what is wrong", err)
	}
}
