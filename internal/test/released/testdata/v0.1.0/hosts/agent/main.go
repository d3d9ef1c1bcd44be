package main

import (
	"context"
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

// run serves, registers, lists, calls, and stops.
func run(ctx context.Context, out io.Writer) (err error) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer at.Close()
	backend := memory.New() // ends with the process; bolt.Open(path, bolt.Options{}) does not
	defer backend.Close()
	origin := "http://" + at.Addr().String()
	h, err := newHost(ctx, origin, backend)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(at)
	defer func() {
		last, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err = errors.Join(err, h.Bus.Close(last), server.Shutdown(last), h.Close(last)) // streams of the bus first
	}()
	if err := h.register(ctx, origin); err != nil {
		return err
	}
	app, err := h.Store.SaveApp(ctx, storage.App{Name: "Agent", Domains: []string{"localhost"}})
	if err != nil {
		return err
	}
	return talk(ctx, out, origin, app)
}

// talk plays an agent.
func talk(ctx context.Context, out io.Writer, origin string, app storage.App) error {
	a, err := newAgent(ctx, origin, app)
	if err != nil {
		return err
	}
	for _, step := range []struct {
		method string
		params any
	}{
		{"tools/list", map[string]any{}},
		{"tools/call", map[string]any{"name": "sky__getWeather", "arguments": map[string]any{"city": "São Paulo",
			"unit": "F"}}},
		// refused here, not there
		{"tools/call", map[string]any{"name": "sky__getWeather", "arguments": map[string]any{"unit": "K"}}},
	} {
		result, err := a.request(ctx, step.method, step.params)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n%s\n\n", step.method, result)
	}
	return nil
}
