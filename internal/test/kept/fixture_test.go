package kept

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

const origin = "https://id.example.com"

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// fixture is a service that can be closed while time passes.
type fixture struct {
	testing.TB
	*keystile.Service
	backend driver.Backend
	key     storage.MasterKey

	ann, mal, root, carl storage.User // two developers, an administrator, and the caller
	app                  storage.App
}

func newFixture(t testing.TB) *fixture {
	h := &fixture{TB: t, backend: memory.New(), key: storage.NewMasterKey()}
	h.open()
	t.Cleanup(func() { h.Close(context.WithoutCancel(t.Context())); h.backend.Close() })
	user := func(name, role string) storage.User {
		return must(h.Store.CreateUser(t.Context(), storage.User{Username: name, Role: role}))(t)
	}
	h.ann, h.mal, h.root, h.carl = user("ann", storage.RoleDeveloper), user("mal", storage.RoleDeveloper),
		user("root", storage.RoleAdmin), user("carl", "")
	h.app = must(h.Store.SaveApp(t.Context(), storage.App{Name: "Agent", Domains: []string{"agent.example.com"},
		Owner: h.root.Sub}))(t)
	return h
}

func (h *fixture) open() {
	c := keystile.Config{BaseURL: origin, Backend: h.backend, MasterKey: h.key, Log: slog.New(slog.DiscardHandler)}
	c.Tokens.SweepEvery = -1
	c.Bus.DefaultAccess = storage.AccessEveryone
	h.Service = must(keystile.New(h.Context(), c))(h)
}

// later lets time pass while nothing runs.
func (h *fixture) later(d time.Duration) {
	h.Close(h.Context())
	time.Sleep(d)
	h.open()
}

func (h *fixture) send(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, origin+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// browser returns the Cookie header of a user who has just signed in.
func (h *fixture) browser(u storage.User) string {
	cookie, now := handle.NewCookie(), time.Now()
	must(h.Store.SaveSession(h.Context(), storage.Session{
		ID: handle.Hash(cookie), UserID: u.Sub, AuthTime: now, ExpiresAt: now.Add(24 * time.Hour),
		EndsAt: now.Add(24 * time.Hour),
	}))(h)
	return "open_sso_token=" + cookie
}

// register registers a capability with the tool order, and returns the status and the answer.
func (h *fixture) register(u storage.User, member string) (int, string) {
	w := h.send("POST", "/api/console/capabilities/register", fmt.Sprintf(`{"member":%q,"upstream_url":"https://%s.example.com","tools_static":[{"name":"order","httpMethod":"get","path":"/%s/order"}]}`, member, u.Username, u.Username),
		"Content-Type", "application/json", "Cookie", h.browser(u), "Sec-Fetch-Site", "same-origin")
	return w.Code, w.Body.String()
}

func (h *fixture) wantRegistered(status int, u storage.User, member, what string) {
	h.Helper()
	if code, text := h.register(u, member); code != status {
		h.Errorf("%s: %s registers %s = %d %s, want %d", what, u.Username, member, code, text, status)
	}
}

func (h *fixture) remove(u storage.User, member string) {
	h.Helper()
	if w := h.send("DELETE", "/api/console/capabilities/"+member, "", "Cookie", h.browser(u), "Sec-Fetch-Site",
		"same-origin"); w.Code != 200 {
		h.Fatalf("%s removes %s = %d %s", u.Username, member, w.Code, w.Body)
	}
}

// finds returns the tools that a bearer text opens, at an address of the bus.
func (h *fixture) finds(bearer, address string) []string {
	h.Helper()
	w := h.send("POST", address, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Content-Type", "application/json", "Accept", "application/json", "Authorization", "Bearer "+bearer)
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); w.Code != 200 || err != nil {
		h.Fatalf("tools/list at %s = %d %s", address, w.Code, w.Body)
	}
	names := []string{}
	for _, tool := range answer.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// authorize asks for a scope in carl's browser, and returns the code, "" if he is asked for consent.
func (h *fixture) authorize(scope string) string {
	h.Helper()
	w := h.send("GET", "/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {h.app.ID}, "redirect_uri": {"https://agent.example.com/cb"},
		"scope": {scope}, "state": {"s"},
	}.Encode(), "", "Cookie", h.browser(h.carl))
	to, _ := url.Parse(w.Header().Get("Location"))
	if w.Code != 302 && w.Code != 303 && w.Code != 200 {
		h.Fatalf("authorize = %d %s", w.Code, w.Body)
	}
	return to.Query().Get("code")
}

// consent stores what carl's answer on the page of consent does.
func (h *fixture) consent(scope string) {
	h.Helper()
	c, err := h.Store.Consent(h.Context(), h.app.ID, h.carl.Sub)
	if err != nil {
		c = storage.Consent{AppID: h.app.ID, UserID: h.carl.Sub, Terms: h.app.Terms()}
	}
	must(h.Store.SaveConsent(h.Context(), c.With(scope)))(h)
}

// token exchanges a code or a refresh token.
func (h *fixture) token(grant, name, value string) (bearer, refresh string) {
	h.Helper()
	form := url.Values{"grant_type": {grant}, name: {value}, "client_id": {h.app.ID},
		"client_secret": {h.app.AppKey().Reveal()}, "redirect_uri": {"https://agent.example.com/cb"}}
	w := h.send("POST", "/oauth/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Access == "" {
		h.Fatalf("%s = %d %s", grant, w.Code, w.Body)
	}
	return got.Access, got.Refresh
}

func (h *fixture) apiKey(scope string) string {
	h.Helper()
	text, _, err := apikeys.Make(h.Context(), h.Store, h.carl.Sub, "script", scope, 365*24*time.Hour)
	if err != nil {
		h.Fatal(err)
	}
	return text
}

func (h *fixture) bundle(tools ...string) {
	h.Helper()
	must(h.Store.SaveBundle(h.Context(), access.Bundle{Name: "support", Tools: tools}))(h)
	if err := h.Bus.Reload(h.Context()); err != nil {
		h.Fatal(err)
	}
}
