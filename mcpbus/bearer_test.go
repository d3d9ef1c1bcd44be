package mcpbus_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/internal/test/issuing"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// Types that cmd hands over as they are.
var (
	_ mcpbus.Store = (*storage.Store)(nil)
	_ mcpbus.Meter = (*gateway.Gateway)(nil)
)

const metadata = `Bearer resource_metadata="https://id.example.com/.well-known/oauth-protected-resource/api/mcp", scope="tools"`

// site is the bus with real tokens, and with the gateway before it.
type site struct {
	*fixture
	opened  *issuing.Tokens
	trail   *gateway.Trail
	gateway *gateway.Gateway
	app     storage.App
	guarded http.Handler
}

func newSite(t testing.TB, edits ...func(*gateway.Config)) *site {
	t.Helper()
	s := &site{fixture: emptyFixture(t)}
	s.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	s.app = must(s.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}}))(t)
	s.build(t, edits...)
	return s
}

// build makes everything that stands on the store.
func (s *site) build(t testing.TB, edits ...func(*gateway.Config)) {
	t.Helper()
	s.opened = issuing.Open(t, s.store, issuer, append(mcpbus.Resources(issuer), issuer+"/api/x")...)
	s.trail = must(gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: s.store, Log: quiet}))(t)
	t.Cleanup(func() { s.trail.Close(context.Background()) })
	c := gateway.Config{Store: s.store, Tokens: s.opened, Trail: s.trail, Log: quiet, PerAddress: counters.Unlimited}
	for _, edit := range edits {
		edit(&c)
	}
	s.gateway = must(gateway.New(t.Context(), c))(t)
	t.Cleanup(func() { s.gateway.Close(context.Background()) })
	s.open(func(c *mcpbus.Config) { c.Verifier = s.opened })
	// With a product that is "" Meter lets in who has no token, so that the bus itself can
	// say where to get one.
	s.guarded = s.gateway.Front(s.gateway.Meter("", s.bus))
}

// bearer returns a token of the application, for a resource if one is given.
func (s *site) bearer(resource ...string) string {
	s.Helper()
	return s.opened.Machine(s, s.app, strings.Join(resource, ""))
}

func (s *site) forgeries() forgery.Service {
	s.Helper()
	return forgery.Service{Keys: must(s.store.SigningKeys(s.Context()))(s), Issuer: issuer, ClientID: s.app.ID,
		Sub: "ustranger"}
}

// entryPoints returns the two ways to reach the bus.
func (s *site) entryPoints() map[string]http.Handler {
	return map[string]http.Handler{"the bus": s.bus, "the gateway": s.guarded}
}

func TestForgedTokensReachNoTool(t *testing.T) {
	s := newSite(t)
	forged := forgery.All(t, s.forgeries())
	if len(forged) < 40 {
		t.Fatalf("%d forgeries, want at least 40", len(forged))
	}
	for name, entryPoint := range s.entryPoints() {
		genuine := "Bearer " + forgery.Genuine(t, s.forgeries())
		if a := send(entryPoint, request(t.Context(), legacyBody("tools/call", getPet), "Authorization",
			genuine)); a.status != 200 || a.code() != 0 {
			t.Fatalf("%s: a genuine token = %d %s", name, a.status, a.text)
		}
		for _, f := range forged {
			a := send(entryPoint, request(t.Context(), legacyBody("tools/call", getPet), "Authorization", "Bearer "+f.Token))
			if a.status != 401 || a.body["errcode"] != 401.0 || a.code() != -32000 ||
				!strings.HasPrefix(a.header.Get("WWW-Authenticate"), metadata) {
				t.Errorf("%s: %s = %d %v %s", name, f.Name, a.status, a.header, a.text)
			}
		}
	}
	if len(s.calls.seen) != 2 {
		t.Errorf("%d calls, want the two genuine ones", len(s.calls.seen))
	}
}

