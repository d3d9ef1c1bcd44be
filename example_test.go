package keystile_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/remote"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/memory"
)

// hello is a service of the host's own, behind the gateway: who calls is in the context.
var hello = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	caller, _ := gateway.CallerFrom(r.Context())
	fmt.Fprintf(w, "hello, %s", caller.AppID)
})

// The whole service as one handler. The lines between the empty ones are the README's first
// block.
func Example() {
	os.Setenv("MASTER_KEY", storage.NewMasterKey().Text())
	os.Chdir(os.TempDir())
	defer os.Remove("keystile.db")
	defer os.Remove("first-run.json")

	key, err := storage.ParseMasterKey(os.Getenv("MASTER_KEY")) // openssl rand -base64 32
	if err != nil {
		log.Fatal(err)
	}
	backend, err := bolt.Open("keystile.db", bolt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	service, err := keystile.New(context.Background(), keystile.Config{BaseURL: "http://127.0.0.1:8080",
		Backend: backend, MasterKey: key, FirstRun: "first-run.json"}) // an administrator and an application, made once
	if err != nil {
		log.Fatal(err)
	}
	service.Handle("/hello", service.Gateway.Guard(gateway.ProductAI, hello)) // a service of yours, charged as "ai"

	w := httptest.NewRecorder() // in a program: http.ListenAndServe("127.0.0.1:8080", service)
	service.ServeHTTP(w, httptest.NewRequest("GET", "/.well-known/openid-configuration", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	w = httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest("GET", "/hello", nil))
	fmt.Println(w.Code, w.Header().Get("WWW-Authenticate") != "")
	_, err = os.Stat("first-run.json")
	fmt.Println(err, service.Close(context.Background()), backend.Close())
	// Output:
	// 200 application/json
	// 401 true
	// <nil> <nil> <nil>
}

// mcpHandler is an MCP endpoint of the host's own, made with any library: who calls is in the context.
var mcpHandler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	caller, _ := remote.CallerFrom(r.Context())
	fmt.Fprintf(w, "%s for %s", caller.AppID, caller.UserID)
})

// Sign-in at an MCP endpoint of the host's own. The lines between the empty ones are the README's second block.
func Example_mcp() {
	backend, key := memory.New(), storage.NewMasterKey()

	const origin = "http://127.0.0.1:8080"
	service, err := keystile.New(context.Background(), keystile.Config{
		BaseURL: origin, Backend: backend, MasterKey: key,
		Tokens: oauth.TokensConfig{Resources: []string{origin + "/mcp"}}, // tokens may be for your endpoint
	})
	if err != nil {
		log.Fatal(err)
	}
	guard, err := remote.New(context.Background(), remote.Config{BaseURL: origin, Tokens: service.Tokens})
	if err != nil {
		log.Fatal(err)
	}
	if err := guard.Mount(service, origin+"/mcp", mcpHandler, "tools:orders"); err != nil {
		log.Fatal(err)
	}

	w := httptest.NewRecorder() // in a program: http.ListenAndServe("127.0.0.1:8080", service)
	service.ServeHTTP(w, httptest.NewRequest("POST", "/mcp", nil))
	fmt.Println(w.Code, w.Header().Get("WWW-Authenticate"))
	w = httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest("GET", "/.well-known/oauth-protected-resource/mcp", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	fmt.Println(service.Close(context.Background()))
	// Output:
	// 401 Bearer resource_metadata="http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp", scope="tools:orders"
	// 200 application/json
	// <nil>
}

// The packages one by one, for hosts that want some of them, or others in their place. README leads here.
func Example_rooms() {
	ctx, backend, masterKey := context.Background(), memory.New(), storage.NewMasterKey()

	const origin = "http://127.0.0.1:8080"
	store := must(storage.Open(ctx, backend, masterKey))
	tokens := must(oauth.OpenTokens(ctx, oauth.TokensConfig{
		BaseURL: origin, Store: store, Resources: mcpbus.Resources(origin),
	}))
	trail := must(gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store}))
	people := must(signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens, Audit: trail}))
	meter := must(gateway.New(ctx, gateway.Config{
		Store: store, Tokens: tokens, Trail: trail, ExemptPaths: signin.ExemptPaths(),
	}))
	provider := must(oauth.New(ctx, oauth.Config{
		Tokens: tokens, SignIn: people, Consent: people, Devices: people, Levels: people, Meter: meter, Audit: trail,
	}))
	upstreams := must(mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{}))
	bus := must(mcpbus.New(ctx, mcpbus.Config{
		BaseURL: origin, Store: store, Invoker: upstreams, Discoverer: upstreams, Meter: meter, Verifier: tokens,
		Audit: trail,
	}))
	registrar := must(registry.New(ctx, registry.Config{
		BaseURL: origin, Store: store, Visitors: people, Discoverer: upstreams, Bus: bus, Audit: trail,
	}))

	mux := http.NewServeMux()
	people.Mount(mux)    // /oauth/signin, /oauth/account
	provider.Mount(mux)  // /oauth/*, /.well-known/*
	meter.Mount(mux)     // /api/v1/*
	bus.Mount(mux)       // /api/mcp
	registrar.Mount(mux) // /api/console/capabilities
	mux.Handle("/hello", meter.Guard(gateway.ProductAI, hello))
	handler := meter.Front(mux) // each request is counted once

	w := httptest.NewRecorder() // in a program: http.ListenAndServe("127.0.0.1:8080", handler)
	handler.ServeHTTP(w, httptest.NewRequest("POST", mcpbus.Path, nil))
	fmt.Println(w.Code, w.Header().Get("WWW-Authenticate") != "")
	for _, room := range []interface{ Close(context.Context) error }{registrar, bus, upstreams, provider, meter, people,
		trail, tokens} {
		if err := room.Close(ctx); err != nil { // the last one made is closed first
			log.Fatal(err)
		}
	}
	// Output: 401 true
}

func must[T any](made T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return made
}

// Spans of the requests and of the store's steps go to a provider of the host's own.
func Example_tracer() {
	ctx, spans := context.Background(), tracetest.NewInMemoryExporter() // in a program: otlptracehttp.New(ctx)
	service, err := keystile.New(ctx, keystile.Config{
		BaseURL: "http://127.0.0.1:8080", Backend: memory.New(), MasterKey: storage.NewMasterKey(),
		Tracer: sdk.NewTracerProvider(sdk.WithSyncer(spans)),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close(ctx)
	service.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/oauth/authorize?client_id=unknown", nil))
	for _, s := range spans.GetSpans() {
		fmt.Println(s.SpanKind, s.Name)
	}
	// Output:
	// client Get app
	// server GET /oauth/authorize
}
