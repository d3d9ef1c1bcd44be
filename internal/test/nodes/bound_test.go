package nodes

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// saveCapability changes pets and its tools.
func (n *node) saveCapability(edit func(*storage.Capability, *[]toolplan.Tool)) {
	n.cluster.Helper()
	c, tools, err := n.Store.Tools(n.cluster.Context(), "pets")
	must(0, err)(n.cluster)
	edit(&c, &tools)
	must(n.Store.SaveCapability(n.cluster.Context(), c, tools))(n.cluster)
}

func (n *node) set(name, value string) {
	n.cluster.Helper()
	if err := n.Store.Set(n.cluster.Context(), name, value); err != nil {
		n.cluster.Fatal(err)
	}
}

func (n *node) saveUser(edit func(*storage.User)) {
	n.cluster.Helper()
	u := must(n.Store.User(n.cluster.Context(), n.cluster.user.Sub))(n.cluster)
	edit(&u)
	must(n.Store.SaveUser(n.cluster.Context(), u))(n.cluster)
}

func (n *node) saveRules(rules ...access.Rule) {
	n.cluster.Helper()
	l := must(n.Store.Access(n.cluster.Context(), "pets"))(n.cluster)
	l.Rules = rules
	must(n.Store.SaveAccess(n.cluster.Context(), l))(n.cluster)
}

func (n *node) saveBundle(tools ...string) {
	n.cluster.Helper()
	b, err := n.Store.Bundle(n.cluster.Context(), "vet")
	if err != nil {
		b.Name = "vet"
	}
	b.Tools = tools
	must(n.Store.SaveBundle(n.cluster.Context(), b))(n.cluster)
}

func (n *node) revokeAll(r driver.Revocation) {
	n.cluster.Helper()
	r.Before = time.Now().Add(time.Nanosecond)
	if err := n.Tokens.Revoke(n.cluster.Context(), r); err != nil {
		n.cluster.Fatal(err)
	}
}

// listed returns what the bus lists, at an address of it.
func (n *node) listed(path, bearer string) string {
	return n.call("POST", path, bearer, listTools).Body.String()
}

// asks sends an authorize request.
func (n *node) asks(redirect string) *httptest.ResponseRecorder {
	return n.get("/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {n.cluster.app.ID}, "redirect_uri": {redirect}, "scope": {"openid"},
		"state": {"s"},
	}.Encode(), "")
}

var denied = access.Rule{Subject: "everyone", Deny: true}

// moreChanges are changes that undo, narrow or widen what the others do.
var moreChanges = []change{
	{name: "an application that is enabled again",
		before: func(n *node) { n.saveApp(func(a *storage.App) { a.Disabled = true }) },
		do:     func(n *node, _ string) { n.saveApp(func(a *storage.App) { a.Disabled = false }) },
		holds:  func(n *node, bearer string) bool { return !n.refuses(bearer) }},
	{name: "a tier that has been taken back", before: func(n *node) {
		n.saveApp(func(a *storage.App) { a.SetTier(storage.TierEnterprise, time.Now(), time.Time{}) })
	}, do: func(n *node, _ string) {
		n.saveApp(func(a *storage.App) { a.SetTier(storage.TierFree, time.Now(), time.Time{}) })
	}, holds: func(n *node, bearer string) bool {
		return strings.Contains(n.get("/api/v1/verify", bearer).Body.String(), `"tier":"free"`)
	}},
	{name: "a rule for a tier that the application gets",
		before: func(n *node) { n.saveRules(access.Rule{Subject: "tier:enterprise"}) },
		do: func(n *node, _ string) {
			n.saveApp(func(a *storage.App) { a.SetTier(storage.TierEnterprise, time.Now(), time.Time{}) })
		}, holds: func(n *node, _ string) bool { return n.hasTools(n.machine()) }},
	{name: "the tokens of a user", do: func(n *node, _ string) {
		n.revokeAll(driver.Revocation{Kind: driver.RevokeUser, ID: n.cluster.user.Sub})
	}, holds: (*node).refuses},
	{name: "the tokens of an application", do: func(n *node, _ string) {
		n.revokeAll(driver.Revocation{Kind: driver.RevokeApp, ID: n.cluster.app.ID})
	}, holds: (*node).refuses},
	{name: "a consent that was withdrawn", do: func(n *node, _ string) {
		n.revokeAll(driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID(n.cluster.app.ID, n.cluster.user.Sub)})
	}, holds: (*node).refuses},
	{name: "new keys", do: func(n *node, _ string) {
		for range 2 {
			must(token.Rotate(n.cluster.Context(), n.Store, token.ES256, time.Hour))(n.cluster)
		}
	}, holds: func(n *node, _ string) bool {
		keys := must(n.Store.SigningKeys(n.cluster.Context()))(n.cluster)
		jwks, published := n.get("/oauth/jwks", "").Body.String(), 0
		for _, k := range keys {
			if strings.Contains(jwks, k.ID) {
				published++
			}
		}
		return published == len(keys) && len(keys) == 4 && !n.refuses(n.bearer())
	}},
	{name: "another redirect domain", do: func(n *node, _ string) {
		n.saveApp(func(a *storage.App) { a.Domains = []string{"other.example.com"} })
	}, holds: func(n *node, _ string) bool {
		return n.asks("https://app.example.com/cb").Code == 400 && n.asks("https://other.example.com/cb").Code != 400
	}},
	{name: "mandatory PKCE", do: func(n *node, _ string) { n.set(storage.SettingForcePKCE, "1") },
		holds: func(n *node, _ string) bool {
			return strings.Contains(n.asks("https://app.example.com/cb").Header().Get("Location"), "error=invalid_request")
		}},
	{name: "other tools of a capability", do: func(n *node, _ string) {
		n.saveCapability(func(_ *storage.Capability, tools *[]toolplan.Tool) { (*tools)[0].Name = "fetch" })
	}, holds: func(n *node, bearer string) bool {
		text := n.listed("/api/mcp", bearer)
		return strings.Contains(text, "pets__fetch") && !strings.Contains(text, "pets__get")
	}},
	{name: "a capability that was removed", do: func(n *node, _ string) {
		if err := n.Store.DeleteCapability(n.cluster.Context(),
			must(n.Store.Capability(n.cluster.Context(), "pets"))(n.cluster)); err != nil {
			n.cluster.Fatal(err)
		}
	}, holds: func(n *node, bearer string) bool { return !n.hasTools(bearer) }},
	{name: "a capability that is published again", before: func(n *node) {
		n.saveCapability(func(c *storage.Capability, _ *[]toolplan.Tool) { c.Publish = false })
	}, do: func(n *node, _ string) {
		n.saveCapability(func(c *storage.Capability, _ *[]toolplan.Tool) { c.Publish = true })
	}, holds: (*node).hasTools},
	{name: "an access list that was removed", before: func(n *node) { n.saveRules(denied) },
		do: func(n *node, _ string) { n.saveRules() }, holds: (*node).hasTools},
	{name: "a rule about the user", do: func(n *node, _ string) {
		n.saveRules(access.Rule{Subject: "user:" + n.cluster.user.Sub, Deny: true})
	}, holds: func(n *node, bearer string) bool { return !n.hasTools(bearer) }},
	{name: "a bundle of other tools", before: func(n *node) { n.saveBundle("pets__get") },
		do: func(n *node, _ string) { n.saveBundle("pets__feed") },
		holds: func(n *node, bearer string) bool {
			return !strings.Contains(n.listed("/api/mcp/b/vet", bearer), "pets__get")
		}},
	{name: "a bundle that was removed", before: func(n *node) { n.saveBundle("pets__get") }, do: func(n *node, _ string) {
		if err := n.Store.DeleteBundle(n.cluster.Context(),
			must(n.Store.Bundle(n.cluster.Context(), "vet"))(n.cluster)); err != nil {
			n.cluster.Fatal(err)
		}
	}, holds: func(n *node, bearer string) bool {
		return n.call("POST", "/api/mcp/b/vet", bearer, listTools).Code == 404
	}},
	{name: "a role that a user has lost", untold: true, before: func(n *node) {
		n.saveRules(access.Rule{Subject: "role:admin"})
		n.saveCapability(func(c *storage.Capability, _ *[]toolplan.Tool) { c.Owner = "" })
		n.saveUser(func(u *storage.User) { u.Role = storage.RoleAdmin })
		must(n.Store.CreateUser(n.cluster.Context(), storage.User{Username: "root", Role: storage.RoleAdmin}))(n.cluster)
	}, do: func(n *node, _ string) { n.saveUser(func(u *storage.User) { u.Role = storage.RoleDeveloper }) },
		holds: func(n *node, bearer string) bool { return !n.hasTools(bearer) }},
}

