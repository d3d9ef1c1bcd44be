package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// The gateway before a provider and a service of the host's own, each made by itself.
func Example() {
	const origin = "https://id.example.com"
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey()) // bolt.Open keeps it on disk
	if err != nil {
		log.Fatal(err)
	}
	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer tokens.Close(ctx)
	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer trail.Close(ctx)
	signIn, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens, Audit: trail})
	if err != nil {
		log.Fatal(err)
	}
	g, err := gateway.New(ctx, gateway.Config{Store: store, Tokens: tokens, Trail: trail}) // with a Journal in a program
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close(ctx)
	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: signIn, Consent: signIn, Devices: signIn,
		Levels: signIn, Meter: g, Audit: trail})
	if err != nil {
		log.Fatal(err)
	}
	defer provider.Close(ctx)
	greet := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := gateway.CallerFrom(r.Context())
		fmt.Fprintf(w, "hello, %s", map[bool]string{true: "user", false: "application"}[caller.UserID != ""])
	})
	mux := http.NewServeMux()
	provider.Mount(mux)
	signIn.Mount(mux)
	g.Mount(mux)
	mux.Handle("/ai/", g.Guard(gateway.ProductAI, greet))
	server := httptest.NewServer(g.Front(mux)) // in a program: http.ListenAndServe(addr, g.Front(mux))
	defer server.Close()

	app, err := store.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example.com"}})
	if err != nil {
		log.Fatal(err)
	}
	token := func() (token struct {
		Text string `json:"access_token"`
	}) {
		resp, err := http.PostForm(server.URL+"/oauth/token", url.Values{
			"grant_type": {"client_credentials"}, "client_id": {app.ID}, "client_secret": {app.AppKey().Reveal()},
		})
		if err != nil {
			log.Fatal(err)
		}
		defer resp.Body.Close()
		json.NewDecoder(resp.Body).Decode(&token)
		return token
	}()
	for _, path := range []string{"/ai/chat", "/api/v1/quota"} {
		r, _ := http.NewRequest("GET", server.URL+path, nil)
		r.Header.Set("Authorization", "Bearer "+token.Text)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		var text strings.Builder
		resp.Write(&text)
		resp.Body.Close()
		switch _, body, _ := strings.Cut(text.String(), "\r\n\r\n"); path {
		case "/ai/chat":
			fmt.Println(resp.StatusCode, body)
		default:
			fmt.Println(resp.StatusCode, strings.Contains(body, `"calls_remaining":999,"calls_limit":1000`))
		}
	}
	// Output:
	// 200 hello, application
	// 200 true
}
