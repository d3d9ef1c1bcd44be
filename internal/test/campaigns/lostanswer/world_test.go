package lostanswer_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

const (
	origin   = "https://id.example.com"
	callback = "https://app.example.com/cb"
	password = "correct horse battery"
)

// upstream is a shop that tools call. It is no part of a bubble: no connection to it is kept open,
// because the clock of a bubble stands still as long as there is one.
type upstream struct {
	*httptest.Server
	calls atomic.Int64
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.calls.Add(1)
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":"7"}`)
	}))
	t.Cleanup(u.Close)
	return u
}

// world is a service whose database is behind a wire, and a look at the same database past it.
type world struct {
	testing.TB
	wire    *wire
	shop    *upstream
	service *keystile.Service
	sees    *postgres.Store
	n       int // of people and objects made, so that none is like another
	refused int // answers 503

	trail map[string]uint64 // the audit trail as far as it was read: where each record stands
	read  uint64
}

// newWorld opens a service. It is called in a bubble, with what was made outside.
func newWorld(t *testing.T, w *wire, through, direct, schema string, shop *upstream) *world {
	t.Helper()
	ctx := context.Background()
	open := func(dsn string) *postgres.Store {
		s, err := postgres.Open(ctx, dsn, postgres.Options{Schema: schema, PollOnly: true, Conns: 2, Log: quiet})
		fatal(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	h := &world{TB: t, wire: w, shop: shop, sees: open(direct), trail: map[string]uint64{}}
	var err error
	h.service, err = keystile.New(ctx, keystile.Config{
		BaseURL: origin, Backend: clockless{open(through)}, MasterKey: storage.NewMasterKey(), Journal: t.TempDir(),
		Log:                   quiet,
		AllowPrivateUpstreams: []string{"127.0.0.1"},
		SignIn:                signin.Config{Passwords: cheap},
		Gateway:               gateway.Config{PerAddress: counters.Unlimited},
	})
	fatal(t, err)
	t.Cleanup(func() {
		if err := h.service.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	h.service.Handle("/ai/", h.service.Gateway.Guard(gateway.ProductAI,
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "42") })))
	return h
}

// clockless is a store without a clock: that of a bubble is years away from the database's.
type clockless struct{ *postgres.Store }

// Now hides the clock of the database.
func (clockless) Now() {}

var (
	quiet = slog.New(slog.DiscardHandler)
	cheap = passwords.New(passwords.Cost{Memory: 64, Passes: 1})
)

func fatal(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// somebody makes a user with a password.
func (w *world) somebody(role string) storage.User {
	w.Helper()
	w.n++
	u, err := users.New(w.service.Store, cheap).Create(w.Context(),
		storage.User{Username: fmt.Sprintf("user%d", w.n), Role: role}, password)
	fatal(w, err)
	return u
}

// app makes an application, whose calls are not limited and whose users are not asked for consent.
func (w *world) app(owner string) storage.App {
	w.Helper()
	w.n++
	a, err := w.service.Store.SaveApp(w.Context(), storage.App{
		Name: fmt.Sprintf("App%d", w.n), Domains: []string{"app.example.com"}, Owner: owner, FirstParty: true,
		Tier: storage.TierEnterprise,
	})
	fatal(w, err)
	return a
}

// must is send for what has to be answered with a status.
func (w *world) must(status int, q request) answer {
	w.Helper()
	a := w.send(q)
	if a.Code != status {
		w.Errorf("%s %s = %d, want %d (after %d times 503): %s", q.method, q.target, a.Code, status, a.refused,
			brief(a.Body.String()))
	}
	return a
}

func brief(text string) string { return text[:min(len(text), 300)] }

// signedIn returns the cookie of a user.
func (w *world) signedIn(u storage.User) string {
	w.Helper()
	return w.must(303, post("/oauth/signin", url.Values{"username": {u.Username},
		"password": {password}})).cookie("open_sso_token")
}

func (w *world) authorize(a storage.App, cookie, scope string) request {
	q := url.Values{"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {callback}, "scope": {scope}}
	return get("/oauth/authorize?"+q.Encode(), session(cookie)...)
}

// code returns the code that a browser is sent back with.
func (a answer) code() string {
	to, err := a.Result().Location()
	if err != nil {
		return ""
	}
	return to.Query().Get("code")
}

func (w *world) redeem(a storage.App, code string) request {
	return w.token(a, "authorization_code", "code", code, "redirect_uri", callback)
}

func (w *world) token(a storage.App, grant string, more ...string) request {
	form := url.Values{"grant_type": {grant}, "client_id": {a.ID}, "client_secret": {a.AppKey().Reveal()}}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return post("/oauth/token", form)
}

func (w *world) refresh(a storage.App, handle string) request {
	return w.token(a, "refresh_token", "refresh_token", handle)
}

// granted returns the tokens of a user for an application.
func (w *world) granted(a storage.App, u storage.User, scope string) answer {
	w.Helper()
	cookie := w.signedIn(u)
	if scope != "openid" {
		w.consent(a, u, cookie, scope)
	}
	code := w.must(302, w.authorize(a, cookie, scope)).code()
	return w.must(200, w.redeem(a, code))
}

// consent lets a user allow what an application asks for.
func (w *world) consent(a storage.App, u storage.User, cookie, scope string) {
	w.Helper()
	q := url.Values{"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {callback}, "scope": {scope}}
	w.send(post("/oauth/signin/consent", url.Values{"query": {q.Encode()}, "user": {u.Sub}, "scope": {scope},
		"allow": {"1"}}, session(cookie)...))
}

func (w *world) machine(a storage.App) string {
	w.Helper()
	return w.must(200, w.token(a, "client_credentials")).text("access_token")
}

// charged returns what was counted for an application and a product.
func (w *world) charged(a storage.App, product string) (calls int64) {
	w.Helper()
	now := time.Now()
	rows, err := w.sees.Usage(w.Context(), driver.UsageQuery{AppID: a.ID, Product: product, From: now.Add(-48 * time.Hour),
		To: now.Add(time.Hour), Daily: true})
	fatal(w, err)
	for _, r := range rows {
		calls += r.Calls
	}
	return calls
}
