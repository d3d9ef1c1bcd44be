package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
)

const agentBody = `{"client_name":"Agent","redirect_uris":["http://127.0.0.1:4000/cb"]}`

// recorder is an Audit that remembers.
type recorder struct {
	noted, waited []event.Event
	err           error
}

func (a *recorder) Note(e event.Event) { a.noted = append(a.noted, e) }
func (a *recorder) NoteNow(_ context.Context, e event.Event) error {
	a.waited = append(a.waited, e)
	return a.err
}

// registrar is a provider at which applications register themselves from an address.
type registrar struct {
	*fixture
	consent *fakeConsent
	audit   *recorder
	from    string
}

func newRegistrar(t *testing.T, changes ...func(*oauth.Config)) *registrar {
	h := &registrar{consent: &fakeConsent{allowed: true}, audit: &recorder{}, from: "192.0.2.1"}
	h.fixture = newFixture(t, append([]func(*oauth.Config){func(c *oauth.Config) {
		c.Consent, c.Devices, c.Audit, c.Log = h.consent, new(signin.SignIn), h.audit, quiet
		c.ClientIP = func(*http.Request) netip.Addr { return netip.MustParseAddr(h.from) }
	}}, changes...)...)
	return h
}

func (h *registrar) send(method, path, contentType, bearer, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	return h.serve(r)
}

func (h *registrar) enroll(body string) answer {
	h.Helper()
	return h.answer(h.send("POST", "/oauth/register", "application/json", "", body))
}

// agent is an application that has registered itself.
func (h *registrar) agent() (id, secret string) {
	h.Helper()
	a := h.enroll(agentBody)
	if a.status != 201 || !strings.HasPrefix(a.text("client_id"), client.DynamicPrefix) {
		h.Fatalf("registration = %d %v", a.status, a.body)
	}
	return a.text("client_id"), a.text("registration_access_token")
}

// signIn redeems a code of an application for tokens of the user.
func (h *registrar) signIn(id string) answer {
	h.Helper()
	code := h.code("client_id", id, "redirect_uri", "http://127.0.0.1:52000/cb", "code_challenge", challengeOf(verifier),
		"code_challenge_method", "S256")
	return h.exchange(code, "client_id", id, "client_secret", "-", "redirect_uri", "http://127.0.0.1:52000/cb",
		"code_verifier", verifier)
}

func TestRegistrationMakesAPublicClientThatNeedsConsent(t *testing.T) {
	h := newRegistrar(t)
	id, secret := h.agent()
	app := must(h.store.App(t.Context(), id))(t)
	if !app.Public || app.FirstParty || app.Owner != "" || app.Client.Kind != client.Dynamic ||
		app.Client.From != "192.0.2.1/32" || len(app.Secrets) != 0 {
		t.Errorf("registered is %+v", app)
	}
	if text := mustJSON(app); strings.Contains(text, secret) || len(secret) < 40 {
		t.Error("the store has the registration access token itself")
	}
	h.consent.allowed = false
	pkce := []string{"client_id", id, "redirect_uri", "http://127.0.0.1:52000/cb", "code_challenge", challengeOf(verifier),
		"code_challenge_method", "S256"}
	if w := h.authorize(pkce...); w.Body.String() != "may it?" {
		t.Errorf("authorize = %d %s, want the user to be asked", w.Code, w.Body)
	}
	h.consent.allowed = true
	if w := h.authorize(pkce[:4]...); !strings.Contains(w.Header().Get("Location"), "error=invalid_request") {
		t.Errorf("without PKCE it is sent to %q", w.Header().Get("Location"))
	}
	h.signIn(id).tokens(t)
	h.token("grant_type", "client_credentials", "client_id", id, "client_secret", "-").wants(t, "client_credentials", 400,
		400, "unauthorized_client")
	h.token("grant_type", "client_credentials", "client_id", id, "client_secret", "secret").wants(t, "a made-up secret",
		401, 401, "invalid_client")
}

