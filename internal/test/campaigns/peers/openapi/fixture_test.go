package openapi

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

// fixture is the registrar, and the bus on a port of its own. Its upstreams are on this machine.
type fixture struct {
	url      string
	registry *registry.Registry
	bus      *mcpbus.Bus
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	quiet, local := slog.New(slog.DiscardHandler), []string{"127.0.0.1/32"}
	server := httptest.NewUnstartedServer(nil)
	h := &fixture{url: "http://" + server.Listener.Addr().String()}
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store := must(storage.Open(t.Context(), backend, storage.NewMasterKey()))(t)
	h.registry = must(registry.New(t.Context(), registry.Config{BaseURL: h.url, Store: store, Visitors: nobody{},
		NoDelivery: true, AllowPrivateUpstreams: local, Log: quiet}))(t)
	upstreams := must(mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: local, Log: quiet}))(t)
	h.bus = must(mcpbus.New(t.Context(), mcpbus.Config{
		BaseURL: h.url, Store: store, Invoker: upstreams, Meter: free{}, Verifier: anybody{h.url + mcpbus.Path},
		DefaultAccess: storage.AccessEveryone, Log: quiet,
	}))(t)
	server.Config.Handler = h.bus
	server.Start()
	t.Cleanup(func() {
		h.bus.Close(context.Background())
		upstreams.Close(context.Background())
		server.Close()
	})
	return h
}

// register makes the tools of a document, which are called at an address.
func (h *fixture) register(t *testing.T, member, upstream string, document []byte) []toolplan.Tool {
	t.Helper()
	all := true
	done, err := h.registry.Register(t.Context(), storage.User{Sub: "u1", Role: storage.RoleAdmin}, registry.Request{
		Member: member, UpstreamURL: upstream, OpenAPI: document, ResolveRefs: &all,
	})
	if err != nil {
		t.Fatal(err)
	}
	return done.Tools
}

// call calls a tool and returns what the bus says of a failure, "" if it worked.
func (h *fixture) call(t *testing.T, name string, arguments tree) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", h.url+mcpbus.Path, strings.NewReader(string(encoded(t, tree{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tree{"name": name, "arguments": arguments},
	}))))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer app"}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Result *struct{ IsError bool }
	}
	if err := json.Unmarshal(text, &body); err != nil || body.Result == nil || body.Result.IsError {
		return string(text)
	}
	return ""
}

// anybody takes every bearer for an application's.
type anybody struct{ audience string }

func (a anybody) Verify(context.Context, string, ...string) (storage.Caller, error) {
	return storage.Caller{AppID: "app", Scope: "app", Audience: a.audience, ExpiresAt: time.Now().Add(time.Hour)}, nil
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

func (nobody) Proved(context.Context, storage.Session) (bool, error) { return true, nil }

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
