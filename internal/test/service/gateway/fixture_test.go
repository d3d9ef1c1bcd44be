package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

const (
	issuer    = "https://id.example.com"
	elsewhere = "https://id.example.com/api/mcp" // another audience
)

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

// fixture is a provider behind a gateway, with services.
type fixture struct {
	testing.TB
	backend  *faulty
	store    *storage.Store
	tokens   *oauth.Tokens
	audit    *gateway.Trail
	provider *oauth.Server
	gateway  *gateway.Gateway
	handler  http.Handler
	app      storage.App // free
	other    storage.App // white_label
	mux      *http.ServeMux
	svc      http.Handler // all of /svc/
}

// newFixture makes a fixture; edits change the gateway's Config.
func newFixture(t testing.TB, edits ...func(*gateway.Config)) *fixture {
	t.Helper()
	h := newNode(t, backend.New(t), storage.NewMasterKey(), edits...)
	h.apps()
	return h
}

// apps makes the applications.
func (h *fixture) apps() {
	h.Helper()
	h.app = must(h.store.SaveApp(h.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}}))(h)
	h.other = must(h.store.SaveApp(h.Context(), storage.App{Name: "Other", Domains: []string{"other.example.com"},
		Tier: storage.TierWhiteLabel}))(h)
}

// newNode makes a fixture without applications that may share its store with others.
func newNode(t testing.TB, b driver.Backend, key storage.MasterKey, edits ...func(*gateway.Config)) *fixture {
	t.Helper()
	h := &fixture{TB: t, backend: &faulty{Backend: b}}
	h.store = must(storage.Open(t.Context(), h.backend, key))(t)
	h.tokens = must(oauth.OpenTokens(context.Background(), oauth.TokensConfig{
		BaseURL: issuer, Store: h.store, Resources: []string{elsewhere}, SweepEvery: -1, StaleAfter: backend.StaleAfter,
	}))(t)
	t.Cleanup(func() { h.tokens.Close(context.Background()) })
	h.audit = must(gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: h.store, Log: quiet}))(t)
	t.Cleanup(func() { h.audit.Close(context.Background()) })
	c := gateway.Config{Store: h.store, Tokens: h.tokens, Trail: h.audit,
		Products: []string{"broken", "files", "inner", "outer", "proxied", "svc"}, Log: quiet}
	for _, edit := range edits {
		edit(&c)
	}
	h.gateway = must(gateway.New(t.Context(), c))(t)
	t.Cleanup(func() { h.gateway.Close(context.Background()) })
	h.provider = must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: h.tokens, SignIn: nobody{},
		Meter: h.gateway, Log: quiet}))(t)
	h.mux = http.NewServeMux()
	h.provider.Mount(h.mux)
	h.gateway.Mount(h.mux)
	h.mux.Handle("/ai/", h.gateway.Guard(gateway.ProductAI, http.HandlerFunc(service)))
	h.mux.Handle("/healthz/live", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	h.handler = h.gateway.Front(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/svc/") && h.svc != nil { // ServeMux would clean the path
			h.svc.ServeHTTP(w, r)
			return
		}
		h.mux.ServeHTTP(w, r)
	}))
	return h
}

// root is an administrator.
const root = "root"

// unlimited are plans without rates.
func unlimited() []billing.Plan {
	plans := billing.Plans()
	for i := range plans {
		plans[i].PerMinute = counters.Unlimited
	}
	return plans
}

// service is a product. The path names the status: /ai/500 answers 500.
func service(w http.ResponseWriter, r *http.Request) {
	caller, ok := gateway.CallerFrom(r.Context())
	status := 200
	fmt.Sscanf(strings.TrimPrefix(r.URL.Path, "/ai/"), "%d", &status)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Service", "ai")
	w.WriteHeader(status)
	text, _ := json.Marshal(map[string]any{"client_id": caller.AppID, "sub": caller.UserID, "known": ok})
	w.Write(text)
}

// answer is a received answer.
type answer struct {
	status int
	header http.Header
	text   string
	body   map[string]any
}

// number is a member of the body, found by a path such as data.quota.calls_limit.
func (a answer) number(path string) int64 {
	v := any(a.body)
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	f, ok := v.(float64)
	if !ok {
		return -99
	}
	return int64(f)
}

// call sends a request; bearer "" sends none. Headers are name, value, name, value.
func (h *fixture) call(method, target, bearer string, headers ...string) answer {
	return h.send(h.request(method, target, bearer, nil, headers...))
}

