package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

// tools is the number of tools that the bus lists at first, on three pages.
const tools = 250

var quiet = slog.New(slog.DiscardHandler)

// fixture holds the provider, the gateway and the bus on a port of their own.
type fixture struct {
	*testing.T
	url    string
	store  *storage.Store
	bus    *mcpbus.Bus
	bearer string
}

func newFixture(t *testing.T, edits ...func(*mcpbus.Config)) *fixture {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewUnstartedServer(nil)
	h := &fixture{T: t, url: "http://" + server.Listener.Addr().String()}
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	h.store = must(storage.Open(t.Context(), backend, storage.NewMasterKey()))(t)
	tokens := must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{BaseURL: h.url, Store: h.store, SweepEvery: -1}))(t)
	provider := must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: tokens, SignIn: nobody{},
		Log: quiet}))(t)
	trail := must(gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: h.store, Log: quiet}))(t)
	t.Cleanup(func() { trail.Close(context.Background()) })
	g := must(gateway.New(t.Context(), gateway.Config{Store: h.store, Tokens: tokens, Trail: trail, Log: quiet}))(t)
	t.Cleanup(func() { g.Close(context.Background()) })
	h.register("pets", tools)
	c := mcpbus.Config{BaseURL: h.url, Store: h.store, Invoker: echo{}, Meter: free{}, Verifier: tokens,
		DefaultAccess: storage.AccessEveryone, PageSize: 100, Log: quiet}
	for _, edit := range edits {
		edit(&c)
	}
	h.bus = must(mcpbus.New(t.Context(), c))(t)
	app := must(h.store.SaveApp(t.Context(), storage.App{Name: "Peer", Domains: []string{"app.example.com"},
		Tier: storage.TierWhiteLabel}))(t)
	mux.Handle("/oauth/", provider)
	for _, path := range h.bus.Patterns() {
		mux.Handle(path, g.Meter("", h.bus))
	}
	server.Config.Handler = g.Front(mux)
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { h.bus.Close(context.Background()) }) // before the server, which waits for streams
	h.bearer = h.token(app)
	return h
}

// register makes n tools of a member: pets__tool000 and so on.
func (h *fixture) register(member string, n int) {
	h.Helper()
	list := make([]toolplan.Tool, n)
	for i := range list {
		list[i] = toolplan.Tool{
			Name: fmt.Sprintf("tool%03d", i), Method: "get", Path: "/x", Description: fmt.Sprint("tool ", i),
			InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`), Call: &toolplan.Call{Template: "/x"},
		}
	}
	c := storage.Capability{Member: member, Kind: storage.CapabilityREST, UpstreamURL: "https://upstream.example.com",
		Publish: true, Owner: "u1"}
	must(h.store.SaveCapability(h.Context(), c, list))(h.T)
}

func (h *fixture) token(app storage.App) string {
	h.Helper()
	resp := must(http.PostForm(h.url+"/oauth/token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {app.ID}, "client_secret": {app.AppKey().Reveal()},
	}))(h.T)
	defer resp.Body.Close()
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Token == "" {
		h.Fatalf("no token: %d, %v", resp.StatusCode, err)
	}
	return body.Token
}

// echo is an upstream that answers with the arguments, in a list if they say so.
type echo struct{}

func (echo) Call(_ context.Context, _ storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (mcpbus.Result, error) {
	answer := json.RawMessage(arguments)
	if strings.HasSuffix(t.Name, "9") {
		answer = append(append(json.RawMessage("["), arguments...), ']')
	}
	text, _ := json.Marshal(map[string]string{"type": "text", "text": t.Name + " " + string(answer)})
	return mcpbus.Result{Content: []json.RawMessage{text}, Structured: answer, Dispatched: true, Status: 200}, nil
}

// free is a meter that counts nothing.
type free struct{}

func (free) ChargeOnce(context.Context, storage.Caller, string, string, []byte, time.Duration, bool) error {
	return nil
}
func (free) Quota(context.Context, storage.Caller) (limit, remaining int64, reset time.Time, ok bool) {
	return 0, 0, time.Time{}, false
}
func (free) Note(event.Event) {}

// nobody is a sign-in without visitors.
type nobody struct{}

func (nobody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (nobody) Proved(context.Context, storage.Session) (bool, error)     { return true, nil }
func (nobody) Ask(http.ResponseWriter, *http.Request, storage.App) error { return nil }
func (nobody) SignOut(http.ResponseWriter, *http.Request) error          { return nil }

// serve puts a handler on a port of its own.
func serve(t *testing.T, handler http.Handler) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
