package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run serves, registers, calls, and stops.
func run(ctx context.Context, out io.Writer) (err error) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
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
	h, err := newHost(ctx, at.Addr().String(), store)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(at)
	defer func() {
		last, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err = errors.Join(err, server.Shutdown(last), h.close(last))
	}()
	return talk(ctx, out, h, "http://"+at.Addr().String(), store)
}

// talk plays an operator and then an agent, each with an application of their own.
func talk(ctx context.Context, out io.Writer, h *host, origin string, store *storage.Store) error {
	tokens := map[string]string{}
	for name, tier := range map[string]string{"Shop": storage.TierWhiteLabel, "Agent": storage.TierFree} {
		app, err := store.SaveApp(ctx, storage.App{Name: name, Domains: []string{"localhost"}, Tier: tier})
		if err == nil {
			tokens[name], err = tokenOf(ctx, origin, app)
		}
		if err != nil {
			return err
		}
	}
	count, err := register(ctx, h, origin, tokens["Shop"])
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d tools are on the bus\n", count)

	result, err := request(ctx, origin, tokens["Agent"], "tools/list", map[string]any{})
	if err != nil {
		return err
	}
	var list struct {
		Tools []struct{ Name, Description string }
	}
	if err := json.Unmarshal(result, &list); err != nil {
		return err
	}
	for _, tool := range list.Tools {
		fmt.Fprintf(out, "  %s: %s\n", tool.Name, tool.Description)
	}
	for _, name := range []string{"get_quota", "get_usage"} {
		result, err := request(ctx, origin, tokens["Agent"], "tools/call",
			map[string]any{"name": member + "__" + name, "arguments": map[string]any{}})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n  %s\n", name, result)
	}
	return nil
}