func (h *fixture) request(method, target, bearer string, body io.Reader, headers ...string) *http.Request {
	r := httptest.NewRequest(method, issuer+target, body)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "from" {
			r.RemoteAddr = headers[i+1]
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func (h *fixture) send(r *http.Request) answer {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	a := answer{status: w.Code, header: w.Header(), text: w.Body.String()}
	json.Unmarshal(w.Body.Bytes(), &a.body)
	return a
}

// post sends a form from an address, "" for the usual one.
func (h *fixture) post(target, from string, form url.Values) answer {
	r := h.request("POST", target, "", strings.NewReader(form.Encode()), "Content-Type",
		"application/x-www-form-urlencoded")
	if from != "" {
		r.RemoteAddr = from
	}
	return h.send(r)
}

// machine is a form for a token of an application itself.
func machine(app storage.App, more ...string) url.Values {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {app.ID},
		"client_secret": {app.AppKey().Reveal()}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

// bearer returns a token of an application. It is requested from an address of its own,
// directly at the provider, so that it counts nowhere.
func (h *fixture) bearer(app storage.App, more ...string) string {
	h.Helper()
	r := httptest.NewRequest("POST", issuer+"/oauth/token", strings.NewReader(machine(app, more...).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.provider.ServeHTTP(w, r)
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Token == "" {
		h.Fatalf("no token: %d %s", w.Code, w.Body)
	}
	return body.Token
}

// userBearer returns a token of a user, for the first application.
func (h *fixture) userBearer() string {
	h.Helper()
	user := must(h.store.CreateUser(h.Context(), storage.User{Username: "ada"},
		storage.Login{Method: storage.LoginSelf, Subject: "ada"}))(h)
	return forgery.Genuine(h, h.service(user.Sub))
}

func (h *fixture) service(sub string) forgery.Service {
	h.Helper()
	keys := must(h.store.SigningKeys(h.Context()))(h)
	return forgery.Service{Keys: keys, Issuer: issuer, ClientID: h.app.ID, Sub: sub}
}

func (h *fixture) want(a answer, status int, what string) answer {
	h.Helper()
	if a.status != status {
		h.Errorf("%s = %d %s, want %d", what, a.status, a.text, status)
	}
	return a
}

// used returns this month's calls of a product, as a quota record has them.
func (h *fixture) used(bearer, product string) int64 {
	h.Helper()
	return h.want(h.call("GET", "/api/v1/quota", bearer), 200, "quota").number("data.usage_this_month." + product)
}

// trail returns the audit trail's lines, once all of them are written.
func (h *fixture) trail() (events []event.Event) {
	h.Helper()
	if err := errors.Join(h.gateway.Close(context.Background()), h.audit.Close(context.Background())); err != nil {
		h.Error(err)
	}
	for _, r := range must(h.store.Records(context.Background(), 0, 1000))(h) {
		var e event.Event
		if err := json.Unmarshal(r.Data, &e); err != nil {
			h.Fatal(err)
		}
		if !strings.HasPrefix(e.Kind, "audit.") {
			events = append(events, e)
		}
	}
	return events
}

// nobody is a sign-in without visitors.
type nobody struct{}

func (nobody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (nobody) Proved(context.Context, storage.Session) (bool, error)     { return true, nil }
func (nobody) Ask(http.ResponseWriter, *http.Request, storage.App) error { return nil }
func (nobody) SignOut(http.ResponseWriter, *http.Request) error          { return nil }

// faulty is a backend that can be made to hang or to fail.
type faulty struct {
	driver.Backend
	mu      sync.Mutex
	hang    chan struct{} // not nil: reads wait for it
	fail    error
	refused string // the kind of documents that cannot be written
	reads   int
	get     func(kind string) // not nil: called with each read
}

// Unwrap makes it a driver.Shared if the Backend is one.
func (f *faulty) Unwrap() driver.Backend { return f.Backend }

func (f *faulty) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	f.mu.Lock()
	hang, fail := f.hang, f.fail
	f.reads++
	if f.get != nil {
		f.get(kind)
	}
	f.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if fail != nil {
		return driver.Doc{}, fail
	}
	return f.Backend.Get(ctx, kind, id)
}

func (f *faulty) set(hang chan struct{}, fail error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hang, f.fail = hang, fail
}
