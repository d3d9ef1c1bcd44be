package oauth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/event"
)

// learned returns a claim as JSON, as the id_token of a grant, userinfo and introspection have it; "": it is not there.
func (h *fixture) learned(granted answer, name string) (all [3]string) {
	h.Helper()
	access := granted.text("access_token")
	for i, claims := range []map[string]any{payload(h, granted.text("id_token")), h.userInfo(access).body,
		h.introspect(access).body} {
		if v, there := claims[name]; there {
			all[i] = mustJSON(v)
		}
	}
	return all
}

func (h *fixture) learns(what string, granted answer, name string, idToken, userInfo, introspection string) {
	h.Helper()
	if got := h.learned(granted, name); got != [3]string{idToken, userInfo, introspection} {
		h.Errorf("%s: %s is %q in the id_token, at userinfo and at introspection, want %q", what, name, got,
			[]string{idToken, userInfo, introspection})
	}
}

// changed stores the fixture's application as the console does.
func (h *fixture) changed() {
	h.Helper()
	h.app = h.register(h.app)
	h.server.Forget(h.app.ID)
}

func TestRulesAddClaimsWhereTheySay(t *testing.T) {
	h := newFixture(t, func(c *oauth.Config) {
		c.ClaimRules = []claim.Rule{
			{Claim: "department", From: "attribute:dept"},
			{Claim: "tenant", From: `value:{"id":7}`, In: []string{claim.InIDToken}},
			{Claim: "mail", From: "field:email", Scope: "email"},
			{Claim: "since", From: "field:created_at", In: []string{claim.InUserInfo}},
			{Claim: "confirmed", From: "field:email_verified"},
			{Claim: "phone", From: "attribute:phone"},
			{Claim: "roles", From: "groups:role-*"},
		}
	})
	h.saveUser(func(u *storage.User) { u.Attributes = map[string]string{"dept": "R&D"} })
	h.joins("ops", "role-admin", "role-viewer")
	granted := h.granted("openid")
	h.learns("an attribute", granted, "department", `"R\u0026D"`, `"R\u0026D"`, `"R\u0026D"`)
	h.learns("a value", granted, "tenant", `{"id":7}`, "", "")
	h.learns("a field without its scope", granted, "mail", "", "", "")
	h.learns("a field with it", h.granted("openid email"), "mail", `"ada@example.com"`, `"ada@example.com"`,
		`"ada@example.com"`)
	h.learns("a time", granted, "since", "", fmt.Sprint(h.user.CreatedAt.Unix()), "")
	h.learns("a yes", granted, "confirmed", "true", "true", "true")
	h.learns("nothing", granted, "phone", "", "", "")
	h.learns("groups", granted, "roles", `["role-admin","role-viewer"]`, `["role-admin","role-viewer"]`,
		`["role-admin","role-viewer"]`)
	h.learns("groups without their scope", granted, "groups", "", "", "")
	if a := h.userInfo(h.exchange(h.code("scope", "tools")).tokens(t).text("access_token")); len(a.body) != 13 {
		t.Errorf("a token of tools alone learns %v", a.body)
	}
	if got := payload(t, granted.text("access_token")); len(got) != 9 {
		t.Errorf("the access token says %v", got)
	}
}

func TestRuleOfAnApplicationDecidesOverThatOfTheService(t *testing.T) {
	h := newFixture(t, func(c *oauth.Config) {
		c.ClaimRules = []claim.Rule{{Claim: "plan", From: `value:"free"`}, {Claim: "roles", From: "groups:*"}}
	})
	h.joins("ops", "team-a")
	h.learns("without one", h.granted("openid"), "plan", `"free"`, `"free"`, `"free"`)
	h.app.Claims = []claim.Rule{{Claim: "plan", From: `value:"paid"`, In: []string{claim.InUserInfo}},
		{Claim: "level", From: "value:2"}}
	h.app.GroupFilter = []string{"team-*"}
	h.changed()
	granted := h.granted("openid")
	h.learns("with one for userinfo", granted, "plan", `"free"`, `"paid"`, `"free"`)
	h.learns("one of its own", granted, "level", "2", "2", "2")
	h.learns("groups that it must not know of", granted, "roles", `["team-a"]`, `["team-a"]`, `["team-a"]`)
	h.app = h.register(storage.App{Name: "Other", Domains: []string{"app.example.com"}})
	h.learns("another application", h.granted("openid"), "level", "", "", "")
}

