package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const issuer = "https://id.example.com"

var quiet = slog.New(slog.DiscardHandler)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// service is a Keystile service: the provider and the gateway, reached without a network.
type service struct {
	testing.TB
	store    *storage.Store
	tokens   *oauth.Tokens
	provider *oauth.Server
	gateway  *gateway.Gateway
	app      storage.App
	handler  http.Handler

	mu       sync.Mutex
	requests map[string]int                                    // requests, by path
	away     error                                             // what reaching it fails with
	override func(w http.ResponseWriter, r *http.Request) bool // answers in its place, if it returns true
}

func newService(t testing.TB, resources ...string) *service {
	t.Helper()
	return newServiceAt(t, issuer, resources...)
}

func newServiceAt(t testing.TB, base string, resources ...string) *service {
	t.Helper()
	s := &service{TB: t, requests: map[string]int{}}
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	s.store = must(storage.Open(t.Context(), backend, storage.NewMasterKey()))(t)
	s.tokens = must(oauth.OpenTokens(context.Background(), oauth.TokensConfig{BaseURL: base, Store: s.store,
		Resources: resources, SweepEvery: -1}))(t)
	trail := must(gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: s.store, Log: quiet}))(t)
	t.Cleanup(func() { trail.Close(context.Background()) })
	s.gateway = must(gateway.New(t.Context(), gateway.Config{Store: s.store, Tokens: s.tokens, Trail: trail,
		Log: quiet}))(t)
	t.Cleanup(func() { s.gateway.Close(context.Background()) })
	s.provider = must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: s.tokens, SignIn: nobody{},
		Meter: s.gateway, Log: quiet}))(t)
	s.app = must(s.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}}))(t)
	mux := http.NewServeMux()
	s.provider.Mount(mux)
	s.gateway.Mount(mux)
	s.handler = s.gateway.Front(mux)
	return s
}

// nobody is a sign-in without visitors.
type nobody struct{}

func (nobody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (nobody) Proved(context.Context, storage.Session) (bool, error)     { return true, nil }
func (nobody) Ask(http.ResponseWriter, *http.Request, storage.App) error { return nil }
func (nobody) SignOut(http.ResponseWriter, *http.Request) error          { return nil }

// RoundTrip implements http.RoundTripper.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.requests[r.URL.Path]++
	failed, override := s.away, s.override
	s.mu.Unlock()
	if !strings.HasPrefix(r.URL.String(), issuer+"/") {
		s.Errorf("%s is asked", r.URL)
	}
	if failed != nil {
		return nil, failed
	}
	w := httptest.NewRecorder()
	if override == nil || !override(w, r) {
		in := httptest.NewRequest(r.Method, r.URL.String(), nil).WithContext(r.Context())
		in.Header = r.Header
		s.handler.ServeHTTP(w, in)
	}
	return w.Result(), r.Context().Err()
}

// set changes how the service can be reached.
func (s *service) set(failed error, override func(http.ResponseWriter, *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away, s.override = failed, override
}

func (s *service) times(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[path]
}

func (s *service) verifier(edits ...func(*remote.Config)) *remote.Verifier {
	s.Helper()
	c := remote.Config{BaseURL: issuer, Client: &http.Client{Transport: s}, Log: quiet}
	for _, edit := range edits {
		edit(&c)
	}
	return must(remote.New(s.Context(), c))(s)
}

// bearer returns a token of the application.
func (s *service) bearer(more ...string) string {
	s.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {s.app.ID},
		"client_secret": {s.app.AppKey().Reveal()}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	r := httptest.NewRequest("POST", issuer+"/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.provider.ServeHTTP(w, r)
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Token == "" {
		s.Fatalf("no token: %d %s", w.Code, w.Body)
	}
	return body.Token
}

// forged returns the service whose tokens are forged.
func (s *service) forged(scope string) forgery.Service {
	s.Helper()
	keys := must(s.store.SigningKeys(s.Context()))(s)
	return forgery.Service{Keys: keys, Issuer: issuer, ClientID: s.app.ID, Sub: "u1", Scope: scope}
}

// status returns the status of a Verify error, 200 if there is none.
func status(t testing.TB, err error) int {
	t.Helper()
	var why *remote.Error
	if err != nil && !errors.As(err, &why) {
		t.Errorf("%v is no *Error", err)
	}
	if why == nil {
		return 200
	}
	return why.Status
}

func wantStatus(t testing.TB, err error, want int, what string) {
	t.Helper()
	if got := status(t, err); got != want {
		t.Errorf("%s: %d, %v, want %d", what, got, err, want)
	}
}

// serve sends a request with an Authorization header, if there is one.
func serve(h http.Handler, authorization string) (*http.Response, string) {
	r := httptest.NewRequest("GET", "https://reports.example.com/", nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}
