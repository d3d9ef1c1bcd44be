package mcpbus_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

const (
	issuer  = "https://id.example.com"
	busURI  = issuer + "/api/mcp"
	version = "2026-07-28"
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

// fixture is a bus over a store in memory, with an upstream, a meter and tokens that a test
// moves by hand.
type fixture struct {
	testing.TB
	store  *storage.Store
	bus    *mcpbus.Bus
	calls  *calls
	meter  *meter
	tokens *tokens
}

// newFixture makes a fixture with the tools of two members, pets and maths; edits change the
// bus's Config.
func newFixture(t testing.TB, edits ...func(*mcpbus.Config)) *fixture {
	t.Helper()
	h := emptyFixture(t)
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"), rest("post", "addPet"),
		rest("delete", "dropPet"))
	h.register(capability("maths", "https://maths.example.com"), rest("get", "add"))
	h.open(edits...)
	return h
}

func emptyFixture(t testing.TB) *fixture {
	t.Helper()
	b := memory.New()
	t.Cleanup(func() { b.Close() })
	h := &fixture{TB: t, calls: &calls{}, meter: &meter{}, tokens: &tokens{known: map[string]storage.Caller{}}}
	h.tokens.give("app", storage.Caller{AppID: "app1", Scope: "app", Audience: issuer}, 168*time.Hour)
	h.tokens.give("agent", storage.Caller{AppID: "app1", UserID: "u1", Scope: "openid tools", Audience: busURI,
		Actors: []string{"app1", "planner"}}, 168*time.Hour)
	h.tokens.give("user", storage.Caller{AppID: "app1", UserID: "u1", Scope: "openid tools", Audience: busURI},
		168*time.Hour)
	h.store = must(storage.Open(t.Context(), b, storage.NewMasterKey()))(t)
	return h
}

func (h *fixture) open(edits ...func(*mcpbus.Config)) {
	h.Helper()
	c := mcpbus.Config{BaseURL: issuer, Store: h.store, Invoker: h.calls, Meter: h.meter, Audit: h.meter,
		Verifier: h.tokens, DefaultAccess: storage.AccessEveryone, Log: quiet}
	for _, edit := range edits {
		edit(&c)
	}
	b := must(mcpbus.New(h.Context(), c))(h)
	h.bus = b
	h.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			h.Error(err)
		}
	})
}

func capability(member, upstream string) storage.Capability {
	return storage.Capability{Member: member, Kind: storage.CapabilityREST, UpstreamURL: upstream, Publish: true,
		Owner: "u1"}
}

func rest(method, name string) toolplan.Tool {
	return toolplan.Tool{
		Name: name, Method: method, Path: "/" + name, Description: "calls " + name,
		InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}}}`),
		Call:        &toolplan.Call{Template: "/" + name, Params: []toolplan.Param{{Arg: "id", Name: "id", In: "query"}}},
	}
}

// register writes a capability, over the one that is there.
func (h *fixture) register(c storage.Capability, tools ...toolplan.Tool) storage.Capability {
	h.Helper()
	if old, err := h.store.Capability(context.Background(), c.Member); err == nil {
		c.Version, c.CreatedAt = old.Version, old.CreatedAt
	}
	return must(h.store.SaveCapability(context.Background(), c, tools))(h)
}

func (h *fixture) reload() {
	h.Helper()
	if err := h.bus.Reload(context.Background()); err != nil {
		h.Fatal(err)
	}
}
