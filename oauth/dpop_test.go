package oauth_test

import (
	"context"
	"crypto/rand"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/proofs"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// prove sends a form with proofs by a key; nil: without one. It takes the nonce that it is told to.
func (h *fixture) prove(key *proofs.Key, path string, v url.Values) answer {
	h.Helper()
	nonce := ""
	for {
		r := httptest.NewRequest("POST", path, strings.NewReader(v.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if key != nil {
			r.Header.Set("DPoP", key.New("POST", issuer+path, nonce, "").Text(key))
		}
		a := h.answer(h.serve(r))
		if a.text("error") != "use_dpop_nonce" || nonce != "" {
			return a
		}
		if nonce = a.header.Get("DPoP-Nonce"); nonce == "" || a.status != 400 {
			h.Fatalf("use_dpop_nonce: %d %v", a.status, a.header)
		}
	}
}

// shown asks userinfo with a token and a proof by a key.
func (h *fixture) shown(key *proofs.Key, access, scheme string) answer {
	h.Helper()
	nonce := ""
	for {
		r := httptest.NewRequest("GET", "/oauth/userinfo", nil)
		r.Header.Set("Authorization", scheme+" "+access)
		if key != nil {
			r.Header.Set("DPoP", key.New("GET", issuer+"/oauth/userinfo", nonce, access).Text(key))
		}
		a := h.answer(h.serve(r))
		if a.text("error") != "use_dpop_nonce" || nonce != "" {
			return a
		}
		if nonce = a.header.Get("DPoP-Nonce"); nonce == "" || a.status != 401 ||
			!strings.HasPrefix(a.header.Get("WWW-Authenticate"), `DPoP error="use_dpop_nonce"`) {
			h.Fatalf("use_dpop_nonce: %d %v", a.status, a.header)
		}
	}
}

// publicApp makes the fixture's application a public one with a mode of DPoP.
func (h *fixture) publicApp(mode string) {
	h.Helper()
	h.app = h.register(storage.App{Name: "App", Domains: []string{"app.example.com"}, Public: true, DPoP: mode})
}

// redeem redeems a code with a proof by a key.
func (h *fixture) redeem(key *proofs.Key, code string, pairs ...string) answer {
	h.Helper()
	v := h.tokenForm(append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", redirect,
		"code_verifier", verifier}, pairs...)...)
	if h.app.Public {
		v.Del("client_secret")
	}
	return h.prove(key, "/oauth/token", v)
}

func (h *fixture) renew(key *proofs.Key, refresh string) answer {
	h.Helper()
	v := h.tokenForm("grant_type", "refresh_token", "refresh_token", refresh)
	if h.app.Public {
		v.Del("client_secret")
	}
	return h.prove(key, "/oauth/token", v)
}

func (h *fixture) publicCode(pairs ...string) string {
	h.Helper()
	return h.code(append([]string{"code_challenge", challengeOf(verifier), "code_challenge_method", "S256"}, pairs...)...)
}

func TestTokensOfAPublicClientAreBoundToItsKey(t *testing.T) {
	h := newFixture(t)
	h.publicApp(storage.DPoPAllowed)
	key, thief := proofs.NewKey("ES256"), proofs.NewKey("EdDSA")
	got := h.redeem(key, h.publicCode()).tokens(t)
	access, refresh := got.text("access_token"), got.text("refresh_token")
	if cnf, _ := payload(t, access)["cnf"].(map[string]any); got.text("token_type") != "DPoP" ||
		cnf["jkt"] != key.Thumbprint() {
		t.Fatalf("token_type %q, cnf %v", got.text("token_type"), cnf)
	}
	if a := h.shown(key, access, "DPoP"); a.status != 200 || a.text("sub") != h.user.Sub {
		t.Errorf("userinfo: %d %v", a.status, a.body)
	}
	for name, a := range map[string]answer{
		"as Bearer": h.shown(nil, access, "Bearer"), "as Bearer, with a proof": h.shown(key, access, "Bearer"),
		"without a proof": h.shown(nil, access, "DPoP"), "by another key": h.shown(thief, access, "DPoP"),
	} {
		if a.status != 401 || !strings.Contains(a.header.Get("WWW-Authenticate"), "DPoP ") || a.text("msg") == "" {
			t.Errorf("%s: %d %v %v", name, a.status, a.header, a.body)
		}
	}
	if _, err := h.tokens.Verify(t.Context(), access); err == nil {
		t.Error("Verify takes the token for a bearer token")
	}
	h.renew(thief, refresh).wants(t, "refresh by another key", 400, 400, "invalid_grant")
	h.renew(nil, refresh).wants(t, "refresh without a key", 400, 400, "invalid_grant")
	second := h.renew(key, refresh).tokens(t)
	if second.text("token_type") != "DPoP" {
		t.Errorf("refreshed: %v", second.body)
	}
	h.renew(thief, refresh).wants(t, "replaced, by another key", 400, 400, "invalid_grant")
	h.renew(key, second.text("refresh_token")).tokens(t)
}

// A request without the key is no sign that the key's holder was robbed: it ends no grant.
func TestReuseWithoutTheKeyEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		defer h.calls.Close()
		h.publicApp(storage.DPoPAllowed)
		key, thief := proofs.NewKey("ES256"), proofs.NewKey("ES256")
		first := h.redeem(key, h.publicCode()).tokens(t)
		second := h.renew(key, first.text("refresh_token")).tokens(t)
		time.Sleep(time.Hour)
		h.renew(thief, first.text("refresh_token")).wants(t, "by another key", 400, 400, "invalid_grant")
		third := h.renew(key, second.text("refresh_token")).tokens(t)
		time.Sleep(time.Hour)
		h.renew(key, first.text("refresh_token")).wants(t, "by the key", 400, 400, "invalid_grant")
		h.renew(key, third.text("refresh_token")).wants(t, "after that", 400, 400, "invalid_grant")
	})
}

