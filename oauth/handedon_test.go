package oauth_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

func TestTokenIsHandedOnAndNeverWider(t *testing.T) {
	h := newTrusting(t)
	mine := h.issued(h.agent, "scope", "openid profile tools:shop")
	from := h.caller(mine)
	got := h.exchanges(mine.text("access_token"), "scope", "tools:shop", "resource", busResource).send(h)
	c := h.caller(got)
	if c.UserID != from.UserID || c.Grant != from.Grant || c.Scope != "tools:shop" || c.Audience != busResource ||
		c.ExpiresAt.After(from.ExpiresAt) || !slices.Equal(c.Actors, []string{h.agent.ID}) ||
		got.text("issued_token_type") != accessType || got.text("refresh_token") != "" {
		t.Errorf("it is exchanged for %v: %+v", got.body, c)
	}
	act, _ := payload(t, got.text("access_token"))["act"].(map[string]any)
	if act["sub"] != h.agent.ID || act["act"] != nil {
		t.Errorf("act is %v", act)
	}
	twice := h.exchanges(got.text("access_token")).send(h).tokens(t)
	chain := `{"act":{"sub":"` + h.agent.ID + `"},"sub":"` + h.agent.ID + `"}`
	if about := h.introspect(twice.text("access_token")); mustJSON(about.body["act"]) != chain {
		t.Errorf("introspection says %v, want %s", about.body["act"], chain)
	}

	h.app.ExchangeFor = []string{h.agent.ID}
	h.app = h.register(h.app)
	theirs := h.issued(h.app, "scope", "openid profile")
	if c := h.caller(h.exchanges(theirs.text("access_token")).send(h)); c.Scope != "openid profile" ||
		c.AppID != h.agent.ID || c.Audience != issuer {
		t.Errorf("of an application that names it there comes %+v", c)
	}
	actor := must(h.store.CreateUser(t.Context(), storage.User{Username: "bot"}))(t)
	h.browser.signIn(actor)
	acting := h.issued(h.agent)
	h.browser.signIn(h.user)
	got = h.exchanges(theirs.text("access_token"), "actor_token", acting.text("access_token"), "actor_token_type",
		accessType).
		send(h)
	if c := h.caller(got); !slices.Equal(c.Actors, []string{actor.Sub}) || c.UserID != h.user.Sub {
		t.Errorf("with an actor there comes %+v", c)
	}

	signed := h.agent
	signed.IDTokenAlg = "ES256"
	h.agent = h.register(signed)
	id := h.issued(h.agent, "scope", "openid profile email")
	got = h.exchanges(id.text("id_token"), "subject_token_type", idType).send(h)
	if c := h.caller(got); c.Scope != "openid profile" || c.Audience != issuer || time.Until(c.ExpiresAt) > time.Hour {
		t.Errorf("of an id_token there comes %+v", c)
	}
}

func TestExchangeIsOnTheTrailWithWhoActs(t *testing.T) {
	var trail recordedAudit
	h := newTrusting(t, func(c *oauth.Config) { c.Audit = &trail })
	bearer := h.issued(h.agent, "scope", "openid profile").text("access_token")
	for range 2 {
		bearer = h.exchanges(bearer).send(h).text("access_token")
	}
	var got [][]string
	for _, e := range trail.events {
		if e.Kind == event.Token && e.Detail == "token-exchange" && e.User == h.user.Sub && e.App == h.agent.ID {
			got = append(got, e.Actors)
		}
	}
	if want := [][]string{{h.agent.ID}, {h.agent.ID, h.agent.ID}}; !reflect.DeepEqual(got, want) {
		t.Errorf("who acts by the tokens is noted as %q, want %q", got, want)
	}
}

func TestWhatWasHandedOnEndsWithEachTokenBefore(t *testing.T) {
	for what, end := range map[string]func(h *trusting, first answer) error{
		"the token": func(h *trusting, first answer) error {
			h.post("/oauth/revoke", form("client_id", h.app.ID, "client_secret", h.app.AppKey().Reveal(), "token",
				first.text("access_token")))
			return nil
		},
		"the grant": func(h *trusting, first answer) error {
			h.post("/oauth/revoke", form("client_id", h.app.ID, "client_secret", h.app.AppKey().Reveal(), "token",
				first.text("refresh_token")))
			return nil
		},
		"the application": func(h *trusting, first answer) error {
			return h.tokens.Revoke(h.Context(), driver.Revocation{Kind: driver.RevokeApp, ID: h.app.ID,
				Before: time.Now().Add(time.Second)})
		},
		"the user": func(h *trusting, first answer) error {
			return h.tokens.Revoke(h.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: h.user.Sub,
				Before: time.Now().Add(time.Second)})
		},
		"the consent": func(h *trusting, first answer) error {
			return h.tokens.Revoke(h.Context(), driver.Revocation{Kind: driver.RevokeConsent,
				ID: driver.ConsentID(h.app.ID, h.user.Sub), Before: time.Now().Add(time.Second)})
		},
	} {
		h := newTrusting(t)
		h.app.ExchangeFor = []string{h.agent.ID}
		h.app = h.register(h.app)
		first := h.issued(h.app, "scope", "openid profile")
		second := h.exchanges(first.text("access_token")).send(h).tokens(t)
		third := h.exchanges(second.text("access_token")).send(h).tokens(t)
		if err := end(h, first); err != nil {
			t.Fatal(err)
		}
		for i, a := range []answer{second, third} {
			if _, err := h.tokens.Verify(t.Context(), a.text("access_token")); err == nil {
				t.Errorf("without %s exchange %d goes on", what, i+1)
			}
		}
	}
}

