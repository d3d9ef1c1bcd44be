package mcpbus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
)

// greeter is a tool of the host's own, in Go: it calls nobody.
type greeter struct{}

func (greeter) Call(_ context.Context, _ storage.Capability, _ toolplan.Tool,
	arguments json.RawMessage) (mcpbus.Result, error) {
	var to struct{ Name string }
	if err := json.Unmarshal(arguments, &to); err != nil {
		return mcpbus.Result{}, err
	}
	text, err := json.Marshal(map[string]string{"type": "text", "text": "hello, " + to.Name})
	return mcpbus.Result{Content: []json.RawMessage{text}, Dispatched: true}, err
}

// anyone lets everybody call, and counts nothing. In a program *oauth.Tokens and *gateway.Gateway
// stand here.
type anyone struct{}

func (anyone) Verify(context.Context, string, ...string) (storage.Caller, error) {
	return storage.Caller{AppID: "ks1", Scope: "app"}, nil
}

func (anyone) ChargeOnce(context.Context, storage.Caller, string, string, []byte, time.Duration, bool) error {
	return nil
}
func (anyone) Quota(context.Context, storage.Caller) (limit, remaining int64, reset time.Time, ok bool) {
	return 0, 0, time.Time{}, false
}

// A tool of the host's own on the bus.
func Example() {
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey())
	if err != nil {
		log.Fatal(err)
	}
	schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)
	_, err = store.SaveCapability(ctx, storage.Capability{Member: "host", Publish: true}, []toolplan.Tool{
		{Name: "greet", Description: "Greets somebody", InputSchema: schema},
	})
	if err != nil {
		log.Fatal(err)
	}
	bus, err := mcpbus.New(ctx, mcpbus.Config{
		DefaultAccess: storage.AccessEveryone, // no access list, and nobody is a stranger here
		BaseURL:       "https://id.example.com", Store: store, Invoker: greeter{}, Meter: anyone{}, Verifier: anyone{},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer bus.Close(ctx)
	mux := http.NewServeMux()
	bus.Mount(mux)

	r := httptest.NewRequest("POST", mcpbus.Path, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"host__greet","arguments":{"name":"Ada"}}}`))
	r.Header.Set("Authorization", "Bearer ...")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output: {"jsonrpc":"2.0","id":1,"result":{"content":[{"text":"hello, Ada","type":"text"}]}}
}
