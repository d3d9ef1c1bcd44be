package oidc_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/connector/fake"
	"github.com/keystile/keystile/oauth/signin/connector/oidc"
)

const (
	origin = "http://127.0.0.1:8080"
	issuer = origin + fake.Path + "/oidc"
	back   = origin + "/oauth/signin/with/oidc/return"
	state  = "0123456789abcdef0123456789abcdef"
)

// provider is a fake issuer without a network, whose answers a test may replace.
type provider struct {
	*fake.Fake
	t       testing.TB
	mu      sync.Mutex
	asked   map[string]int // requests by the last segment of their path
	replace map[string]http.HandlerFunc
	c       oidc.Config
}

// one is made once: drawing keys takes its time.
var one = sync.OnceValues(func() (*fake.Fake, error) {
	return fake.New(fake.Config{BaseURL: origin, Log: slog.New(slog.DiscardHandler)})
})

func newProvider(t testing.TB) *provider {
	t.Helper()
	f, err := one()
	must(t, err)
	p := &provider{Fake: f, t: t, asked: map[string]int{}, replace: map[string]http.HandlerFunc{}, c: f.Configs().OIDC}
	p.c.Client = &http.Client{Transport: p}
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// RoundTrip answers a request of the connector.
func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	last := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	p.mu.Lock()
	p.asked[last]++
	answer := p.replace[last]
	p.mu.Unlock()
	w := httptest.NewRecorder()
	if answer == nil {
		answer = p.Fake.ServeHTTP
	}
	answer(w, r)
	return w.Result(), nil
}

func (p *provider) instead(last string, answer http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replace[last] = answer
}

func (p *provider) count(last string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[last]
}

func (p *provider) connect() connector.Connector {
	p.t.Helper()
	c, err := oidc.New(p.c)
	must(p.t, err)
	return c
}

// visit goes to the provider and returns what the browser brings back.
func (p *provider) visit(c connector.Connector, state, person, fault string) url.Values {
	p.t.Helper()
	address, err := c.Begin(p.t.Context(), connector.Visit{State: state, Back: back})
	must(p.t, err)
	at, err := url.Parse(address)
	must(p.t, err)
	return p.leave(at, person, fault)
}

// leave signs in on the provider's page, and returns what the browser brings back.
func (p *provider) leave(at *url.URL, person, fault string) url.Values {
	p.t.Helper()
	form := url.Values{"query": {at.RawQuery}, "person": {person}, "fault": {fault}}
	r := httptest.NewRequest("POST", at.Path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	to, err := url.Parse(w.Header().Get("Location"))
	if err != nil || w.Code != http.StatusFound {
		p.t.Fatalf("the page of the provider: %d %s", w.Code, w.Body)
	}
	return to.Query()
}

func (p *provider) finish(c connector.Connector, query url.Values) (connector.Profile, error) {
	return c.Finish(p.t.Context(), back, query)
}

// signIn is a whole visit.
func (p *provider) signIn(c connector.Connector, person, fault string) (connector.Profile, error) {
	p.t.Helper()
	return p.finish(c, p.visit(c, state, person, fault))
}

// wantTrouble wants an error for the operator that says why.
func wantTrouble(t testing.TB, what string, profile connector.Profile, err error, why string) {
	t.Helper()
	if trouble := (*connector.Trouble)(nil); !errors.As(err, &trouble) || !strings.Contains(err.Error(), why) ||
		len(profile.Subjects) > 0 {
		t.Errorf("%s: %+v, %v; want a Trouble with %q", what, profile, err, why)
	}
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// leaving returns why a browser cannot leave for a provider.
func leaving(ctx context.Context, c connector.Connector) error {
	_, err := c.Begin(ctx, connector.Visit{State: state, Back: back})
	return err
}

// begun returns where a browser leaves for, "" if it cannot.
func begun(ctx context.Context, c connector.Connector, asked connector.Asked) string {
	to, _ := c.Begin(ctx, connector.Visit{State: state, Back: back, Asked: asked})
	return to
}
