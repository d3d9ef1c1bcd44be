package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/toolpins"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/lint"
	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

const (
	base = "https://id.example.com"
	all  = "/api/console/capabilities"
)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fixture holds a registrar with sign-in and an OAuth server.
type fixture struct {
	testing.TB
	backend  *faulty
	store    *storage.Store
	users    *users.StoreUsers
	signIn   *signin.SignIn
	tokens   *oauth.Tokens
	provider *oauth.Server
	registry *registry.Registry
	pins     *pins.Pins
	log      *record

	mu        sync.Mutex // guards what follows
	reloads   int
	leftOut   map[string]string
	events    []event.Event
	notices   []event.Notice
	unwritten error
}

// newFixture makes a fixture; edits change the registrar's Config.
func newFixture(t testing.TB, edits ...func(*registry.Config)) *fixture {
	t.Helper()
	return newNode(t, backend.New(t), storage.NewMasterKey(), edits...)
}

// newNode makes a fixture that may share its store with others.
func newNode(t testing.TB, b driver.Backend, key storage.MasterKey, edits ...func(*registry.Config)) *fixture {
	t.Helper()
	h := &fixture{TB: t, backend: &faulty{Backend: b}, log: &record{}}
	quiet := slog.New(slog.DiscardHandler)
	h.store = must(storage.Open(t.Context(), h.backend, key))(t)
	passwords := passwords.New(passwords.Cost{Memory: 64, Passes: 1})
	h.users = users.New(h.store, passwords)
	h.signIn = must(signin.New(t.Context(), signin.Config{BaseURL: base, Store: h.store, Users: h.users.Host(),
		Log: quiet}))(t)
	h.tokens = must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: base, Store: h.store, SweepEvery: -1,
		StaleAfter: backend.StaleAfter}))(t)
	t.Cleanup(func() { h.tokens.Close(context.Background()) })
	h.provider = must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: h.tokens, SignIn: h.signIn,
		Log: quiet}))(t)
	h.pins = must(pins.New(pins.Config{Store: h.store, Audit: h, Notifier: h, Log: quiet}))(t)
	c := registry.Config{
		BaseURL: base, Store: h.store, Visitors: h.signIn, Audit: h, Bus: h, NoDelivery: true, Pins: h.pins,
		Validator: lint.Check,
		Log:       slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, edit := range edits {
		edit(&c)
	}
	h.registry = must(registry.New(t.Context(), c))(t)
	return h
}

// Reload makes the fixture the registrar's Bus.
func (h *fixture) Reload(context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reloads++
	return nil
}

// Update counts as a Reload: the bus is told.
func (h *fixture) Update(ctx context.Context, _ storage.Capability, _ []toolplan.Tool, _ int64) error {
	return h.Reload(ctx)
}

func (h *fixture) WhyUnlisted(member string) string { return h.leftOut[member] }

// NoteNow makes the fixture the registrar's Audit.
func (h *fixture) NoteNow(_ context.Context, e event.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.unwritten == nil {
		h.events = append(h.events, e)
	}
	return h.unwritten
}

// Notify makes the fixture the Notifier of the pins.
func (h *fixture) Notify(_ context.Context, _ string, n event.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notices = append(h.notices, n)
}

// found tells the pins what the upstream of a capability lists, as the bus does.
func (h *fixture) found(member string, tools ...toolplan.Tool) (live []toolplan.Tool) {
	h.Helper()
	c, accepted, err := h.store.Tools(h.Context(), member)
	if err != nil {
		h.Fatal(err)
	}
	if _, accepted, err = h.pins.Found(h.Context(), c, accepted, tools); err != nil {
		h.Fatal(err)
	}
	live, _, _ = toolpins.Compare(accepted, tools)
	return live
}

// record is a log.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

const password = "correct horse battery"

// user makes a user with a role.
func (h *fixture) user(name, role string) storage.User {
	h.Helper()
	return must(h.users.Create(h.Context(), storage.User{Username: name, Role: role}, password))(h)
}

// visitor is a user's browser: the header of its cookie.
func (h *fixture) visitor(u storage.User) string {
	h.Helper()
	cookie, now := handle.NewCookie(), time.Now()
	must(h.store.SaveSession(h.Context(), storage.Session{
		ID: handle.Hash(cookie), UserID: u.Sub, AuthTime: now, ExpiresAt: now.Add(24 * time.Hour),
		EndsAt: now.Add(24 * time.Hour),
	}))(h)
	return "open_sso_token=" + cookie
}

// developer is the browser of a new user with that role.
func (h *fixture) developer(name string) string {
	h.Helper()
	return h.visitor(h.user(name, storage.RoleDeveloper))
}

// response holds the answer to a request.
type response struct {
	status int
	header http.Header
	text   string
	body   struct {
		Code    int
		Errcode int
		Msg     string
		Data    struct {
			Member    string
			Kind      string
			ToolCount int `json:"tool_count"`
			Warning   string
			Lint      []string
			Skipped   []toolplan.Skip
			Tools     []toolplan.Tool `json:"tools_static"`
		}
	}
}

// request sends a request of a page of ours; cookie "" sends none. Headers are name, value.
func (h *fixture) request(method, target, cookie string, body io.Reader, headers ...string) response {
	return h.requestContext(h.Context(), method, target, cookie, body, headers...)
}

func (h *fixture) requestContext(ctx context.Context, method, target, cookie string, body io.Reader,
	headers ...string) response {
	r := httptest.NewRequestWithContext(ctx, method, base+target, body)
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	if method == http.MethodPost || method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.registry.ServeHTTP(w, r)
	a := response{status: w.Code, header: w.Header(), text: w.Body.String()}
	json.Unmarshal(w.Body.Bytes(), &a.body)
	return a
}

// register sends a registration.
func (h *fixture) register(cookie, body string) response {
	return h.request("POST", all+"/register", cookie, strings.NewReader(body))
}

func (h *fixture) want(a response, status, code int, what string) response {
	h.Helper()
	if a.status != status || a.body.Code != code {
		h.Errorf("%s = %d %s, want %d with code %d", what, a.status, a.text, status, code)
	}
	return a
}

// stored describes what the store has of a capability, "" for nothing.
func (h *fixture) stored(member string) string {
	h.Helper()
	c, tools, err := h.store.Tools(h.Context(), member)
	if errors.Is(err, storage.ErrNotFound) {
		return ""
	}
	if err != nil {
		h.Fatal(err)
	}
	text := fmt.Sprintf("%s %s %s %q %s/%s publish=%t", c.Member, c.Kind, c.UpstreamURL, c.Label, c.AuthType,
		c.AuthSecret.Reveal(), c.Publish)
	for _, t := range tools {
		text += " " + t.Name
	}
	return text
}

// document is an OpenAPI document whose operations have these names.
func document(names ...string) string {
	var paths []string
	for _, name := range names {
		paths = append(paths, fmt.Sprintf(`"/%s":{"get":{"operationId":"%[1]s"}}`, name))
	}
	return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{` + strings.Join(paths, ",") + `}}`
}

// standard is a registration with such a document.
func standard(member string, names ...string) string {
	return fmt.Sprintf(`{"member":%q,"upstream_url":"https://api.example.com","openapi":%s}`, member, document(names...))
}
