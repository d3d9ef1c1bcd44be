package gateway_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/driver"
)

// key makes an API key of a user.
func (h *fixture) key(sub, scope string) (string, apikey.Key) {
	h.Helper()
	text, k, err := apikeys.Make(h.Context(), h.store, sub, "nightly build", scope, 24*time.Hour)
	if err != nil {
		h.Fatal(err)
	}
	return text, k
}

func TestAPIKeyOpensWhatATokenOpens(t *testing.T) {
	h := newFixture(t)
	ada := h.testUser("ada", "")
	text, _ := h.key(ada.Sub, "tools openid")
	for range 3 {
		h.want(h.call("GET", "/ai/200", text), 200, "a guarded service")
	}
	h.want(h.call("GET", "/oauth/userinfo", text), 200, "userinfo")
	h.want(h.call("GET", "/ai/200", text[:30]), 401, "half a key")
	h.want(h.call("GET", "/ai/200", handle.NewAPIKey()), 401, "one that nobody was given")
	h.want(h.call("GET", "/ai/200?access_token="+text, ""), 401, "a key in the query")
	h.want(h.call("GET", "/ai/200", h.app.AppKey().Reveal()), 401, "an appkey")
}

// Anybody can make up keys with the right checksum. Each costs a read of the store, so each is counted
// against its address first.
func TestKeysThatAreMadeUpAreReadNoMoreThanTheAddressMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		reads := 0
		h.backend.get = func(kind string) {
			if kind == "apikey" {
				reads++
			}
		}
		refused := 0
		for range 500 {
			switch a := h.call("GET", "/ai/200", handle.NewAPIKey()); a.status {
			case 401:
			case 429:
				refused++
			default:
				t.Fatalf("status %d %s", a.status, a.text)
			}
		}
		if reads != 60 || refused != 440 {
			t.Errorf("%d reads and %d refusals of 500, want 60 and 440", reads, refused)
		}
	})
}

// A good key is counted for its user, and leaves the address as it was.
func TestGoodKeyDoesNotCountAgainstItsAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
		ada := h.testUser("ada", "")
		for range 20 {
			text, _ := h.key(ada.Sub, "tools")
			for range 10 {
				h.want(h.call("GET", "/ai/200", text), 200, "a good key")
			}
		}
		for i := range 60 {
			if a := h.call("GET", "/ai/200", handle.NewAPIKey()); a.status != 401 {
				t.Fatalf("stranger's request %d = %d: the address has been charged for good keys", i, a.status)
			}
		}
		h.want(h.call("GET", "/ai/200", ""), 429, "one more from there")
		ready, _ := h.key(h.testUser("bob", "").Sub, "tools")
		h.want(h.call("GET", "/ai/200", ready), 429, "a key that nobody has used yet, from an address that is over its rate")
		time.Sleep(time.Minute)
		h.want(h.call("GET", "/ai/200", ready), 200, "the same a minute later")
	})
}

// Decision 69: what one node revokes, the others refuse within the second.
func TestRevokedKeyIsRefusedByEveryNode(t *testing.T) {
	for how, end := range map[string]func(h *fixture, k apikey.Key) error{
		"revoked": func(h *fixture, k apikey.Key) error { return apikeys.End(h.Context(), h.store, h.tokens.Revoke, k.ID) },
		"its user signed out everywhere": func(h *fixture, k apikey.Key) error {
			return h.tokens.Revoke(h.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: k.UserID,
				Before: time.Now().Add(time.Millisecond)})
		},
		"by a command, without a server": func(h *fixture, k apikey.Key) error {
			revoke := func(ctx context.Context, rs ...driver.Revocation) error {
				_, err := h.store.RevokeDated(ctx, rs...)
				return err
			}
			return apikeys.End(h.Context(), h.store, revoke, k.ID)
		},
	} {
		t.Run(how, func(t *testing.T) {
			t.Setenv("KEYSTILE_TEST_NODES", "2")
			synctest.Test(t, func(t *testing.T) {
				nodes, settle := backend.Nodes(t)
				master := storage.NewMasterKey()
				a, b := newNode(t, nodes[0], master), newNode(t, nodes[1], master)
				a.apps()
				text, k := a.key(a.testUser("ada", "").Sub, "tools")
				settle()
				for _, n := range []*fixture{a, b} {
					n.want(n.call("GET", "/ai/200", text), 200, "before")
				}
				if err := end(a, k); err != nil {
					t.Fatal(err)
				}
				settle()
				for _, n := range []*fixture{a, b} {
					n.want(n.call("GET", "/ai/200", text), 401, "afterwards")
				}
				if _, err := b.store.APIKey(t.Context(), k.ID); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("it is in the store: %v", err)
				}
			})
		})
	}
}
