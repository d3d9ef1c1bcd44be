package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "the address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, listen string, out io.Writer) error {
	at, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	defer at.Close()
	backend := memory.New() // ends with the process; bolt.Open(path, bolt.Options{}) does not
	defer backend.Close()
	store, err := storage.Open(ctx, backend, storage.NewMasterKey())
	if err != nil {
		return err
	}
	origin := "http://" + at.Addr().String()
	h, err := newHost(ctx, origin, store)
	if err != nil {
		return err
	}
	app, err := store.SaveApp(ctx, storage.App{Name: "Caller", Domains: []string{"localhost"}})
	if err != nil {
		return errors.Join(err, h.close(ctx))
	}
	fmt.Fprint(out, instructions(origin, app))
	return serve(ctx, at, h)
}

const drain = 5 * time.Second // the time for pending calls at the end

// serve runs everything that has to end before the store closes: requests first, then the
// gateway, which hands over what it has counted.
func serve(ctx context.Context, at net.Listener, h *host) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(at) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	last, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	return errors.Join(err, server.Shutdown(last), h.close(last))
}

func instructions(origin string, app storage.App) string {
	return fmt.Sprintf(`1. An application gets a token of its own:
   curl -s %[1]s/oauth/token -d grant_type=client_credentials -d client_id=%[2]s -d client_secret=%[3]s
2. It calls the service, and is known there:
   curl -si %[1]s/hello -H "Authorization: Bearer THE_TOKEN"
3. Its quota has fallen by one:
   curl -s %[1]s/api/v1/quota -H "Authorization: Bearer THE_TOKEN"
`, origin, app.ID, app.AppKey().Reveal())
}
