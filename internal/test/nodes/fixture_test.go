package nodes

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
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

// cluster is a database with services on it.
type cluster struct {
	testing.TB
	database *database
	key      storage.MasterKey
	app      storage.App
	user     storage.User
}

// node is one service and its way to the database.
type node struct {
	*keystile.Service
	cluster *cluster
	link    *link
	log     *logged
}

// newCluster makes a database with an application, a user and a capability.
func newCluster(t testing.TB) *cluster {
	t.Helper()
	c := &cluster{TB: t, database: newDatabase(), key: storage.NewMasterKey()}
	t.Cleanup(func() { c.database.now().Close() })
	s := must(storage.Open(t.Context(), c.database.link(), c.key))(t)
	c.user = must(s.CreateUser(t.Context(), storage.User{Username: "ada", Role: storage.RoleDeveloper}))(t)
	c.app = must(s.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"},
		Owner: c.user.Sub}))(t)
	must(s.SaveCapability(t.Context(), storage.Capability{Member: "pets", Kind: storage.CapabilityStatic,
		UpstreamURL: "https://pets.example.com", Publish: true, Owner: c.user.Sub},
		[]toolplan.Tool{{Name: "get", Description: "gets", InputSchema: json.RawMessage(`{"type":"object"}`)}}))(t)
	return c
}

// node starts a service. edits change its Config and its link.
func (c *cluster) node(edits ...func(*keystile.Config, *link)) *node {
	c.Helper()
	n := &node{cluster: c, link: c.database.link(), log: new(logged)}
	config := keystile.Config{BaseURL: origin, Backend: n.link, MasterKey: c.key,
		Log: slog.New(slog.NewTextHandler(n.log, nil))}
	config.Tokens.SweepEvery = -1
	for _, edit := range edits {
		edit(&config, n.link)
	}
	n.Service = must(keystile.New(c.Context(), config))(c)
	c.Cleanup(func() { n.Close(context.Background()) })
	n.Handle("/ai/", n.Gateway.Guard(gateway.ProductAI, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	return n
}

// listening makes a node hear of changes.
func listening(_ *keystile.Config, l *link) { l.hints = true }

// bearer returns an access token of the user, by the application, for everything.
func (n *node) bearer() string {
	n.cluster.Helper()
	keys := must(n.Store.SigningKeys(n.cluster.Context()))(n.cluster)
	return forgery.Genuine(n.cluster, forgery.Service{Keys: keys, Issuer: origin, ClientID: n.cluster.app.ID,
		Sub: n.cluster.user.Sub, Scope: "openid profile apps tools"})
}

// call sends a request with a bearer token.
func (n *node) call(method, path, bearer, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, origin+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	w := httptest.NewRecorder()
	n.ServeHTTP(w, r)
	return w
}

func (n *node) get(path, bearer string) *httptest.ResponseRecorder {
	return n.call("GET", path, bearer, "")
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// hasTools reports whether the tools of pets are listed for a bearer.
func (n *node) hasTools(bearer string) bool {
	n.cluster.Helper()
	w := n.call("POST", "/api/mcp", bearer, listTools)
	if w.Code != 200 {
		n.cluster.Fatalf("tools/list: %d %s", w.Code, w.Body)
	}
	return strings.Contains(w.Body.String(), "pets__get")
}

// form posts a form with the application's credentials.
func (n *node) form(path string, form url.Values) *httptest.ResponseRecorder {
	n.cluster.Helper()
	form.Set("client_id", n.cluster.app.ID)
	form.Set("client_secret", n.cluster.app.AppKey().Reveal())
	r := httptest.NewRequest("POST", origin+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if n.ServeHTTP(w, r); w.Code != 200 {
		n.cluster.Fatalf("POST %s: %d %s", path, w.Code, w.Body)
	}
	return w
}

// revoke ends a token at the revocation endpoint.
func (n *node) revoke(bearer string) {
	n.cluster.Helper()
	n.form("/oauth/revoke", url.Values{"token": {bearer}})
}

// want checks the status of a call to a guarded service.
func (n *node) want(status int, bearer, what string) {
	n.cluster.Helper()
	w := n.get("/ai/x", bearer)
	if w.Code != status {
		n.cluster.Errorf("%s: %d %s, want %d", what, w.Code, w.Body, status)
	}
	if status == 503 && w.Header().Get("Retry-After") == "" {
		n.cluster.Errorf("%s: no Retry-After", what)
	}
}

// logged holds what a node has logged.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines returns how many lines hold a text.
func (l *logged) lines(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
