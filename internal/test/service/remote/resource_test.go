package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

const (
	resource = "https://api.example.com/mcp"
	document = "https://api.example.com/.well-known/oauth-protected-resource/mcp"
)

var whoCalls = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	caller, ok := remote.CallerFrom(r.Context())
	fmt.Fprint(w, caller.AppID != "", caller.UserID, ok)
})

func mounted(t *testing.T, v *remote.Verifier, scopes ...string) *http.ServeMux {
	t.Helper()
	mux := http.NewServeMux()
	if err := v.Mount(mux, resource, whoCalls, scopes...); err != nil {
		t.Fatal(err)
	}
	return mux
}

func ask(h http.Handler, method, url, bearer string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, url, nil)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestMountedResourceTakesTokensThatAreForItAlone(t *testing.T) {
	const other = "https://api.example.com/other"
	s := newService(t, resource, other)
	of := func(audience, scope string) string {
		f := s.forged(scope)
		f.Audience = audience
		return forgery.Genuine(t, f)
	}
	// Audiences are those of Require: they open no resource.
	h := mounted(t, s.verifier(func(c *remote.Config) { c.Audiences = []string{other} }), "openid", "profile")
	where := `resource_metadata="` + document + `"`
	little := `Bearer error="insufficient_scope", scope="openid profile", ` + where
	for _, c := range []struct {
		name, bearer, challenge string
		status                  int
	}{
		{"a user's token for it", of(resource, "openid profile email"), "", 200},
		{"no token", "", `Bearer ` + where + `, scope="openid profile"`, 401},
		{"a token for Keystile", of(issuer, "openid profile"), `Bearer error="invalid_token", ` + where +
			`, scope="openid profile"`, 401},
		{"a token for another resource", of(other, "openid profile"), `Bearer error="invalid_token", ` + where +
			`, scope="openid profile"`, 401},
		{"too little scope", of(resource, "openid"), little, 403},
		{"a token of an application for it", s.bearer("resource", resource), little, 403},
	} {
		w := ask(h, "POST", resource, c.bearer)
		if w.Code != c.status || w.Header().Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: %d, %s, want %d, %s", c.name, w.Code, w.Header().Get("WWW-Authenticate"), c.status, c.challenge)
		}
		if c.status == 200 && w.Body.String() != "trueu1true" {
			t.Errorf("%s: the handler sees %s", c.name, w.Body)
		}
	}
	if w := ask(mounted(t, s.verifier()), "POST", resource, ""); w.Header().Get("WWW-Authenticate") != "Bearer "+where {
		t.Errorf("without scopes: %s", w.Header().Get("WWW-Authenticate"))
	}
}

func TestDocumentOfAMountedResourceSaysWhereToSignIn(t *testing.T) {
	h := mounted(t, newService(t).verifier(), "openid")
	w := ask(h, "GET", document, "")
	const want = `{"resource":"https://api.example.com/mcp","authorization_servers":["https://id.example.com"],` +
		`"scopes_supported":["openid"],"bearer_methods_supported":["header"],"dpop_signing_alg_values_supported":["ES256","EdDSA","RS256","PS256"],"dpop_bound_access_tokens_required":false}`
	if w.Code != 200 || w.Body.String() != want || w.Header().Get("Access-Control-Allow-Origin") != "*" ||
		w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s, want %s", w.Code, w.Header(), w.Body, want)
	}
	if w := ask(h, "HEAD", document, ""); w.Code != 200 {
		t.Errorf("HEAD = %d", w.Code)
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if w := ask(h, method, document, ""); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s = %d, Allow %s", method, w.Code, w.Header().Get("Allow"))
		}
	}
	root := http.NewServeMux()
	if err := newService(t).verifier().Mount(root, "https://api.example.com", whoCalls); err != nil {
		t.Fatal(err)
	}
	w = ask(root, "GET", "https://api.example.com/.well-known/oauth-protected-resource", "")
	if w.Code != 200 || strings.Contains(w.Body.String(), "scopes_supported") {
		t.Errorf("of a whole host: %d %s", w.Code, w.Body)
	}
	if w := ask(root, "GET", "https://api.example.com/any/page", ""); w.Code != 401 {
		t.Errorf("a page of a whole host: %d", w.Code)
	}
}