// Decision 42, RFC 9728 5.1.
func TestRequestWithoutAValidTokenGetsTheChallenge(t *testing.T) {
	s := newSite(t)
	const invalid = metadata + `, error="invalid_token"`
	good := s.bearer()
	for name, entryPoint := range s.entryPoints() {
		for what, c := range map[string]struct {
			challenge string
			headers   []string
			query     string
		}{
			"no token":                    {metadata, []string{"Authorization", ""}, ""},
			"Basic":                       {metadata, []string{"Authorization", "Basic dTpw"}, ""},
			"a token in the query":        {metadata, []string{"Authorization", ""}, "?access_token=" + good},
			"the cookie":                  {metadata, []string{"Authorization", "", "Cookie", "open_sso_token=" + good}, ""},
			"nonsense":                    {invalid, []string{"Authorization", "Bearer x"}, ""},
			"an appkey":                   {invalid, []string{"Authorization", "Bearer " + s.app.AppKey().Reveal()}, ""},
			"a token for something else":  {invalid, []string{"Authorization", "Bearer " + s.bearer(issuer+"/api/x")}, ""},
			"a list without a token, too": {metadata, []string{"Authorization", "", "Mcp-Method", "tools/list"}, ""},
		} {
			r := request(t.Context(), legacyBody("tools/list", ""), c.headers...)
			r.URL.RawQuery = strings.TrimPrefix(c.query, "?")
			a := send(entryPoint, r)
			if a.status != 401 || a.header.Get("WWW-Authenticate") != c.challenge ||
				a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s, %s = %d, challenge %s, want %s: %s", name, what, a.status, a.header.Get("WWW-Authenticate"),
					c.challenge, a.text)
			}
			if a.body["jsonrpc"] != "2.0" || a.body["id"] != nil || a.code() != -32000 || a.body["code"] != 401.0 ||
				a.body["errcode"] != 401.0 || a.body["msg"] != a.at("error.message") {
				t.Errorf("%s, %s: %s, want both shapes", name, what, a.text)
			}
		}
	}
}

func TestTokenForTheServiceOrForTheBusOpensTheBus(t *testing.T) {
	s := newSite(t)
	for name, entryPoint := range s.entryPoints() {
		for _, bearer := range []string{s.bearer(), s.bearer(busURI), forgery.Genuine(t, s.forgeries())} {
			a := send(entryPoint, request(t.Context(), legacyBody("tools/list", ""), "Authorization", "Bearer "+bearer))
			if a.status != 200 || len(a.names()) != 1 {
				t.Errorf("%s = %d %s", name, a.status, a.text)
			}
		}
	}
}

func TestGatewaysWordIsFinal(t *testing.T) {
	h := newFixture(t)
	for name, c := range map[string]struct {
		visit  reqctx.Visit
		bearer string
		status int
	}{
		"known, for the service": {reqctx.Visit{Known: true, Entry: 1,
			Caller: storage.Caller{AppID: "a", Scope: "app", Audience: issuer}}, "x", 200},
		"known, for the bus": {reqctx.Visit{Known: true, Entry: 1,
			Caller: storage.Caller{AppID: "a", Scope: "app", Audience: busURI}}, "x", 200},
		"known, for another": {reqctx.Visit{Known: true, Entry: 1,
			Caller: storage.Caller{AppID: "a", Scope: "app", Audience: issuer + "/x"}}, "app", 401},
		"looked at and refused":      {reqctx.Visit{Entry: 1}, "app", 401},
		"not looked at":              {reqctx.Visit{}, "app", 200},
		"not looked at, and no good": {reqctx.Visit{}, "x", 401},
		"known without an audience": {reqctx.Visit{Known: true, Entry: 1,
			Caller: storage.Caller{AppID: "a", Scope: "app"}}, "app", 401},
		"looked at, and without tokens": {reqctx.Visit{Entry: 1}, "", 401},
	} {
		c.visit.Context = t.Context()
		if a := send(h.bus, request(&c.visit, legacyBody("ping", ""), "Authorization",
			"Bearer "+c.bearer)); a.status != c.status {
			t.Errorf("%s = %d %s, want %d", name, a.status, a.text, c.status)
		}
	}
}