// wait lets time pass and everything that runs come to rest.
func wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A read of the store that fails once must not cost more than the next one.
func TestChangeThatCouldNotBeReadIsReadAgainWithinASecond(t *testing.T) {
	for _, kind := range []string{"access", "capability", "bundle", "key"} {
		synctest.Test(t, func(t *testing.T) {
			all := newCluster(t)
			here, there := all.node(), all.node()
			bearer := here.bearer()
			wait(time.Minute + 300*time.Millisecond)
			there.link.away("List "+kind, errAway)
			here.saveRules(denied)
			must(token.Rotate(t.Context(), here.Store, token.ES256, time.Hour))(t)
			wait(1200 * time.Millisecond)
			there.link.away("List "+kind, nil)
			wait(time.Second)
			if there.hasTools(bearer) {
				t.Errorf("after a read of %s that failed, a rule does not hold within a second of its end", kind)
			}
		})
	}
}

// Everything but the rules can be read, so the feed is fresh: tokens are accepted, and the bus does not
// trust what it lists.
func TestBusThatCannotReadWhatHasChangedRefusesFromTheBoundOn(t *testing.T) {
	for _, kind := range []string{"access", "capability", "bundle"} {
		synctest.Test(t, func(t *testing.T) {
			all := newCluster(t)
			enterprise(t, all)
			here, there := all.node(), all.node()
			bearer := here.bearer()
			wait(300 * time.Millisecond)
			there.link.away("List "+kind, errAway)
			wait(10 * time.Minute)
			if !there.hasTools(bearer) {
				t.Fatal("nothing has changed, and yet nothing is listed")
			}
			here.saveRules(denied)
			wait(12 * time.Second)
			w := there.call("POST", "/api/mcp", bearer, listTools)
			if w.Code != 503 || w.Header().Get("Retry-After") == "" {
				t.Errorf("without %s the bus answers %d %v, 12 s after a change", kind, w.Code, w.Header())
			}
			there.want(200, bearer, "what has nothing to do with tools")
			there.link.away("List "+kind, nil)
			wait(time.Second)
			if there.hasTools(bearer) {
				t.Error("once it is read again the rule does not hold")
			}
		})
	}
}

// Only a change by another process can be missed: a store without others has nobody to wait for.
func TestBusAloneKeepsWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newCluster(t).node(single)
		bearer := n.bearer()
		n.link.away("List access", errAway)
		wait(10 * time.Minute)
		if !n.hasTools(bearer) {
			t.Error("nothing is listed")
		}
	})
}