func TestRegistrationIsWrittenAndCountedOnlyWhenValid(t *testing.T) {
	h := newRegistrar(t)
	calls := h.calls.during(func() {
		for range 100 {
			h.enroll(`{"redirect_uris":["http://example.com/"]}`).wants(t, "a bad redirect_uri", 400, 400, "invalid_redirect_uri")
		}
		h.enroll(`not JSON`).wants(t, "no JSON", 400, 400, "invalid_client_metadata")
		h.answer(h.send("POST", "/oauth/register", "text/plain", "", agentBody)).wants(t, "plain text", 400, 400,
			"invalid_client_metadata")
		h.answer(h.send("POST", "/oauth/register", "application/x-www-form-urlencoded", "", agentBody)).wants(t, "a form",
			400, 400, "invalid_client_metadata")
		h.enroll(`{"x":"`+strings.Repeat("x", 8<<10)+`",`+agentBody[1:]).wants(t, "8 KB and more", 413, 413, "invalid_request")
	})
	if len(calls) != 0 {
		t.Errorf("the store was asked: %v", calls)
	}
	h.agent() // the network has used up nothing
	if a := h.answer(h.send("POST", "/oauth/register.php", "application/json; charset=utf-8", "whatever",
		agentBody)); a.status != 201 {
		t.Errorf("with a charset and a token that nobody asked for: %d %v", a.status, a.body)
	}
	for _, method := range []string{"GET", "PUT", "DELETE", "HEAD"} {
		if w := h.send(method, "/oauth/register", "", "", ""); w.Code != 405 || w.Header().Get("Allow") != "POST" {
			t.Errorf("%s = %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestFloodFromOneNetworkStopsAndOthersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newRegistrar(t)
		for range 30 {
			h.agent()
		}
		a := h.enroll(agentBody)
		a.wants(t, "the 31st within the hour", 429, 429, "temporarily_unavailable")
		if a.header.Get("Retry-After") != "3600" {
			t.Errorf("Retry-After: %q", a.header.Get("Retry-After"))
		}
		if calls := h.calls.during(func() { h.enroll(agentBody) }); len(calls) != 0 {
			t.Errorf("a registration too many reached the store: %v", calls)
		}
		h.from = "192.0.2.2"
		h.agent()
		h.from = "192.0.2.1"
		time.Sleep(time.Hour)
		h.agent()
	})
}

// Decision 96.
func TestFloodFromManyNetworksClosesRegistrationForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newRegistrar(t)
		id, _ := h.agent()
		for i := range 2000 {
			h.from = fmt.Sprintf("%d.%d.0.1", i%100+1, i/100)
			h.enroll(agentBody)
		}
		h.from = "198.51.100.1"
		for range 4 {
			h.agent()
		}
		a := h.enroll(agentBody)
		a.wants(t, "the fifth beyond what is common", 429, 429, "temporarily_unavailable")
		if a.header.Get("Retry-After") != "86400" {
			t.Errorf("Retry-After: %q, want a day", a.header.Get("Retry-After"))
		}
		tokens := h.signIn(id).tokens(t)
		h.refresh(tokens.text("refresh_token"), "client_id", id, "client_secret", "-").tokens(t)
		h.exchange(h.code()).tokens(t)
	})
}

func TestRegistrationWithoutConsentEndsAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newRegistrar(t)
		id, secret := h.agent()
		kept, keptSecret := h.agent()
		if err := h.store.KeepClient(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24*time.Hour - time.Second)
		tokens := h.signIn(id).tokens(t)
		time.Sleep(time.Second)
		if w := h.authorize("client_id", id, "redirect_uri", "http://127.0.0.1:1/cb"); w.Code != 400 {
			t.Errorf("authorize after a day = %d, want a page", w.Code)
		}
		h.refresh(tokens.text("refresh_token"), "client_id", id, "client_secret", "-").wants(t, "refresh after a day", 401,
			401, "invalid_client")
		if w := h.send("GET", "/oauth/register/"+id, "", secret, ""); w.Code != 401 {
			t.Errorf("its record after a day = %d", w.Code)
		}
		if _, err := h.calls.Sweep(t.Context(), time.Now(), 100); err != nil {
			t.Fatal(err)
		}
		if _, err := h.store.App(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("it is still stored: %v", err)
		}
		time.Sleep(400 * 24 * time.Hour)
		h.browser.signIn(h.user)
		h.signIn(kept).tokens(t)
		if w := h.send("GET", "/oauth/register/"+kept, "", keptSecret, ""); w.Code != 200 {
			t.Errorf("the record of one that a user consented to = %d", w.Code)
		}
	})
}

