package lasthop

import (
	"bytes"
	"cmp"
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

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/memory"
)

const base = "http://127.0.0.1:8080"

// service is a whole service, and what calls of it reach.
type service struct {
	testing.TB
	*keystile.Service
	app storage.App
	up  *upstream
	alg string // of access tokens
}

// start makes a service with a product and a capability of each kind, whose identity is what is chosen.
func start(t testing.TB, told lasthop.Identity, with ...func(*keystile.Config)) *service {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	c := keystile.Config{BaseURL: base, Backend: backend, MasterKey: storage.NewMasterKey(),
		Log: slog.New(slog.DiscardHandler), AllowPrivateUpstreams: []string{"127.0.0.0/8"}}
	c.Bus.DefaultAccess = storage.AccessEveryone
	for _, w := range with {
		w(&c)
	}
	made, err := keystile.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	h := &service{TB: t, Service: made, up: newUpstream(t), alg: c.Tokens.SigningAlg}
	t.Cleanup(func() { h.Close(context.Background()) })
	if h.app, err = h.Store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"a.example"}}); err != nil {
		t.Fatal(err)
	}
	proxy, err := h.Gateway.Proxy(gateway.Upstream{Product: gateway.ProductAI, URL: h.up.URL, Strip: "/ai",
		Identity: told})
	if err != nil {
		t.Fatal(err)
	}
	h.Handle("/ai/", proxy)
	if told.Kind != lasthop.Bearer {
		h.register(registry.Request{Member: "shop", UpstreamURL: h.up.URL, Identity: told,
			OpenAPI: json.RawMessage(document)})
		h.register(registry.Request{Member: "agents", UpstreamURL: h.up.URL + "/mcp", Identity: told})
	}
	return h
}

const document = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/get":{"get":{"operationId":"get",` +
	`"parameters":[{"name":"own","in":"header","schema":{"type":"string"}},` +
	`{"name":"Keystile-Caller","in":"header","schema":{"type":"string"}},` +
	`{"name":"keystile_caller","in":"header","schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`

var administrator = storage.User{Sub: "u-admin", Role: storage.RoleAdmin}

func (h *service) register(q registry.Request) {
	h.Helper()
	done, err := h.Registry.Register(h.Context(), administrator, q)
	if err != nil || done.ToolCount == 0 {
		h.Fatalf("%s is registered with %d tools, %v", q.Member, done.ToolCount, err)
	}
}

// bearer returns a token of a user, for whom others act.
func (h *service) bearer(sub string, actors ...string) string {
	h.Helper()
	return h.signed(func(c *token.Claims) { c.Subject, c.Actors = sub, actors })
}

func (h *service) signed(change func(*token.Claims)) string {
	h.Helper()
	keys, err := token.OpenKeys(h.Context(), h.Store, cmp.Or(h.alg, token.ES256))
	if err != nil {
		h.Fatal(err)
	}
	now := time.Now()
	c := token.Claims{Issuer: base, Subject: h.app.ID, Audience: base, ClientID: h.app.ID, Scope: "app tools openid",
		ID: handle.NewGrant(now), Grant: handle.NewGrant(now), IssuedAt: now, ExpiresAt: now.Add(time.Hour)}
	change(&c)
	text, err := keys.SignAccess(c)
	if err != nil {
		h.Fatal(err)
	}
	return text
}

// ways are those in which a call reaches its upstream.
var ways = []string{"ai", "shop__get", "agents__one"}

// call calls by a way, and returns what the upstream was sent and what the caller was answered. Headers are by exact
// name.
func (h *service) call(way, bearer string, headers http.Header) (http.Header, *httptest.ResponseRecorder) {
	h.Helper()
	path, body := "/ai/get", ""
	if way != "ai" {
		path, body = "/api/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,`+
			`"arguments":{}}}`, way)
	}
	r := httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(body))
	for name, values := range headers {
		r.Header[name] = values
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	before := len(h.up.calls())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if calls := h.up.calls(); w.Code == http.StatusOK && len(calls) == before+1 {
		return calls[before], w
	}
	h.Fatalf("%s is answered %d %s, and has reached the upstream %d times", way, w.Code, w.Body, len(h.up.calls())-before)
	return nil, nil
}

// callers verifies statements, by the keys that the service publishes, for its upstream.
func (h *service) callers() *remote.Callers {
	h.Helper()
	v, err := remote.New(h.Context(), remote.Config{BaseURL: base, Client: &http.Client{Transport: within{h}},
		Pause: time.Nanosecond})
	if err != nil {
		h.Fatal(err)
	}
	c, err := v.Callers(h.up.URL, "ai", "shop", "agents")
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// within sends requests to a handler.
type within struct{ http.Handler }

func (h within) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result(), nil
}

// upstream is a service behind Keystile, and an MCP endpoint of one tool at /mcp. Its answers repeat what it was sent.
type upstream struct {
	*httptest.Server
	mu      sync.Mutex
	called  []http.Header // of the calls
	others  []http.Header // of what else an MCP client sends
	forward string        // where it redirects to; "": nowhere
}

func newUpstream(t testing.TB) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(u)
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) calls() []http.Header {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.called
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct {
		ID     json.RawMessage
		Method string
	}
	if r.URL.Path == "/mcp" {
		json.Unmarshal(body, &q)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if q.Method != "" && q.Method != "tools/call" {
		u.others = append(u.others, r.Header.Clone())
	} else {
		u.called = append(u.called, r.Header.Clone())
	}
	if u.forward != "" && (q.Method == "" || q.Method == "tools/call") {
		http.Redirect(w, r, u.forward+r.URL.Path, http.StatusTemporaryRedirect)
		return
	}
	var sent bytes.Buffer
	r.Header.Write(&sent)
	echo, _ := json.Marshal(sent.String())
	w.Header().Set("Content-Type", "application/json")
	result := fmt.Sprintf(`{"echo":%s}`, echo)
	switch q.Method {
	case "":
		io.WriteString(w, result)
		return
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"one","description":"one","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, echo)
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, result)
}
