package gateway_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// one accepts the token "secret" of one application. In a program *oauth.Tokens stands here.
type one struct{ app storage.App }

func (o one) Verify(_ context.Context, bearer string, _ ...string) (storage.Caller, error) {
	if bearer != "secret" {
		return storage.Caller{}, gateway.ErrInvalidToken
	}
	return storage.Caller{AppID: o.app.ID, Scope: "app"}, nil
}
func (one) Resources() []string                                { return nil }
func (one) Revoke(context.Context, ...driver.Revocation) error { return nil }

// The gateway before a service of the host's own.
func Example() {
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey()) // bolt.Open keeps it on disk
	if err != nil {
		log.Fatal(err)
	}
	app, err := store.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example.com"}})
	if err != nil {
		log.Fatal(err)
	}
	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer trail.Close(ctx)
	g, err := gateway.New(ctx, gateway.Config{Store: store, Tokens: one{app}, Trail: trail}) // with a Journal in a program
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close(ctx)
	greet := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := gateway.CallerFrom(r.Context())
		fmt.Fprint(w, "hello, ", map[bool]string{true: "user", false: "application"}[caller.UserID != ""])
	})
	mux := http.NewServeMux()
	g.Mount(mux)
	mux.Handle("/ai/", g.Guard(gateway.ProductAI, greet))
	handler := g.Front(mux) // in a program: http.ListenAndServe(addr, handler)

	for _, path := range []string{"/ai/chat", "/api/v1/quota"} {
		r := httptest.NewRequest("GET", "https://id.example.com"+path, nil)
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		switch path {
		case "/ai/chat":
			fmt.Println(w.Code, w.Body)
		default:
			fmt.Println(w.Code, strings.Contains(w.Body.String(), `"calls_remaining":999,"calls_limit":1000`))
		}
	}
	// Output:
	// 200 hello, application
	// 200 true
}