func TestGatewaysRefusalsHaveBothShapes(t *testing.T) {
	s := newSite(t, func(c *gateway.Config) {
		c.PerAddress = 1
		c.ErrorWriters = map[string]func(http.ResponseWriter, *http.Request, int, string){mcpbus.Path: mcpbus.WriteError}
	})
	send(s.guarded, request(t.Context(), legacyBody("ping", ""), "Authorization", ""))
	a := send(s.guarded, request(t.Context(), legacyBody("ping", ""), "Authorization", ""))
	if a.status != 429 || a.header.Get("Retry-After") == "" || a.body["jsonrpc"] != "2.0" || a.body["id"] != nil ||
		a.code() != -32000 || a.body["errcode"] != 429.0 || a.body["code"] != 429.0 {
		t.Errorf("over the rate = %d %v %s", a.status, a.header, a.text)
	}
}

func TestDisabledApplicationReachesNoTool(t *testing.T) {
	s := newSite(t)
	bearer := "Bearer " + s.bearer()
	s.app.Disabled = true
	s.app = must(s.store.SaveApp(t.Context(), s.app))(t)
	s.gateway.Forget(s.app.ID)
	if a := send(s.guarded, request(t.Context(), legacyBody("ping", ""), "Authorization", bearer)); a.status != 401 {
		t.Errorf("its token = %d %s", a.status, a.text)
	}
}

func TestBusWithoutGatewayAndVerifierLetsNoOneIn(t *testing.T) {
	h := newFixture(t, func(c *mcpbus.Config) { c.Verifier = nil })
	if a := h.legacy("ping", ""); a.status != 401 {
		t.Errorf("ping = %d %s", a.status, a.text)
	}
}

func TestTokensThatCannotBeVerifiedAreErrors(t *testing.T) {
	h := newFixture(t)
	for status, err := range map[int]error{503: token.ErrStale, 500: errors.New("inner reason")} {
		h.tokens.fail = err
		a := h.legacy("tools/list", "")
		if a.status != status || a.body["errcode"] != float64(status) || strings.Contains(a.text, "inner reason") {
			t.Errorf("%v = %d %s, want %d", err, a.status, a.text, status)
		}
		if status == 503 && a.header.Get("Retry-After") == "" {
			t.Errorf("503 without Retry-After: %v", a.header)
		}
		if status == 500 && a.code() != -32603 {
			t.Errorf("500 says %d", a.code())
		}
	}
}

// RFC 9728 3.
func TestMetadataSaysWhereTokensComeFrom(t *testing.T) {
	h := newFixture(t)
	want := `{"resource":"https://id.example.com/api/mcp","authorization_servers":["https://id.example.com"],"scopes_supported":["tools"],"bearer_methods_supported":["header"],"resource_name":"Keystile","dpop_signing_alg_values_supported":["ES256","EdDSA","RS256","PS256"],"dpop_bound_access_tokens_required":false}`
	for _, path := range mcpbus.MetadataPaths() {
		a := send(h.bus, httptest.NewRequest("GET", issuer+path, nil))
		if a.status != 200 || a.text != want || a.header.Get("ETag") == "" {
			t.Errorf("%s = %d %s", path, a.status, a.text)
		}
		if a := send(h.bus, httptest.NewRequest("POST", issuer+path, nil)); a.status != 405 ||
			a.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s = %d %v", path, a.status, a.header)
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource/", "/.well-known/oauth-protected-resource/api",
		"/api/mcp/x", "/"} {
		if a := send(h.bus, httptest.NewRequest("GET", issuer+path, nil)); a.status != 404 {
			t.Errorf("%s = %d", path, a.status)
		}
	}
}

// A token that cannot be verified now is not invalid: its client is to try again.
func TestBearerThatTheGatewayCannotCheckIsAnError(t *testing.T) {
	h := newFixture(t)
	r := httptest.NewRequest("POST", mcpbus.Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	v := &reqctx.Visit{Context: r.Context(), Entry: "seen", Trouble: storage.ErrUnavailable}
	w := httptest.NewRecorder()
	h.bus.ServeHTTP(w, r.WithContext(v))
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("answered %d %v %s", w.Code, w.Header(), w.Body)
	}
}
