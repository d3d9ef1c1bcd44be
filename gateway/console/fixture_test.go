package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

const base = "https://id.example.com"

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fixture is a console with users and tokens.
type fixture struct {
	testing.TB
	store    *storage.Store
	users    *users.StoreUsers
	signIn   *signin.SignIn
	provider *oauth.Server
	console  *console.Console

	mu      sync.Mutex // guards what follows
	events  []event.Event
	notices []string
	unsaved error // what the trail answers
	forgot  []string
}

// newFixture makes a fixture; edits change the Config.
func newFixture(t testing.TB, edits ...func(*console.Config)) *fixture {
	t.Helper()
	return newNode(t, backend.New(t), storage.NewMasterKey(), edits...)
}

// newNode makes a fixture that may share its store with others.
func newNode(t testing.TB, b driver.Backend, key storage.MasterKey, edits ...func(*console.Config)) *fixture {
	t.Helper()
	h := &fixture{TB: t}
	quiet := slog.New(slog.DiscardHandler)
	h.store = must(storage.Open(t.Context(), b, key))(t)
	h.users = users.New(h.store, passwords.New(passwords.Cost{Memory: 64, Passes: 1}))
	h.signIn = must(signin.New(t.Context(), signin.Config{BaseURL: base, Store: h.store, Users: h.users.Host(),
		Log: quiet}))(t)
	tokens := must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: base, Store: h.store, SweepEvery: -1,
		StaleAfter: backend.StaleAfter}))(t)
	t.Cleanup(func() { tokens.Close(context.Background()) })
	h.provider = must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: tokens, SignIn: h.signIn,
		Log: quiet}))(t)
	c := console.Config{
		BaseURL: base, Store: h.store, Visitors: h.signIn, Visit: h.signIn.Visit, Users: h.users, Passwords: h.users,
		Revoker: tokens, Trail: h, Notifier: h, Log: quiet,
		Billing:    must(billing.New(billing.Config{Store: h.store}))(t),
		ForgetApp:  func(id string) { h.forgot = append(h.forgot, id) },
		ForgetUser: func(id string) { h.forgot = append(h.forgot, id) }, Origins: []string{"https://console.example.com"},
		Ways:           access.Ways{{Method: storage.LoginSelf, SignUp: access.SignUpInvitation}},
		InvitationPage: base + "/oauth/signin/signup",
	}
	c.Usage = must(usage.New(usage.Config{Store: h.store, Billing: c.Billing}))(t)
	for _, edit := range edits {
		edit(&c)
	}
	h.console = must(console.New(t.Context(), c))(t)
	t.Cleanup(func() { h.console.Close(context.Background()) })
	return h
}

// NoteNow makes the fixture the Trail.
func (h *fixture) NoteNow(_ context.Context, e event.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	return h.unsaved
}

// Notify makes it the Notifier.
func (h *fixture) Notify(_ context.Context, sub string, n event.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notices = append(h.notices, fmt.Sprintf("%s: %s %q %s", sub, n.Kind, n.App, n.Detail))
	if n.At.IsZero() || !n.IP.IsValid() || n.Agent != "curl/8" {
		h.Errorf("a notice does not say when, from where and by what: %+v", n)
	}
}

const password = "correct horse battery"

// testUser is a user with a browser: the header of its cookie.
type testUser struct {
	storage.User
	cookie string
}

// testUser makes a user with a role, who has just signed in.
func (h *fixture) testUser(name, role string) testUser {
	h.Helper()
	u := must(h.users.Create(h.Context(), storage.User{Username: name, Role: role}, password))(h)
	return testUser{u, h.signedIn(u.Sub, time.Now())}
}

// signedIn is the cookie of a browser in which a user has signed in at a time.
func (h *fixture) signedIn(sub string, at time.Time) string {
	h.Helper()
	cookie, now := handle.NewCookie(), time.Now()
	must(h.store.SaveSession(h.Context(), storage.Session{
		ID: handle.Hash(cookie), UserID: sub, AuthTime: at, ExpiresAt: now.Add(24 * time.Hour),
		EndsAt: now.Add(24 * time.Hour),
	}))(h)
	return "open_sso_token=" + cookie
}