func TestMountRefusesAddressesThatClientsCannotUse(t *testing.T) {
	s := newService(t)
	for address, ok := range map[string]bool{
		resource: true, "http://127.0.0.1:8080/mcp": true, "https://api.example.com/v1/mcp": true,
		"https://api.example.com/": false, "https://api.example.com/mcp/": false, "https://api.example.com/mcp?a=b": false,
		"https://api.example.com/mcp#a": false, "https://api.example.com/a/../mcp": false, "//api.example.com/mcp": false,
		"https://api.example.com/{x}": false, "https://API.example.com/mcp": false, "http://api.example.com/mcp": false,
		"https://u@api.example.com/mcp": false, `https://api.example.com/"`: false, "https://api.example.com/a%20b": false,
		"/mcp": false, "": false, "%zz": false, "https://api.example.com/é": false,
	} {
		mux := http.NewServeMux()
		err := s.verifier().Mount(mux, address, whoCalls)
		if (err == nil) != ok {
			t.Errorf("Mount at %q: %v", address, err)
		}
		if _, pattern := mux.Handler(httptest.NewRequest("GET", resource, nil)); !ok && pattern != "" {
			t.Errorf("Mount at %q fails and serves %s", address, pattern)
		}
	}
	asking := s.verifier(func(c *remote.Config) { c.CheckEvery = time.Minute })
	err := asking.Mount(http.NewServeMux(), resource, whoCalls)
	if err == nil || !strings.Contains(err.Error(), "CheckEvery") {
		t.Errorf("Mount with CheckEvery: %v", err)
	}
}

// Beside the Keystile service, in its process.
func TestResourceWithTheTokensOfItsProcessLearnsOfRevocationsAtOnce(t *testing.T) {
	s := newService(t, resource)
	v := s.verifier(func(c *remote.Config) { c.Tokens = s.tokens })
	h, bearer := mounted(t, v), s.bearer("resource", resource)
	if w := ask(h, "POST", resource, bearer); w.Code != 200 || w.Body.String() != "truetrue" {
		t.Errorf("a good token: %d %s", w.Code, w.Body)
	}
	if w := ask(h, "POST", resource, s.bearer()); w.Code != 401 {
		t.Errorf("a token for Keystile: %d", w.Code)
	}
	caller := must(s.tokens.Verify(t.Context(), bearer, resource))(t)
	if err := s.tokens.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeGrant, ID: caller.Grant}); err != nil {
		t.Fatal(err)
	}
	if w := ask(h, "POST", resource, bearer); w.Code != 401 {
		t.Errorf("a revoked token: %d", w.Code)
	}
	if err := v.Ready(t.Context()); err != nil || s.times("/oauth/jwks") != 0 {
		t.Errorf("Ready = %v; the keys were fetched %d times, want none", err, s.times("/oauth/jwks"))
	}
	away := mounted(t, s.verifier(func(c *remote.Config) { c.Tokens = undecided{} }))
	if w := ask(away, "POST", resource, bearer); w.Code != 503 || w.Header().Get("Retry-After") != "1" {
		t.Errorf("while nobody can tell: %d %v", w.Code, w.Header())
	}
	_, err := remote.New(t.Context(), remote.Config{BaseURL: issuer, Tokens: s.tokens, CheckEvery: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "leave CheckEvery out") {
		t.Errorf("New with Tokens and CheckEvery: %v", err)
	}
}

type undecided struct{}

func (undecided) Verify(context.Context, string, ...string) (storage.Caller, error) {
	return storage.Caller{}, errors.New("the store is away")
}