func TestApplicationWithASecretMayTakeANewKey(t *testing.T) {
	h := newFixture(t)
	h.app.DPoP = storage.DPoPAllowed
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	key, next := proofs.NewKey("ES256"), proofs.NewKey("PS256")
	got := h.redeem(key, h.publicCode()).tokens(t)
	second := h.renew(next, got.text("refresh_token")).tokens(t)
	if cnf := payload(t, second.text("access_token"))["cnf"].(map[string]any); cnf["jkt"] != next.Thumbprint() {
		t.Errorf("cnf %v", cnf)
	}
	if third := h.renew(nil, second.text("refresh_token")).tokens(t); third.text("token_type") != "Bearer" ||
		payload(t, third.text("access_token"))["cnf"] != nil {
		t.Errorf("without a proof: %v", third.body)
	}
	own := h.prove(key, "/oauth/token", h.tokenForm("grant_type", "client_credentials")).tokens(t)
	if own.text("token_type") != "DPoP" {
		t.Errorf("its own token: %v", own.body)
	}
	about := h.post("/oauth/introspect", h.tokenForm("token", own.text("access_token")))
	if cnf, _ := about.body["cnf"].(map[string]any); about.text("token_type") != "DPoP" || cnf["jkt"] != key.Thumbprint() {
		t.Errorf("introspection: %v", about.body)
	}
}

func TestApplicationDecidesWhetherItsTokensAreBound(t *testing.T) {
	h := newFixture(t, func(o *oauth.Config) { o.Consent = &fakeConsent{allowed: true} })
	key := proofs.NewKey("ES256")
	agent := func() {
		h.app = h.register(storage.App{ID: client.DynamicPrefix + rand.Text(), Name: "Agent", Public: true,
			ForbidPlain: true, Client: &client.Description{Kind: client.Dynamic, AuthMethod: client.AuthNone,
				RedirectURIs: []string{redirect}, Grants: []string{"authorization_code", "refresh_token"}}})
	}
	for _, c := range []struct {
		name      string
		make      func()
		key       *proofs.Key
		kind, why string
	}{
		{"off, with a proof", func() { h.publicApp("") }, key, "Bearer", ""},
		{"off, without", func() { h.publicApp(storage.DPoPOff) }, nil, "Bearer", ""},
		{"allowed, with", func() { h.publicApp(storage.DPoPAllowed) }, key, "DPoP", ""},
		{"allowed, without", func() { h.publicApp(storage.DPoPAllowed) }, nil, "Bearer", ""},
		{"required, with", func() { h.publicApp(storage.DPoPRequired) }, key, "DPoP", ""},
		{"required, without", func() { h.publicApp(storage.DPoPRequired) }, nil, "", "invalid_dpop_proof"},
		{"an agent, with", agent, key, "DPoP", ""},
		{"an agent, without", agent, nil, "Bearer", ""},
	} {
		c.make()
		code := h.publicCode()
		a := h.redeem(c.key, code)
		if c.why == "" && a.tokens(t).text("token_type") != c.kind {
			t.Errorf("%s: %v", c.name, a.body)
		}
		if c.why != "" {
			a.wants(t, c.name, 400, 400, c.why)
			h.redeem(key, code).tokens(t) // nothing was spent
		}
	}
}

