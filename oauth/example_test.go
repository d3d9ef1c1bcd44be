package oauth_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// The provider inside a host's own mux.
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
	signIn, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens})
	if err != nil {
		log.Fatal(err)
	}
	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: signIn, Consent: signIn, Devices: signIn,
		Levels: signIn})
	if err != nil {
		log.Fatal(err)
	}
	defer provider.Close(ctx)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the host's own page") })
	provider.Mount(mux)
	signIn.Mount(mux)

	w := httptest.NewRecorder() // in a program: http.ListenAndServe(addr, mux)
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/.well-known/openid-configuration", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 application/json
}
