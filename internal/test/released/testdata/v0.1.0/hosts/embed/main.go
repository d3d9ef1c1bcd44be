package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "the address to listen on")
	ownPage := flag.Bool("own-page", true, "sign in on the service's own page; else on Keystile's")
	flag.Parse()
	if err := run(context.Background(), *listen, *ownPage); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, listen string, ownPage bool) error {
	backend := memory.New() // ends with the process; bolt.Open(path, bolt.Options{}) does not
	store, err := storage.Open(ctx, backend, storage.NewMasterKey())
	if err != nil {
		return err
	}
	origin := "http://" + listen
	s, err := newService(ctx, origin, store, ownPage)
	if err != nil {
		return err
	}
	app, err := register(ctx, store)
	if err != nil {
		return err
	}
	defer s.tokens.Close(ctx)
	fmt.Print(instructions(origin, app))
	return http.ListenAndServe(listen, s)
}

// register makes an application that wants to sign our users in. It is a public one: it
// has no secret, and PKCE instead. It is also our own: without FirstParty, users are asked
// what it may learn.
func register(ctx context.Context, store *storage.Store) (storage.App, error) {
	return store.SaveApp(ctx, storage.App{Name: "Payroll", Domains: []string{"localhost"}, Public: true, FirstParty: true})
}

const (
	callback = "http://localhost:9999/callback" // nothing listens there: read the code off the address bar
	verifier = "a-verifier-is-43-to-128-characters-and-drawn-for-each-sign-in"
)

func authorizeQuery(app storage.App) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {callback}, "scope": {"openid profile"},
		"code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"}, "state": {"xyz"},
	}
}

func instructions(origin string, app storage.App) string {
	return fmt.Sprintf(`1. Open this and sign in as ada, analytical engine:
   %[1]s/oauth/authorize?%[2]s
2. The browser ends at an address where nothing listens. Take the code out of it:
   curl -s %[1]s/oauth/token -d grant_type=authorization_code -d client_id=%[3]s \
     -d redirect_uri=%[4]s -d code_verifier=%[5]s -d code=THE_CODE
3. Ask the service's own API with the access_token:
   curl -s %[1]s/salary -H "Authorization: Bearer THE_TOKEN"
`, origin, authorizeQuery(app).Encode(), app.ID, callback, verifier)
}

// challenge returns S256 of RFC 7636.
func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