// RFC 7592 2.3.
func TestApplicationRemovesItselfAndAllThatItWasGranted(t *testing.T) {
	h := newRegistrar(t)
	id, secret := h.agent()
	tokens := h.signIn(id).tokens(t)
	other, otherSecret := h.agent()
	standing := h.signIn(other).tokens(t)
	if w := h.send("DELETE", "/oauth/register/"+id, "", secret, ""); w.Code != 204 || w.Body.Len() != 0 ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("DELETE = %d %s %v", w.Code, w.Body, w.Header())
	}
	h.userInfo(tokens.text("access_token")).wants(t, "its access token", 401, 401, "invalid_token")
	h.refresh(tokens.text("refresh_token"), "client_id", id, "client_secret", "-").wants(t, "its refresh token", 401, 401,
		"invalid_client")
	if _, err := h.store.App(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
	if len(h.audit.waited) != 1 || h.audit.waited[0].App != id || h.audit.waited[0].Kind != event.Registration ||
		h.audit.waited[0].Status != 204 {
		t.Errorf("the trail has %+v", h.audit.waited)
	}
	if a := h.userInfo(standing.text("access_token")); a.status != 200 {
		t.Errorf("another application's token = %d", a.status)
	}
	if w := h.send("GET", "/oauth/register/"+other, "", otherSecret, ""); w.Code != 200 {
		t.Errorf("another application's record = %d", w.Code)
	}
}

func TestRegistrationIsOpenedByItsOwnTokenOnly(t *testing.T) {
	h := newRegistrar(t)
	id, secret := h.agent()
	other, otherSecret := h.agent()
	access := h.signIn(id).tokens(t).text("access_token")
	document := h.register(storage.App{ID: "https://agent.example/client.json", Name: "D", Public: true,
		Client: &client.Description{
			Kind: client.Document, AuthMethod: client.AuthNone, RedirectURIs: []string{"https://agent.example/cb"},
			Grants:      []string{"authorization_code"},
			AccessToken: hashOfText("x"),
		}})
	bearers := []string{otherSecret, access, secret + "x", secret[:len(secret)-1], strings.ToUpper(secret), "x",
		hashOfText(secret), h.app.AppKey().Reveal()}
	for _, method := range []string{"GET", "HEAD", "DELETE"} {
		for _, bearer := range bearers {
			if w := h.send(method, "/oauth/register/"+id, "", bearer, ""); w.Code != 401 || w.Header().Get("WWW-Authenticate") != `Bearer error="invalid_token"` {
				t.Errorf("%s by %.10s... = %d %q", method, bearer, w.Code, w.Header().Get("WWW-Authenticate"))
			}
		}
		if w := h.send(method, "/oauth/register/"+id, "", "", ""); w.Code != 401 ||
			w.Header().Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s without a token = %d", method, w.Code)
		}
		for _, elsewhere := range []string{h.app.ID, "ks-aaaaaaaaaaaaaaaaaaaa", other,
			"https:%2F%2Fagent.example%2Fclient.json"} {
			for _, bearer := range []string{secret, "x"} {
				if w := h.send(method, "/oauth/register/"+elsewhere, "", bearer, ""); w.Code != 401 && w.Code != 404 {
					t.Errorf("%s of %s by the token of another = %d", method, elsewhere, w.Code)
				}
			}
		}
	}
	for _, still := range []string{id, other, document.ID, h.app.ID} {
		if _, err := h.store.App(t.Context(), still); err != nil {
			t.Errorf("%s: %v", still, err)
		}
	}
}

func hashOfText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func TestRegistrationsAreOnTheTrail(t *testing.T) {
	h := newRegistrar(t)
	id, _ := h.agent()
	h.enroll(`{}`)
	e := h.audit.noted
	if len(e) != 2 || e[0].App != id || e[0].Anonymous || e[0].Status != 201 || e[0].Kind != event.Registration ||
		e[0].Detail == "" || e[0].IP != "192.0.2.1" {
		t.Fatalf("noted %+v", e)
	}
	if !e[1].Anonymous || e[1].Status != 400 || e[1].App != "" {
		t.Errorf("a refusal is noted as %+v: anybody causes them without end", e[1])
	}
	_, secret := h.agent()
	h.audit.err = errors.New("the trail is away")
	app := h.audit.noted[len(h.audit.noted)-1].App
	if w := h.send("DELETE", "/oauth/register/"+app, "", secret, ""); w.Code != 503 {
		t.Errorf("a removal that could not be written down = %d", w.Code)
	}
}