func TestAnyHeaderIsIgnoredOfAnApplicationWithoutDPoP(t *testing.T) {
	h := newFixture(t)
	r := httptest.NewRequest("POST", "/oauth/token",
		strings.NewReader(h.tokenForm("grant_type", "client_credentials").Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header["Dpop"] = []string{"nonsense", "twice"}
	h.answer(h.serve(r)).tokens(t)
}

func TestBadProofSpendsNothing(t *testing.T) {
	h := newFixture(t)
	h.publicApp(storage.DPoPRequired)
	key, code := proofs.NewKey("ES256"), h.publicCode()
	v := h.tokenForm("grant_type", "authorization_code", "code", code, "redirect_uri", redirect, "code_verifier", verifier,
		"client_secret", "-")
	for _, proof := range []string{"", "x", "a.b.c", key.New("GET", issuer+"/oauth/token", "", "").Text(key),
		key.New("POST", issuer+"/oauth/userinfo", "", "").Text(key)} {
		r := httptest.NewRequest("POST", "/oauth/token", strings.NewReader(v.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("DPoP", proof)
		h.answer(h.serve(r)).wants(t, proof, 400, 400, "invalid_dpop_proof")
	}
	h.redeem(key, code).tokens(t)
}

func TestCodeIsRedeemedByTheKeyThatItWasAskedForWith(t *testing.T) {
	h := newFixture(t)
	h.publicApp(storage.DPoPAllowed)
	key, thief := proofs.NewKey("ES256"), proofs.NewKey("ES256")
	code := h.publicCode("dpop_jkt", key.Thumbprint())
	h.redeem(thief, code).wants(t, "by another key", 400, 400, "invalid_grant")
	h.redeem(nil, code).wants(t, "without a key", 400, 400, "invalid_grant")
	h.redeem(key, code).tokens(t)
	for _, jkt := range []string{"x", key.Thumbprint() + "A", key.Thumbprint()[:42] + "="} {
		w := h.authorize("code_challenge", challengeOf(verifier), "code_challenge_method", "S256", "dpop_jkt", jkt)
		if to := w.Header().Get("Location"); !strings.Contains(to, "error=invalid_request") {
			t.Errorf("dpop_jkt %q: %d %s", jkt, w.Code, to)
		}
	}
	h.publicApp("")
	h.redeem(nil, h.publicCode("dpop_jkt", "x")).tokens(t) // which knows nothing of it
}

func TestGrantStaysBoundWhenTheSwitchIsTurnedOff(t *testing.T) {
	h := newFixture(t)
	h.publicApp(storage.DPoPAllowed)
	key := proofs.NewKey("ES256")
	got := h.redeem(key, h.publicCode()).tokens(t)
	h.app.DPoP = storage.DPoPOff
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	h.renew(nil, got.text("refresh_token")).wants(t, "refresh without a key", 400, 400, "invalid_grant")
	if a := h.shown(nil, got.text("access_token"), "Bearer"); a.status != 401 {
		t.Errorf("userinfo: %d", a.status)
	}
}

// sharedMemory is a store that other processes write to as well.
type sharedMemory struct{ driver.Backend }

func (sharedMemory) Listen(ctx context.Context, _ func()) error { return nil }

func TestProofIsGoodOnceAtAllNodesOfAStore(t *testing.T) {
	backend, key := sharedMemory{memory.New()}, storage.NewMasterKey()
	defer backend.Close()
	var nodes []*fixture
	for range 2 {
		h := &fixture{TB: t, store: must(storage.Open(t.Context(), backend, key))(t), browser: &fakeSignIn{}}
		h.tokens = must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: issuer, Store: h.store, SweepEvery: -1}))(t)
		defer h.tokens.Close(t.Context())
		h.server = must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: h.tokens, SignIn: h.browser}))(t)
		nodes = append(nodes, h)
	}
	app := nodes[0].register(storage.App{Name: "App", Domains: []string{"app.example.com"}, DPoP: storage.DPoPAllowed})
	client := proofs.NewKey("ES256")
	send := func(h *fixture, proof string) answer {
		h.app = app
		r := httptest.NewRequest("POST", "/oauth/token",
			strings.NewReader(h.tokenForm("grant_type", "client_credentials").Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("DPoP", proof)
		return h.answer(h.serve(r))
	}
	nonce := send(nodes[0], client.New("POST", issuer+"/oauth/token", "", "").Text(client)).header.Get("DPoP-Nonce")
	proof := client.New("POST", issuer+"/oauth/token", nonce, "").Text(client)
	send(nodes[1], proof).tokens(t)
	for _, h := range nodes {
		send(h, proof).wants(t, "again", 400, 400, "invalid_dpop_proof")
	}
}

// A verified bearer is no call of the store (design, 3), and neither is a proof where the store is of one process.
func TestCheckedProofCostsNoCallOfTheStore(t *testing.T) {
	h := newFixture(t)
	h.app.DPoP = storage.DPoPAllowed
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	key := proofs.NewKey("ES256")
	access := h.redeem(key, h.publicCode()).tokens(t).text("access_token")
	h.shown(key, access, "DPoP")
	if calls := h.calls.during(func() { h.shown(key, access, "DPoP") }); len(calls) != 0 {
		t.Errorf("it costs %v", calls)
	}
}

// The exchange of a bound token takes its key, and gives one that is bound to it. A thief gains nothing.
func TestExchangeOfABoundTokenTakesItsKey(t *testing.T) {
	h := newTrusting(t)
	h.agent.DPoP = storage.DPoPAllowed
	h.agent = h.register(h.agent)
	key, thief := proofs.NewKey("ES256"), proofs.NewKey("ES256")
	exchanged := func(by *proofs.Key, subject string) answer {
		return h.prove(by, "/oauth/token", h.exchanges(subject).form)
	}
	jkt := func(a answer) any {
		cnf, _ := payload(t, a.tokens(t).text("access_token"))["cnf"].(map[string]any)
		return cnf["jkt"]
	}
	subject := exchanged(key, h.issued(h.agent).text("access_token"))
	if jkt(subject) != key.Thumbprint() || subject.text("token_type") != "DPoP" {
		t.Errorf("the result is not bound to the key that was proved: %v", subject.body)
	}
	bound := subject.text("access_token")
	if again := exchanged(key, bound); jkt(again) != key.Thumbprint() {
		t.Errorf("it is bound to %v", jkt(again))
	}
	exchanged(thief, bound).wants(t, "by another key", 400, 400, "invalid_request")
	exchanged(nil, bound).wants(t, "without a key", 400, 400, "invalid_request")
	actor := h.exchanges(h.issued(h.agent).text("access_token"), "actor_token", bound, "actor_token_type", accessType)
	h.prove(key, "/oauth/token", actor.form).wants(t, "as an actor", 400, 400, "invalid_request")

	h.agent.DPoP = "" // its own tokens are bound to nothing from now on, and those that it is handed stay what they are
	h.agent = h.register(h.agent)
	if again := exchanged(key, bound); jkt(again) != key.Thumbprint() {
		t.Errorf("it is bound to %v", jkt(again))
	}
	exchanged(thief, bound).wants(t, "by another key", 400, 400, "invalid_request")
	exchanged(nil, bound).wants(t, "without a key", 400, 400, "invalid_request")
	if own := exchanged(key, h.issued(h.agent).text("access_token")); jkt(own) != nil {
		t.Errorf("a token of its own is bound to %v", jkt(own))
	}
}

func TestTokensOfAssertionsAreBoundToo(t *testing.T) {
	h := newTrusting(t)
	h.agent.DPoP = storage.DPoPRequired
	h.agent = h.register(h.agent)
	key := proofs.NewKey("EdDSA")
	for name, a := range map[string]*attempt{"an ID-JAG": h.idJAG(), "a workload": h.workload()} {
		a.form.Set(a.field, a.key.sign(t, a.head, a.claims))
		h.prove(nil, "/oauth/token", a.form).wants(t, name+" without a proof", 400, 400, "invalid_dpop_proof")
		got := h.prove(key, "/oauth/token", a.form).tokens(t)
		cnf, _ := payload(t, got.text("access_token"))["cnf"].(map[string]any)
		if got.text("token_type") != "DPoP" || cnf["jkt"] != key.Thumbprint() {
			t.Errorf("%s: %v", name, got.body)
		}
	}
}
