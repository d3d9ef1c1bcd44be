package remote_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/internal/test/proofs"
	"github.com/keystile/keystile/storage"
)

// boundToken returns a token of the application that is bound to a key.
func (s *service) boundToken(key *proofs.Key, pairs ...string) string {
	s.Helper()
	app := s.app
	app.DPoP = storage.DPoPRequired
	s.app = must(s.store.SaveApp(s.Context(), app))(s)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ID},
		"client_secret": {app.AppKey().Reveal()}}
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	nonce := ""
	for range 2 {
		r := httptest.NewRequest("POST", issuer+"/oauth/token", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("DPoP", key.New("POST", issuer+"/oauth/token", nonce, "").Text(key))
		w := httptest.NewRecorder()
		s.provider.ServeHTTP(w, r)
		if nonce = w.Header().Get("DPoP-Nonce"); w.Code == 200 {
			_, rest, _ := strings.Cut(w.Body.String(), `"access_token":"`)
			access, _, _ := strings.Cut(rest, `"`)
			return access
		}
	}
	s.Fatal("no token")
	return ""
}

// asks sends requests with proofs of an address to a handler, until no nonce is asked for.
func asks(h http.Handler, key *proofs.Key, scheme, access, address, target string) *httptest.ResponseRecorder {
	nonce := ""
	for {
		r := httptest.NewRequest("GET", target, nil)
		r.Header.Set("Authorization", scheme+" "+access)
		r.Header.Set("DPoP", key.New("GET", address, nonce, access).Text(key))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if next := w.Header().Get("DPoP-Nonce"); w.Code < 400 || next == "" || nonce != "" {
			return w
		}
		nonce = w.Header().Get("DPoP-Nonce")
	}
}

func TestServiceElsewhereTakesABoundTokenWithItsProofAlone(t *testing.T) {
	const resource = "https://api.example.com/mcp"
	s := newService(t, resource)
	key := proofs.NewKey("ES256")
	own, there := s.boundToken(key), s.boundToken(key, "resource", resource)
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, _ := remote.CallerFrom(r.Context()); c.KeyThumbprint != key.Thumbprint() {
			t.Errorf("caller %+v", c)
		}
	})
	verifier := func(p remote.Proofs, every time.Duration) *remote.Verifier {
		return must(remote.New(t.Context(), remote.Config{BaseURL: issuer, Client: &http.Client{Transport: s}, Log: quiet,
			Proofs: p, CheckEvery: every}))(t)
	}
	v := verifier(remote.Proofs{Origin: "https://svc.example.com"}, 0)
	mux := http.NewServeMux()
	if err := v.Mount(mux, resource, ok); err != nil {
		t.Fatal(err)
	}
	nameless := verifier(remote.Proofs{}, 0)
	asking := verifier(remote.Proofs{Origin: "https://svc.example.com"}, time.Minute)
	for _, c := range []struct {
		name            string
		h               http.Handler
		scheme, access  string
		address, target string
		status          int
	}{
		{"the service's own token", v.Require()(ok), "DPoP", own, "https://svc.example.com/x", "/x?y=1", 200},
		{"as Bearer", v.Require()(ok), "Bearer", own, "https://svc.example.com/x", "/x", 401},
		{"with a proof for the issuer", v.Require()(ok), "DPoP", own, issuer + "/x", "/x", 401},
		{"with a proof for another path", v.Require()(ok), "DPoP", own, "https://svc.example.com/y", "/x", 401},
		{"of a service that knows no origin", nameless.Require()(ok), "DPoP", own, "https://svc.example.com/x", "/x", 401},
		{"of a service that asks", asking.Require()(ok), "DPoP", own, "https://svc.example.com/x", "/x", 401},
		{"the token of a resource", mux, "DPoP", there, resource, "/mcp", 200},
		{"the token of a resource as Bearer", mux, "Bearer", there, resource, "/mcp", 401},
		{"the token of a resource elsewhere", mux, "DPoP", there, "https://evil.example/mcp", "/mcp", 401},
	} {
		w := asks(c.h, key, c.scheme, c.access, c.address, c.target)
		if w.Code != c.status || w.Code == 401 && !strings.Contains(w.Header().Get("WWW-Authenticate"), "error=") {
			t.Errorf("%s: %d %v %s", c.name, w.Code, w.Header(), w.Body)
		}
	}
	if _, err := v.Verify(t.Context(), own); err == nil {
		t.Error("Verify takes the token for a bearer token")
	}
	w := asks(mux, key, "Basic", there, resource, "/mcp")
	if said := w.Header().Values("WWW-Authenticate"); len(said) != 2 ||
		!strings.HasPrefix(said[0], "Bearer resource_metadata=") || !strings.HasPrefix(said[1], `DPoP algs="ES256`) {
		t.Errorf("without a token: %q", said)
	}
}

func TestProcessesOfAServiceElsewhereShareWhatTheyHaveSeen(t *testing.T) {
	s := newService(t)
	key := proofs.NewKey("ES256")
	access := s.boundToken(key)
	seen := map[string]bool{}
	p := remote.Proofs{Origin: "https://svc.example.com", Key: []byte(strings.Repeat("k", 32)),
		Once: func(_ context.Context, id []byte, _ time.Time) (bool, error) {
			before := seen[string(id)]
			seen[string(id)] = true
			return !before, nil
		}}
	var nodes []http.Handler
	for range 2 {
		v := must(remote.New(t.Context(), remote.Config{BaseURL: issuer, Client: &http.Client{Transport: s}, Log: quiet,
			Proofs: p}))(t)
		nodes = append(nodes, v.Require()(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	}
	send := func(h http.Handler, proof string) *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", "/x", nil), httptest.NewRecorder()
		r.Header.Set("Authorization", "DPoP "+access)
		r.Header.Set("DPoP", proof)
		h.ServeHTTP(w, r)
		return w
	}
	nonce := send(nodes[0], key.New("GET", p.Origin+"/x", "", access).Text(key)).Header().Get("DPoP-Nonce")
	proof := key.New("GET", p.Origin+"/x", nonce, access).Text(key)
	if w := send(nodes[1], proof); w.Code != 200 {
		t.Errorf("the nonce of another process: %d %s", w.Code, w.Body)
	}
	if w := send(nodes[0], proof); w.Code != 401 {
		t.Errorf("again at another process: %d", w.Code)
	}
}

func TestProofsOfAServiceElsewhereAreShutWhereTheyAreHalfSet(t *testing.T) {
	once := func(context.Context, []byte, time.Time) (bool, error) { return true, nil }
	for _, p := range []remote.Proofs{{Origin: "svc.example.com"}, {Origin: "https://svc.example.com/x"}, {Once: once},
		{Key: make([]byte, 32)}, {Key: make([]byte, 31), Once: once}} {
		if _, err := remote.New(t.Context(), remote.Config{BaseURL: issuer, Proofs: p}); err == nil ||
			!strings.Contains(err.Error(), "Proofs.") {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