func TestChangedRulesAndAttributesCountAtOnce(t *testing.T) {
	h := newFixture(t)
	granted := h.granted("openid")
	h.learns("before", granted, "department", "", "", "")
	h.app.Claims = []claim.Rule{{Claim: "department", From: "attribute:dept"}}
	h.changed()
	h.learns("a rule, and no attribute", granted, "department", "", "", "")
	for _, dept := range []string{"R", "D"} {
		h.saveUser(func(u *storage.User) { u.Attributes = map[string]string{"dept": dept} })
		h.learns("the attribute", granted, "department", "", mustJSON(dept), mustJSON(dept))
	}
	h.app.Claims = nil
	h.changed()
	h.learns("the rule is gone", granted, "department", "", "", "")
}

func TestRulesTakeNoClaimWithAMeaning(t *testing.T) {
	h := newFixture(t)
	for _, name := range []string{"sub", "groups", "email", "acr", "user_id", "scope", "Sub"} {
		_, err := oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: h.tokens, SignIn: h.browser,
			ClaimRules: []claim.Rule{{Claim: name, From: `value:"eve"`}}})
		if err == nil || !strings.Contains(err.Error(), "ClaimRules") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// hostFixture is a fixture with a function of the host's, and its trail.
func hostFixture(t *testing.T, claims func(context.Context, oauth.ClaimsRequest) (map[string]any, error)) (*fixture,
	*trailOfClaims) {
	trail := new(trailOfClaims)
	return newFixture(t, func(c *oauth.Config) { c.Claims, c.Audit, c.Log = claims, trail, quiet }), trail
}

// trailOfClaims remembers what claims were left out.
type trailOfClaims struct {
	mu  sync.Mutex
	all []event.Event
}

func (a *trailOfClaims) Note(e event.Event) {
	if strings.HasPrefix(e.Detail, event.DetailClaims) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all = append(a.all, e)
	}
}

func (a *trailOfClaims) NoteNow(_ context.Context, e event.Event) error {
	a.Note(e)
	return nil
}

// take returns what was noted since.
func (a *trailOfClaims) take() (all []event.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all, a.all = a.all, nil
	return all
}

func TestHostAddsClaimsOfItsOwn(t *testing.T) {
	var asked []string
	h, trail := hostFixture(t, func(_ context.Context, r oauth.ClaimsRequest) (map[string]any, error) {
		asked = append(asked, fmt.Sprint(r.In, " ", r.User.Username, " ", r.ClientID, " ", r.Scopes))
		return map[string]any{"seats": 3, "in": r.In, "plan": "host's"}, nil
	})
	h.app.Claims = []claim.Rule{{Claim: "plan", From: `value:"rule's"`}}
	h.changed()
	granted := h.granted("openid profile")
	h.learns("a number", granted, "seats", "3", "3", "3")
	h.learns("where it is", granted, "in", `"id_token"`, `"userinfo"`, `"introspection"`)
	h.learns("what a rule says", granted, "plan", `"rule's"`, `"rule's"`, `"rule's"`)
	for i, in := range []string{"id_token", "userinfo", "introspection"} {
		if want := fmt.Sprint(in, " ada ", h.app.ID, " [openid profile]"); asked[i] != want {
			t.Errorf("the host was asked %q, want %q", asked[i], want)
		}
	}
	if all := trail.take(); len(all) != 0 {
		t.Errorf("the trail has %v", all)
	}
}