// app makes an application of an owner's.
func (h *fixture) app(name, owner string) storage.App {
	h.Helper()
	return must(h.store.SaveApp(h.Context(), storage.App{Name: name,
		Domains: []string{strings.ToLower(name) + ".example.com"}, Owner: owner}))(h)
}

// waits makes an order that waits for an application.
func (h *fixture) waits(app storage.App) (storage.App, string) {
	h.Helper()
	order := storage.Order{ID: handle.NewOrderID(time.Now()), AppID: app.ID, Owner: app.Owner, By: app.Owner, From: "free",
		Tier: "white_label", AmountFen: 99_900, CreatedAt: time.Now()}
	order.Status, app.Order = storage.OrderPending, order.ID
	order, app, err := h.store.SaveOrder(h.Context(), order, app)
	if err != nil {
		h.Fatal(err)
	}
	return app, order.ID
}

// answer is a received answer.
type answer struct {
	status int
	text   string
	body   struct {
		Code, Errcode int
		Msg           string
		Data          map[string]any
	}
}

// call sends JSON with a cookie. Headers are name, value, name, value; an empty value
// takes one away.
func (h *fixture) call(method, target, cookie string, body io.Reader, headers ...string) answer {
	r := httptest.NewRequest(method, base+target, body)
	r.Header.Set("User-Agent", "curl/8")
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	if method != "GET" && method != "DELETE" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	h.console.ServeHTTP(w, r)
	a := answer{status: w.Code, text: w.Body.String()}
	json.Unmarshal(w.Body.Bytes(), &a.body)
	return a
}

func (h *fixture) do(method, target, cookie, body string) answer {
	return h.call(method, target, cookie, strings.NewReader(body))
}

func (h *fixture) want(a answer, status, code int, what string) answer {
	h.Helper()
	if a.status != status || a.body.Code != code || code != 1 && (a.body.Errcode != code || a.body.Msg == "") {
		h.Errorf("%s = %d %s, want %d with code %d", what, a.status, a.text, status, code)
	}
	return a
}

// trail returns the audit trail, a line for each act.
func (h *fixture) trail() string {
	var all strings.Builder
	for _, e := range h.events {
		fmt.Fprintf(&all, "%s: %s\n", e.Kind, e.Detail)
	}
	return all.String()
}

// each is every endpoint with every method that it has, and a body that it takes.
func each(app, order, sub string) []struct {
	method, path, body string
	admin              bool
} {
	return []struct {
		method, path, body string
		admin              bool
	}{
		{"GET", "/api/console/apps", "", false},
		{"POST", "/api/console/apps", `{"name":"Shop","domains":["shop.example.com"]}`, false},
		{"GET", "/api/console/apps/" + app, "", false},
		{"PATCH", "/api/console/apps/" + app, `{"name":"Mine"}`, false},
		{"DELETE", "/api/console/apps/" + app, "", false},
		{"POST", "/api/console/apps/" + app + "/secret", `{}`, false},
		{"GET", "/api/console/orders", "", false},
		{"GET", "/api/console/orders/" + order, "", false},
		{"DELETE", "/api/console/orders/" + order, "", false},
		{"POST", "/api/console/orders/" + order + "/approve", `{}`, true},
		{"POST", "/api/console/orders/" + order + "/reject", `{}`, true},
		{"GET", "/api/console/users", "", true},
		{"POST", "/api/console/users", `{"username":"x","password":"` + password + `"}`, true},
		{"GET", "/api/console/users/" + sub, "", true},
		{"PATCH", "/api/console/users/" + sub, `{"role":"admin"}`, true},
	}
}

// nobody is a Visitors without visitors.
type nobody struct{}

func (nobody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (nobody) Proved(context.Context, storage.Session) (bool, error) { return true, nil }
