package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "the address of the service")
	application := flag.String("payroll", "localhost:8091", "the address of Payroll, the application")
	ownPage := flag.Bool("own-page", false, "sign in on a page of the service's own, with the provider alone")
	flag.Parse()
	if err := run(context.Background(), *listen, *application, *ownPage); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, listen, application string, ownPage bool) error {
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
	defer s.close(ctx)
	app, err := register(ctx, store)
	if err != nil {
		return err
	}
	ended := make(chan error, 2)
	go func() { ended <- http.ListenAndServe(listen, s) }()
	go func() { ended <- http.ListenAndServe(application, payroll{origin, "http://" + application, app}) }()
	fmt.Printf("Open http://%s and sign in as ada, analytical engine: Payroll asks what she earns.\n", application)
	if !ownPage {
		fmt.Printf("Ada is an administrator: %s/console/ has applications, tools, usage and the audit trail.\n", origin)
	}
	return <-ended
}

// register makes the first application, as the console does. It is a public one: it has no secret, and PKCE instead.
// It is also our own: without FirstParty, users are asked what it may learn.
func register(ctx context.Context, store *storage.Store) (storage.App, error) {
	return store.SaveApp(ctx, storage.App{Name: "Payroll", Domains: []string{"localhost"}, Public: true, FirstParty: true})
}