// The user gets in, and the claims of the protocol are there.
func TestFunctionOfAHostCostsItsClaimsAndNeverTheSignIn(t *testing.T) {
	for what, x := range map[string]struct {
		claims func(ctx context.Context) (map[string]any, error)
		took   time.Duration
		why    string
	}{
		"it is slow": {func(ctx context.Context) (map[string]any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, time.Second, "all: it took longer than 1s"},
		"it does not mind its context": {func(context.Context) (map[string]any, error) {
			time.Sleep(time.Minute)
			return map[string]any{"seats": 3}, nil
		}, time.Second, "all: it took longer than 1s"},
		"it is nearly slow and fails": {func(context.Context) (map[string]any, error) {
			time.Sleep(time.Second - 1)
			return map[string]any{"seats": 3}, errors.New("hush-hush is not the password")
		}, time.Second - 1, "all: it failed"},
		"it panics": {func(context.Context) (map[string]any, error) { panic("hush-hush") }, 0, "all: it panicked"},
		"its value panics": {func(context.Context) (map[string]any, error) {
			return map[string]any{"a": bomb{}}, nil
		}, 0, "all: it panicked"},
		"its value is no JSON": {func(context.Context) (map[string]any, error) {
			return map[string]any{"a": make(chan int)}, nil
		}, 0, `["a"]`},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, trail := hostFixture(t, func(ctx context.Context, _ oauth.ClaimsRequest) (map[string]any, error) {
				return x.claims(ctx)
			})
			h.joins("ops")
			code, began := h.code("scope", "openid groups"), time.Now()
			granted := h.exchange(code).tokens(t)
			if took := time.Since(began); took != x.took {
				t.Errorf("%s: the tokens came after %v, want %v", what, took, x.took)
			}
			h.learns(what, granted, "groups", `["ops"]`, `["ops"]`, `["ops"]`)
			h.learns(what, granted, "seats", "", "", "")
			all := trail.take()
			if len(all) < 3 {
				t.Fatalf("%s: the trail has %v", what, all)
			}
			for i, in := range []string{"id_token", "userinfo", "introspection"} {
				if e := all[i]; e.Kind != event.Token || e.Detail != event.DetailClaims+in+": "+x.why ||
					e.User != h.user.Sub || e.App != h.app.ID || strings.Contains(e.Detail, "hush") {
					t.Errorf("%s: the trail has %+v, want %s of %s", what, e, x.why, in)
				}
			}
			time.Sleep(time.Minute) // what was given up has returned
		})
	}
}

// bomb panics when it is written.
type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("hush-hush") }

func TestClaimsOfAHostThatMeanSomethingElseAreDropped(t *testing.T) {
	h, trail := hostFixture(t, func(context.Context, oauth.ClaimsRequest) (map[string]any, error) {
		return map[string]any{"sub": "eve", "EMAIL": "eve@example.com", "ſub": "eve", "groups": []string{"admins"},
			"exp": 1, "a b": 1, "": 1, "good": true, "huge": strings.Repeat("x", 4096)}, nil
	})
	granted := h.granted("openid")
	h.learns("a good one", granted, "good", "true", "true", "true")
	for _, name := range []string{"EMAIL", "ſub", "groups", "a b", "", "huge"} {
		h.learns("one that is not the host's to add", granted, name, "", "", "")
	}
	h.learns("the user", granted, "sub", mustJSON(h.user.Sub), mustJSON(h.user.Sub), mustJSON(h.user.Sub))
	if all := trail.take(); len(all) == 0 || all[0].Detail != event.DetailClaims+
		`id_token: ["" "EMAIL" "a b" "exp" "groups" "huge" "sub" "ſub"]` {
		t.Errorf("the trail has %v", all)
	}
}

// The claims of rules and of the host take 4 KiB together, and the same ones each time.
func TestClaimsThatAreAddedTakeFourKilobytesTogether(t *testing.T) {
	of := func(n int) string { return strings.Repeat("x", n) }
	h, _ := hostFixture(t, func(context.Context, oauth.ClaimsRequest) (map[string]any, error) {
		return map[string]any{"c": of(1500), "d": of(1500), "e": of(10)}, nil
	})
	h.saveUser(func(u *storage.User) { u.Attributes = map[string]string{"a": of(1000), "b": of(1000)} })
	h.app.Claims = []claim.Rule{{Claim: "a", From: "attribute:a"}, {Claim: "b", From: "attribute:b"}}
	h.changed()
	granted := h.granted("openid")
	added := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if h.learned(granted, name)[0] != "" {
			added[name] = payload(t, granted.text("id_token"))[name]
		}
	}
	text, err := json.Marshal(added)
	if _, there := added["d"]; err != nil || there || len(added) != 4 || len(text) > claim.MaxClaims {
		t.Errorf("%d bytes are added: %s", len(text), text)
	}
}