func TestAPIKeyIsHandedOnByTheConsentOfItsUser(t *testing.T) {
	h := newTrusting(t)
	key, k := h.fixture.key("tools profile openid", 48*time.Hour)
	got := h.exchanges(key, "resource", busResource, "scope", "tools:shop").send(h)
	c := h.caller(got)
	if c.UserID != h.user.Sub || c.Scope != "tools:shop" || c.Audience != busResource ||
		time.Until(c.ExpiresAt) > time.Hour ||
		!c.GrantedAt.Equal(k.CreatedAt) {
		t.Errorf("the key is exchanged for %+v", c)
	}
	if err := apikeys.End(t.Context(), h.store, h.tokens.Revoke, k.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := h.tokens.Verify(t.Context(), got.text("access_token"), busResource); err == nil {
		t.Error("the token goes on without the key")
	}
}

// Chains of exchanges are drawn at random, with whatever is asked for: none ever widens, each has one actor more, and
// the eleventh is refused.
func TestRandomChainsNeverWiden(t *testing.T) {
	h := newTrusting(t)
	names := []string{
		"openid",
		"profile",
		"email",
		"groups",
		"tools",
		"tools:shop",
		"tools:shop/buy",
		"tools:b:a",
		"tools/read",
		"apps",
	}
	places := []string{"", issuer, busResource, busResource + "/a", busResource + "/b"}
	agents := []storage.App{h.agent}
	for i := range 3 {
		agents = append(
			agents,
			h.register(storage.App{Name: "Agent", Domains: []string{"a" + strconv.Itoa(i) + ".example.com"},
				Exchange: true}),
		)
	}
	for i := range agents {
		for _, other := range agents {
			agents[i].ExchangeFor = append(agents[i].ExchangeFor, other.ID)
		}
		agents[i].ExchangeFor = slices.DeleteFunc(agents[i].ExchangeFor, func(id string) bool { return id == agents[i].ID })
		agents[i] = h.register(agents[i])
	}
	drawn := func() string {
		some := slices.DeleteFunc(slices.Clone(names), func(string) bool { return rand.IntN(2) == 0 })
		return strings.Join(some, " ")
	}
	deepest, refused := 0, 0
	for range 60 {
		a := agents[rand.IntN(len(agents))]
		pairs := []string{"scope", "openid " + strings.ReplaceAll(drawn(), "apps", "")}
		if place := places[rand.IntN(len(places))]; place != "" && rand.IntN(2) == 0 {
			pairs = append(pairs, "resource", place)
		}
		at := h.issued(a, pairs...)
		was := h.caller(at)
		for range 14 {
			by := agents[rand.IntN(len(agents))]
			request := h.exchanges(at.text("access_token"), "client_id", by.ID, "client_secret", by.AppKey().Reveal())
			if rand.IntN(3) == 0 {
				request.form.Set("scope", drawn())
			}
			if place := places[rand.IntN(len(places))]; place != "" && rand.IntN(3) == 0 {
				request.form.Set("audience", place)
			}
			got := request.send(h)
			if got.status != 200 {
				refused++
				continue
			}
			is := h.caller(got)
			below := is.Audience == was.Audience || was.Audience == issuer || strings.HasPrefix(is.Audience, was.Audience+"/")
			if !scope.Within(was.Scope, is.Scope) || scope.HasElevated(is.Scope) || !below ||
				is.ExpiresAt.After(was.ExpiresAt) ||
				is.UserID != was.UserID || is.Grant != was.Grant ||
				len(is.Actors) != len(was.Actors)+1 ||
				is.Actors[0] != by.ID {
				t.Fatalf("%+v is exchanged for %+v", was, is)
			}
			at, was, deepest = got, is, max(deepest, len(is.Actors))
		}
		if len(was.Actors) > 10 {
			t.Fatalf("a chain has %d actors", len(was.Actors))
		}
	}
	if deepest != 10 || refused == 0 {
		t.Errorf("the deepest chain has %d actors, %d are refused", deepest, refused)
	}
}
