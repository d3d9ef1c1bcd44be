package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "the address to listen on")
	flag.Parse()
	if err := run(context.Background(), *listen); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, listen string) error {
	backend := memory.New() // ends with the process; bolt.Open(path, bolt.Options{}) does not
	store, err := storage.Open(ctx, backend, storage.NewMasterKey())
	if err != nil {
		return err
	}
	staff := newStaff()
	if _, err := staff.hire(ctx, "ada@example.com", "Ada Lovelace", "analytical engine"); err != nil {
		return err
	}
	badges, origin := newBadges(staff), "http://"+listen
	host, tokens, err := newHost(ctx, origin, store, staff, badges)
	if err != nil {
		return err
	}
	app, err := register(ctx, store)
	if err != nil {
		return err
	}
	defer tokens.Close(ctx)
	fmt.Printf(`1. Sign in as ada@example.com, analytical engine; then link the company badge %[2]s:
   %[1]s/oauth/account
2. Sign out there, and in again with the badge.
3. Let an application know that it is you. The browser ends where nothing listens, with a code:
   %[1]s/oauth/authorize?%[3]s
`, origin, badges.issue(), authorizeQuery(app).Encode())
	return (&http.Server{Addr: listen, Handler: host, ReadHeaderTimeout: 5 * time.Second}).ListenAndServe()
}

const callback = "http://localhost:9999/callback" // of the application

// register makes an application that wants to sign our staff in. It has a secret, and it is
// not FirstParty: users are asked what it may learn.
func register(ctx context.Context, store *storage.Store) (storage.App, error) {
	return store.SaveApp(ctx, storage.App{Name: "Canteen", Domains: []string{"localhost"}})
}

func authorizeQuery(app storage.App) url.Values {
	return url.Values{
		"response_type": {"code"}, "client_id": {app.ID}, "redirect_uri": {callback},
		"scope": {"openid profile email"}, "state": {"xyz"},
	}
}
