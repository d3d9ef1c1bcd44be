package mcpbus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

const issuer = "https://id.example.com"

var quiet = slog.New(slog.DiscardHandler)

// Types that a program hands over as they are.
var (
	_ mcpbus.Meter    = (*gateway.Gateway)(nil)
	_ mcpbus.Verifier = (*oauth.Tokens)(nil)
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

// node is a bus behind the gateway, with the provider that issues its tokens.
type node struct {
	store    *storage.Store
	provider *oauth.Server
	gateway  *gateway.Gateway
	bus      *mcpbus.Bus
	bill     *bill
}

// newNode makes a node on a store that it may share with others; share changes the gateway's Config.
func newNode(t testing.TB, b driver.Backend, key storage.MasterKey, to *bill, share func(*gateway.Config)) *node {
	t.Helper()
	n := &node{store: must(storage.Open(t.Context(), b, key))(t), bill: to}
	tokens := must(oauth.OpenTokens(t.Context(), oauth.TokensConfig{
		BaseURL: issuer, Store: n.store, Resources: append(mcpbus.Resources(issuer), issuer+"/api/x"), SweepEvery: -1,
		StaleAfter: backend.StaleAfter,
	}))(t)
	t.Cleanup(func() { tokens.Close(context.Background()) })
	n.provider = must(oauth.New(t.Context(), oauth.Config{NoDelivery: true, Tokens: tokens, SignIn: nobody{},
		Log: quiet}))(t)
	trail := must(gateway.OpenTrail(t.Context(), gateway.TrailConfig{Store: n.store, Log: quiet}))(t)
	t.Cleanup(func() { trail.Close(context.Background()) })
	c := gateway.Config{Store: n.store, Tokens: tokens, Trail: trail, Log: quiet, PerAddress: counters.Unlimited}
	share(&c)
	n.gateway = must(gateway.New(t.Context(), c))(t)
	t.Cleanup(func() { n.gateway.Close(context.Background()) })
	n.bus = must(mcpbus.New(t.Context(), mcpbus.Config{
		BaseURL: issuer, Store: n.store, Invoker: executor{must(restcall.New(restcall.Config{Transport: petShop{}}))(t)},
		Meter: to, Audit: to, Verifier: tokens, DefaultAccess: storage.AccessEveryone, Log: quiet,
	}))(t)
	t.Cleanup(func() {
		if err := n.bus.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}

// nobody is a sign-in without visitors.
type nobody struct{}

func (nobody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (nobody) Proved(context.Context, storage.Session) (bool, error)     { return true, nil }
func (nobody) Ask(http.ResponseWriter, *http.Request, storage.App) error { return nil }
func (nobody) SignOut(http.ResponseWriter, *http.Request) error          { return nil }

// executor calls tools by HTTP.
type executor struct{ caller *restcall.Caller }

func (e executor) Call(ctx context.Context, c storage.Capability, t toolplan.Tool,
	arguments json.RawMessage) (mcpbus.Result, error) {
	plan, err := restcall.Compile(t)
	if err != nil {
		return mcpbus.Result{}, err
	}
	upstream := restcall.Upstream{BaseURL: c.UpstreamURL, AuthType: c.AuthType, Secret: c.AuthSecret}
	r, err := e.caller.Call(ctx, upstream, plan, arguments)
	result := mcpbus.Result{
		IsError: r.IsError, Structured: r.Structured, Dispatched: r.Dispatched, Status: r.Status, Bytes: r.Bytes,
		Cause: r.Cause,
	}
	for _, h := range r.Headers {
		if result.Headers == nil {
			result.Headers = map[string]string{}
		}
		result.Headers[h.Name] = h.Value
	}
	for _, block := range r.Content {
		var text bytes.Buffer
		to := json.NewEncoder(&text)
		to.SetEscapeHTML(false)
		if err := to.Encode(block); err != nil {
			return mcpbus.Result{}, err
		}
		result.Content = append(result.Content, text.Bytes())
	}
	return result, err
}

// bill holds what was charged and noted since it was asked last.
type bill struct {
	quota bool // it knows what is left

	mu             sync.Mutex
	charged, noted []string
}

func (b *bill) ChargeOnce(_ context.Context, c storage.Caller, product, _ string, _ []byte, _ time.Duration,
	failed bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.charged = append(b.charged, fmt.Sprint(c.AppID, " ", product, " failed ", failed))
	return nil
}

// Quota is of a thousand calls.
func (b *bill) Quota(context.Context, storage.Caller) (limit, remaining int64, reset time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return 1000, 1000 - int64(len(b.charged)), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), b.quota
}

func (b *bill) Note(e event.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.noted = append(b.noted, fmt.Sprint(e.Kind, " ", e.Product, " ", e.Detail, " ", e.Status))
}

// ask returns what it holds, and forgets it.
func (b *bill) ask() (charged, noted []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	charged, noted, b.charged, b.noted = b.charged, b.noted, nil, nil
	return charged, noted
}

func capability(member, upstream string) storage.Capability {
	return storage.Capability{Member: member, Kind: storage.CapabilityREST, UpstreamURL: upstream, Publish: true,
		Owner: "u1"}
}