func TestRegistrationThatIsOffIsNotServed(t *testing.T) {
	for name, change := range map[string]func(*oauth.Config){
		"it is off":               func(c *oauth.Config) { c.Clients.Registration = "off" },
		"users are never asked":   func(c *oauth.Config) { c.Consent = nil },
		"they are not, asked for": func(c *oauth.Config) { c.Consent, c.Clients.Registration = nil, "capped" },
	} {
		h := newRegistrar(t, change)
		for _, path := range []string{"/oauth/register", "/oauth/register.php", "/register", "/oauth/register/ks-x"} {
			if w := h.send("POST", path, "application/json", "", agentBody); w.Code != 404 {
				t.Errorf("%s: POST %s = %d", name, path, w.Code)
			}
		}
		mux := http.NewServeMux()
		h.server.Mount(mux)
		if _, pattern := mux.Handler(httptest.NewRequest("POST", "/register", nil)); pattern != "" ||
			slices.Contains(h.server.Patterns(), "/register") {
			t.Errorf("%s: /register is taken", name)
		}
		if m := h.metadata(); m["registration_endpoint"] != nil {
			t.Errorf("%s: it is advertised: %v", name, m)
		}
	}
	if _, err := oauth.New(t.Context(), oauth.Config{Tokens: newFixture(t).tokens, SignIn: &fakeSignIn{},
		Clients: oauth.ClientsConfig{Registration: "open"}}); err == nil || !strings.Contains(err.Error(), "capped") {
		t.Errorf("registration open: %v", err)
	}
}

func (h *fixture) metadata() map[string]any {
	h.Helper()
	return h.answer(h.serve(httptest.NewRequest("GET", "/.well-known/oauth-authorization-server", nil))).body
}

// Decision 55: clients of MCP decide by these how they sign in.
func TestMetadataSaysHowAnApplicationThatNobodyRegisteredSignsIn(t *testing.T) {
	h := newRegistrar(t)
	var want map[string]any
	if err := json.Unmarshal([]byte(`{
		"client_id_metadata_document_supported": true,
		"registration_endpoint": "https://id.example.com/oauth/register",
		"introspection_endpoint": "https://id.example.com/oauth/introspect",
		"introspection_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_post", "client_secret_basic"],
		"device_authorization_endpoint": "https://id.example.com/oauth/device_authorization",
		"grant_types_supported": ["authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:jwt-bearer", "urn:ietf:params:oauth:grant-type:token-exchange"],
		"authorization_grant_profiles_supported": ["urn:ietf:params:oauth:grant-profile:id-jag"],
		"scopes_supported": ["openid", "profile", "email", "groups", "tools", "tools/read", "apps"],
		"token_endpoint_auth_methods_supported": ["none", "private_key_jwt", "client_secret_post", "client_secret_basic"],
		"token_endpoint_auth_signing_alg_values_supported": ["RS256", "PS256", "ES256", "EdDSA"],
		"revocation_endpoint_auth_methods_supported": ["none", "private_key_jwt", "client_secret_post", "client_secret_basic"],
		"revocation_endpoint_auth_signing_alg_values_supported": ["RS256", "PS256", "ES256", "EdDSA"],
		"code_challenge_methods_supported": ["S256"],
		"authorization_response_iss_parameter_supported": true}`), &want); err != nil {
		t.Fatal(err)
	}
	got := h.metadata()
	for name, value := range want {
		if mustJSON(got[name]) != mustJSON(value) {
			t.Errorf("%s is %s, want %s", name, mustJSON(got[name]), mustJSON(value))
		}
	}
	off := newRegistrar(t, func(c *oauth.Config) { c.Clients.Documents = oauth.ClientsOff }).metadata()
	if off["client_id_metadata_document_supported"] != nil || mustJSON(off["token_endpoint_auth_methods_supported"]) !=
		`["none","client_secret_post","client_secret_basic","private_key_jwt"]` {
		t.Errorf("without documents: %v", off)
	}
}

// RFC 8414 3.3: a document whose issuer is not what the client has asked for must not be used. At the path
// of the bus there is none, and clients go on to the root.
func TestMetadataOfAnIssuerWithAPathIsNotThere(t *testing.T) {
	h := newRegistrar(t)
	for _, path := range []string{"/.well-known/oauth-authorization-server/api/mcp",
		"/.well-known/openid-configuration/api/mcp", "/.well-known/oauth-authorization-server/"} {
		if w := h.serve(httptest.NewRequest("GET", path, nil)); w.Code != 404 {
			t.Errorf("GET %s = %d", path, w.Code)
		}
	}
}

// RFC 8707: what a client makes of the address that its user has typed.
func TestResourceIsKnownInItsSpellings(t *testing.T) {
	h := newFixtureWith(t, oauth.TokensConfig{Resources: []string{issuer + "/api/mcp", issuer + "/api/mcp/b/"}})
	for sent, aud := range map[string]string{
		issuer: issuer, issuer + "/": issuer, "HTTPS://ID.Example.COM": issuer, "https://ID.EXAMPLE.COM/": issuer,
		issuer + "/api/mcp": issuer + "/api/mcp", issuer + "/api/mcp/": issuer + "/api/mcp",
		"https://ID.example.com/api/mcp/": issuer + "/api/mcp",
		issuer + "/api/mcp/b/x":           issuer + "/api/mcp/b/x", issuer + "/api/mcp/b/X/": issuer + "/api/mcp/b/X",
	} {
		for _, again := range []string{"-", sent, aud} { // at the token endpoint
			tokens := h.exchange(h.code("resource", sent), "resource", again).tokens(t)
			if c := payload(t, tokens.text("access_token")); c["aud"] != aud {
				t.Errorf("%s, then %s: aud = %v, want %s", sent, again, c["aud"], aud)
			}
			next := h.refresh(tokens.text("refresh_token"), "resource", again).tokens(t)
			if c := payload(t, next.text("access_token")); c["aud"] != aud {
				t.Errorf("%s, then a refresh for %s: aud = %v, want %s", sent, again, c["aud"], aud)
			}
		}
		if c := payload(t, h.token("grant_type", "client_credentials", "resource",
			sent).tokens(t).text("access_token")); c["aud"] != aud {
			t.Errorf("client_credentials for %s: aud = %v", sent, c["aud"])
		}
	}
	for _, bad := range []string{
		issuer + "//", issuer + "/api/mcp//", issuer + "/API/mcp", issuer + "/api/mcp#", issuer + "/api/mcp?",
		issuer + "/api/mcp/?x", issuer + "/api", issuer + "?", issuer + "#",
		issuer + "/api/mcp/b/", issuer + "/api/mcp/b", issuer + "/api/mcp/b/x//", "http://id.example.com/api/mcp", issuer +
			":443/api/mcp", "https://x@id.example.com/api/mcp", issuer + ".evil.example/", "/api/mcp", "api/mcp", "https://",
	} {
		h.token("grant_type", "client_credentials", "resource", bad).wants(t, bad, 400, 400, "invalid_target")
		if to := h.authorize("resource", bad).Header().Get("Location"); !strings.Contains(to, "error=invalid_target") {
			t.Errorf("authorize for %s leads to %q", bad, to)
		}
	}
	code := h.code("resource", issuer+"/api/mcp/")
	h.exchange(code, "resource", issuer+"/").wants(t, "another resource", 400, 400, "invalid_target")
}

// An application that registers itself has nothing sent anywhere.
func TestRegistrationNamesNobodyToTell(t *testing.T) {
	h := newRegistrar(t)
	a := h.answer(h.send("POST", "/oauth/register", "application/json", "", `{"redirect_uris":["https://agent.example/cb"],"backchannel_logout_uri":"http://127.0.0.1:1/","jwks_uri":"http://127.0.0.1:1/","logo_uri":"http://127.0.0.1:1/","software_statement":"x"}`))
	if a.status >= 500 {
		t.Fatalf("%d %v", a.status, a.body)
	}
	if a.status < 300 {
		if app := must(h.store.App(t.Context(), a.text("client_id")))(t); app.BackchannelLogoutURI != "" ||
			strings.Contains(mustJSON(app), "127.0.0.1:1") {
			t.Errorf("registered is %s", mustJSON(app))
		}
	}
}
